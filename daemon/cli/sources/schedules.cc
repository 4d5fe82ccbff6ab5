// SPDX-License-Identifier: Apache-2.0
#include "cli/sources/schedules.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cli/sources/context.h"
#include "cli/words/text.h"
#include "queue/model/task.h"
#include "schedule/next.h"

namespace allot::cli {
namespace {

using nlohmann::json;

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

json put_schedule(const Operations& allot, const queue::ScheduleSpec& spec) {
  json body = as_json::schedule_spec(spec);
  as_json::add_payload(body, spec.payload);
  for (auto each = body.begin(); each != body.end();) {
    each = each->is_null() ? body.erase(each) : std::next(each);
  }
  return allot.put(schedule_path(spec.name), body);
}

std::string moment_text(const json& moment) {
  return moment.is_null() ? "-" : moment.get<std::string>();
}

std::string schedule_path(const std::string& name) {
  const bool is_name = queue::is_name(name) && name.size() <= queue::kMaxScheduleName;
  if (is_name) return "/schedules/" + name;
  throw Error("schedule '" + printable(name, queue::kMaxScheduleName) + "' does not exist",
              kExitBadInput);
}

std::string state_text(const json& schedule) {
  if (!schedule.at("paused").is_null()) {
    return "paused " + since_text(schedule.at("paused"));
  }
  if (!schedule.at("error").is_null()) return "error " + since_text(schedule.at("error"), "text");
  return schedule.at("next_run").is_null() ? "never again" : "on";
}

}  // namespace allot::cli
