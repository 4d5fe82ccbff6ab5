// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "log/log.h"
#include "queue/schedules/configured.h"
#include "queue/schedules/schedule_store.h"
#include "schedule/computing_process.h"
#include "steward/chores.h"

namespace allot::steward {
namespace {

using std::chrono::seconds;

queue::Put apply(db::Connection& db, schedule::ComputingProcess& calendar,
                 const config::Schedule& section, const std::string& who) {
  const db::Acting acting(db, db::Actor{who, "configuration"});
  const queue::ScheduleSpec spec = queue::spec_of(section);
  const auto queue = queue::find_queue(db, spec.queue);
  if (queue) queue::validate(spec, *queue);
  const auto now = std::chrono::floor<seconds>(queue::database_now(db)).time_since_epoch().count();
  std::optional<queue::Moment> next;
  if (const auto found = calendar.next(spec.expression, spec.zone, now)) {
    next = queue::Moment(seconds(*found));
  }
  return queue::put_schedule(db, spec, next, queue::text_of(section));
}

void tell(const config::Schedule& section, queue::Put put) {
  switch (put) {
    case queue::Put::kAdded:
      return log::info("schedule.added", {{"schedule", section.name}});
    case queue::Put::kChanged:
      return log::info("schedule.changed", {{"schedule", section.name}});
    case queue::Put::kOlder:
      return log::warn("schedule.outdated",
                       {{"schedule", section.name}, {"revision", section.revision}});
    case queue::Put::kSame:
      return;
  }
}

}  // namespace

void apply_schedules(process::Session& session, const config::Settings& settings,
                     const std::vector<std::string>& command) {
  if (settings.schedules.empty()) return;
  schedule::ComputingProcess calendar(command);
  const queue::Holder self = queue::make_holder(settings.daemon.instance, {});
  const std::string who = self.host + "/" + self.instance;
  for (const config::Schedule& section : settings.schedules) {
    try {
      tell(section,
           ask(session, [&](db::Connection& db) { return apply(db, calendar, section, who); }));
    } catch (const Error& error) {
      log::error("schedule.refused", {{"schedule", section.name}, {"error", error.what()}});
    }
  }
}

}  // namespace allot::steward
