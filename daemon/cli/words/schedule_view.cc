// SPDX-License-Identifier: Apache-2.0
#include "cli/words/schedule_view.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cli/words/text.h"
#include "queue/model/task.h"

namespace allot::cli {

using nlohmann::json;

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
