// SPDX-License-Identifier: Apache-2.0
#include "cli/words/schedule_view.h"

#include <nlohmann/json.hpp>

#include "cli/words/text.h"

namespace allot::cli {
namespace {

using nlohmann::json;

std::string since_text(const json& state, const char* reason) {
  const std::string why = state.at(reason);
  return " since " + moment_text(state.at("since")) +
         (why.empty() ? "" : ": " + printable(why, kShownError));
}

}  // namespace

std::string moment_text(const json& moment) {
  return moment.is_null() ? "-" : moment.get<std::string>();
}

std::string state_text(const json& schedule) {
  if (!schedule.at("paused").is_null()) {
    return "paused" + since_text(schedule.at("paused"), "reason");
  }
  if (!schedule.at("error").is_null()) return "error" + since_text(schedule.at("error"), "text");
  return schedule.at("next_run").is_null() ? "never again" : "on";
}

}  // namespace allot::cli
