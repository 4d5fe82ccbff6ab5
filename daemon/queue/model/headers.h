// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// Data of a task besides its payload, kept as long as the task is known (decision 0007). Any thread
// may call everything.
namespace allot::queue {

inline constexpr std::size_t kMaxHeaders = 1024;  // bytes of the column
inline constexpr std::uint32_t kMostAttempts = 100'000;
inline constexpr std::size_t kMaxLabel = 127;  // bytes of printable ASCII
// Time limit of an attempt, set by the task itself.
inline constexpr std::chrono::milliseconds kLeastTimeLimit = std::chrono::seconds(1);
inline constexpr std::chrono::milliseconds kMostTimeLimit = std::chrono::hours(720);
// Limit of attempts of one task that did not start and are not charged (decision 0014).
inline constexpr std::uint32_t kMostUnstarted = 100;

// The lines that are written while a task runs.
inline constexpr std::string_view kUnstartedName = "unstarted=";
inline constexpr std::string_view kVerdictsName = "verdicts=";

// The trace of a task, as W3C Trace Context writes it. Both fields are valid or empty.
struct Trace {
  std::string parent{};  // traceparent: "00-TRACEID-PARENTID-FLAGS"
  std::string state{};   // tracestate; empty without a traceparent

  // 32 hexadecimal digits; empty: no trace.
  [[nodiscard]] std::string_view id() const;
  bool operator==(const Trace&) const = default;
};

// The trace that a submitter passed. Never fails, because a broken trace must not cost a task:
// invalid parts, and a state that is too long for the column, are left out.
[[nodiscard]] Trace trace_of(std::string_view parent, std::string_view state);

// The trace of tasks that an attempt submits: the same trace with the attempt as parent. The
// attempt's span id is derived from the task's id and its number, so that any component can compute
// it.
[[nodiscard]] Trace child_of(const Trace& trace, std::string_view task, std::uint32_t attempt);
[[nodiscard]] std::string span_id(std::string_view task, std::uint32_t attempt);

struct Headers {
  std::uint32_t max_attempts = 0;  // of this task, overrides its type and queue; 0: as they say
  Trace trace{};
  // Attempts with a verdict, if losses are counted apart; written with each verdict, never at
  // submission.
  std::uint32_t verdicts = 0;
  // Attempts that did not start and were not charged. A task never has both counts.
  std::uint32_t unstarted = 0;
  std::chrono::milliseconds time_limit{
      0};  // of each attempt, overrides its type; 0: as the type says
  // Limit of attempts lost with their worker or its host, counted apart from the max_attempts with
  // a verdict; one more loss ends the task. 0: a loss counts as any other attempt.
  std::uint32_t max_losses = 0;
  std::string label{};  // replaces the type in log, metrics and minutes

  [[nodiscard]] bool any() const {
    return max_attempts != 0 || max_losses != 0 || time_limit.count() != 0 || !label.empty() ||
           !trace.parent.empty();
  }
  // Attempts with a verdict among `attempts` charged ones; nullopt: losses are not counted apart. A
  // dead task that is retried begins at 0: retry_dead.sql removes the former count from its
  // headers.
  [[nodiscard]] std::optional<std::uint32_t> verdicts_of(std::uint32_t attempts) const {
    if (max_losses == 0) return std::nullopt;
    return std::min(attempts, verdicts);
  }
  // As stored: one line "name=value" each, sorted by name.
  [[nodiscard]] std::string text() const;
  bool operator==(const Headers&) const = default;
};

[[nodiscard]] bool is_label(std::string_view text);

// Reads stored headers. Unknown lines come from a newer version, and invalid ones were written by
// hand: both are ignored, and stay in the row.
[[nodiscard]] Headers read_headers(std::string_view stored);

}  // namespace allot::queue
