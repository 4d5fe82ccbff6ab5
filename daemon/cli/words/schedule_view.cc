// SPDX-License-Identifier: Apache-2.0
#include "cli/words/schedule_view.h"

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/words/text.h"
#include "config/rows.h"

namespace allot::cli {

using nlohmann::json;

std::string moment_text(queue::Moment moment) {
  const auto day = std::chrono::floor<std::chrono::days>(moment);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(moment - day);
  std::array<char, 96> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d", int(date.year()),
                unsigned(date.month()), unsigned(date.day()),
                static_cast<int>(time.hours().count()), static_cast<int>(time.minutes().count()),
                static_cast<int>(time.seconds().count()));
  std::string out = text.data();
  if (time.subseconds().count() != 0) {
    std::snprintf(text.data(), text.size(), ".%06d", static_cast<int>(time.subseconds().count()));
    out += text.data();
  }
  return out + "Z";
}

std::string moment_text(const std::optional<queue::Moment>& moment) {
  return moment ? moment_text(*moment) : "-";
}

json moment_json(const std::optional<queue::Moment>& moment) {
  if (!moment) return nullptr;
  return moment_text(*moment);
}

std::string span_text(std::chrono::microseconds span) {
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(span);
  return ms == span ? config::text_of(ms) : std::to_string(span.count()) + "us";
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

json schedule_json(const queue::Schedule& schedule) {
  const queue::ScheduleSpec& spec = schedule.spec;
  const queue::SubmitOptions& options = spec.options;
  const auto text = [](const std::optional<std::string>& word) {
    return word ? json(*word) : json();
  };
  json out = {{"name", spec.name},
              {"version", schedule.version},
              {"expression", spec.expression},
              {"zone", spec.zone},
              {"queue", spec.queue},
              {"type", spec.type},
              {"prio", options.prio},
              {"delay", span_text(options.delay)},
              {"unique_key", text(options.unique_key)},
              {"unique_for", span_text(options.unique_for)},
              {"partition_key", text(options.partition_key)},
              {"late", queue::name_of(spec.late)},
              {"late_after", span_text(spec.late_after)},
              {"catch_up", spec.catch_up},
              {"overlap", queue::name_of(spec.overlap)},
              {"jitter", span_text(spec.jitter)},
              {"tick_field", text(spec.tick_field)},
              {"next_run", moment_json(schedule.next_run)},
              {"due_at", moment_json(schedule.due_at)},
              {"last_run", moment_json(schedule.last_run)},
              {"ticks", schedule.ticks},
              {"submitted", schedule.submitted},
              {"skipped", schedule.skipped},
              {"dropped", schedule.dropped},
              {"revision", schedule.revision},
              {"configured", schedule.applied.has_value()}};
  out["expires_in"] =
      options.expires_in.count() == 0 ? json() : json(span_text(options.expires_in));
  out["last_task"] = schedule.last_task.empty() ? json() : json(schedule.last_task);
  out["paused"] = json();
  if (schedule.paused_at) {
    out["paused"] = {{"since", moment_text(*schedule.paused_at)},
                     {"reason", schedule.pause_reason}};
  }
  out["error"] = json();
  if (!schedule.error.empty()) {
    out["error"] = {{"since", moment_json(schedule.error_since)}, {"text", schedule.error}};
  }
  return out;
}

json tick_json(const queue::ScheduleTick& tick) {
  return {{"tick", moment_text(tick.tick)},
          {"at", moment_text(tick.at)},
          {"task", tick.task.empty() ? json() : json(tick.task)},
          {"reason", tick.reason.empty() ? json() : json(tick.reason)}};
}

}  // namespace allot::cli
