// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "cli/remote/operations.h"
#include "config/settings.h"
#include "db/connection.h"
#include "json/queue_json.h"
#include "queue/schedules/schedule.h"
#include "schedule/expression.h"
#include "schedule/system_zone.h"

// Shared by the commands for schedules.
namespace allot::cli {

// Computes the runs of a schedule in this process, because a command has one thread. The C library
// knows one zone at a time: if there are two calendars, only the one made last is correct.
class Calendar {
 public:
  // Throws Error(kExitBadInput) that names the field.
  Calendar(const std::string& expression, const std::string& zone);

  // The first run after `after`, in whole seconds; nullopt: none will ever come.
  [[nodiscard]] std::optional<queue::Moment> next(queue::Moment after) const;
  // Local time in the zone: "2026-11-24 03:15:00 +01:00".
  [[nodiscard]] std::string local(queue::Moment at) const;

 private:
  schedule::Expression expression_;
  schedule::SystemZone zone_;
};

// Refuses a spec whose queue exists neither in the database nor in the configuration, or whose
// tasks that queue would refuse. Writes nothing.
void check_queue(db::Connection& db, const config::Settings& settings,
                 const queue::ScheduleSpec& spec);

// Creates or changes the schedule, and creates a queue that exists only in the configuration. The
// spec has been checked.
nlohmann::json put_schedule(const Operations& allot, const queue::ScheduleSpec& spec);

using as_json::moment_text;
// A moment of a document; "-" for null.
[[nodiscard]] std::string moment_text(const nlohmann::json& moment);

// Path of a schedule: "/schedules/nightly". Throws Error(kExitBadInput) for an invalid name.
[[nodiscard]] std::string schedule_path(const std::string& name);

// "paused since ...: reason", "error since ...: why", "never again", or "on".
[[nodiscard]] std::string state_text(const nlohmann::json& schedule);

}  // namespace allot::cli
