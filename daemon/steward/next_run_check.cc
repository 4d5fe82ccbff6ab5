// SPDX-License-Identifier: Apache-2.0
#include "steward/next_run_check.h"

#include <cstddef>
#include <optional>

#include "base/error.h"
#include "log/log.h"

namespace allot::steward {
namespace {

using std::chrono::seconds;

constexpr std::size_t kPage = 100;
constexpr Nanos kRoundEvery = 30 * kSecond;
constexpr Nanos kConfirmAfter = 10 * kSecond;

std::optional<queue::Moment> first_tick(schedule::Calendar& calendar,
                                        const queue::FarSchedule& far) {
  const auto clock = std::chrono::floor<seconds>(far.clock).time_since_epoch().count();
  const auto tick = calendar.next(far.spec.expression, far.spec.zone, clock);
  return tick ? std::optional(queue::Moment(seconds(*tick))) : std::nullopt;
}

}  // namespace

void NextRunCheck::check(db::Connection& db, Nanos now) {
  if (now < next_ns_) return;
  const auto page = queue::far_schedules(db, after_, kPage);
  for (const queue::FarSchedule& far : page) check(db, far);
  if (page.size() < kPage) return end_round(now);
  after_ = page.back().schedule_id;
  next_ns_ = now;
}

void NextRunCheck::forget() {
  found_.clear();
  before_.clear();
  after_ = 0;
}

void NextRunCheck::end_round(Nanos now) {
  next_ns_ = now + (found_.empty() ? kRoundEvery : kConfirmAfter);
  before_ = std::move(found_);
  found_.clear();
  after_ = 0;
}

void NextRunCheck::check(db::Connection& db, const queue::FarSchedule& far) {
  std::optional<queue::Moment> first;
  try {
    first = first_tick(calendar_, far);
  } catch (const Error&) {
    return;  // the tick itself reports an unknown zone
  }
  if (!first || far.next_run <= *first + queue::next_run_tolerance()) return;
  const Seen seen{far.version, far.next_run};
  const auto before = before_.find(far.schedule_id);
  if (before == before_.end() || before->second != seen) {
    found_.emplace(far.schedule_id, seen);
    return;
  }
  if (!queue::reset_next_run(db, far, *first)) return;
  log::warn("schedule.reset", {{"schedule", far.spec.name},
                               {"from", queue::moment_text(far.next_run)},
                               {"to", queue::moment_text(*first)}});
}

}  // namespace allot::steward
