// SPDX-License-Identifier: Apache-2.0
#include "cli/words/schedule_view.h"

#include "cli/words/text.h"

namespace allot::cli {

std::string moment_text(const std::optional<queue::Moment>& moment) {
  return moment ? moment_text(*moment) : "-";
}

std::string state_text(const queue::Schedule& schedule) {
  const auto with = [](const std::string& text) {
    return text.empty() ? "" : ": " + printable(text, kShownError);
  };
  if (schedule.paused_at) {
    return "paused since " + moment_text(*schedule.paused_at) + with(schedule.pause_reason);
  }
  if (!schedule.error.empty()) {
    return "error since " + moment_text(schedule.error_since) + with(schedule.error);
  }
  return schedule.next_run ? "on" : "never again";
}

}  // namespace allot::cli
