// SPDX-License-Identifier: Apache-2.0
#include "cli/sources/schedules.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "base/error.h"
#include "cli/sources/queues.h"
#include "cli/words/schedule_view.h"
#include "cli/words/text.h"
#include "schedule/next.h"

namespace allot::cli {
namespace {

template <typename Make>
auto refused_input(const char* before, Make&& make) -> decltype(make()) {
  try {
    return make();
  } catch (const Error& error) {
    throw Error(before + printable(error.what(), 400), kExitBadInput);
  }
}

schedule::Instant instant(queue::Moment moment) {
  return std::chrono::floor<std::chrono::seconds>(moment).time_since_epoch().count();
}

}  // namespace

Calendar::Calendar(const std::string& expression, const std::string& zone)
    : expression_(
          refused_input("expression: ", [&] { return schedule::Expression::parse(expression); })),
      zone_(refused_input("", [&] {
        schedule::check_zone(zone);
        return zone;
      })) {}

std::optional<queue::Moment> Calendar::next(queue::Moment after) const {
  const auto found = schedule::next(expression_, zone_, instant(after));
  if (!found) return std::nullopt;
  return queue::Moment(std::chrono::seconds(*found));
}

std::string Calendar::local(queue::Moment at) const {
  const std::int64_t offset = zone_.offset(instant(at));
  std::string text = moment_text(at + std::chrono::seconds(offset));
  text[10] = ' ';
  text.pop_back();  // the Z
  std::array<char, 48> ahead{};
  const auto minutes = std::abs(offset) / 60;
  std::snprintf(ahead.data(), ahead.size(), " %c%02d:%02d", offset < 0 ? '-' : '+',
                static_cast<int>(minutes / 60), static_cast<int>(minutes % 60));
  return text + ahead.data();
}

void check_queue(db::Connection& db, const config::Settings& settings,
                 const queue::ScheduleSpec& spec) {
  auto info = queue::find_queue(db, spec.queue);
  if (!info) {
    const config::Queue* configured = config::find_queue(settings, spec.queue);
    if (configured == nullptr) {
      static_cast<void>(queue_named(db, settings, spec.queue));  // the error lists the queues
      return;
    }
    info = queue::QueueInfo{0, spec.queue, queue::shape_of(*configured)};
  }
  queue::validate(spec, *info);
}

queue::Put put_spec(db::Connection& db, const config::Settings& settings,
                    const queue::ScheduleSpec& spec) {
  const Calendar calendar(spec.expression, spec.zone);
  static_cast<void>(queue_named(db, settings, spec.queue));
  return queue::put_schedule(db, spec, calendar.next(queue::database_now(db)));
}

}  // namespace allot::cli
