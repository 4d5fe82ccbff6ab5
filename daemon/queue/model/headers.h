// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// What goes with a task beside its payload, for as long as somebody knows the task (decision 0007).
// Any thread may call everything.
namespace allot::queue {

inline constexpr std::size_t kMaxHeaders = 1024;  // bytes of the column
inline constexpr std::uint32_t kMostAttempts = 100'000;
inline constexpr std::size_t kMaxLabel = 127;  // bytes of printable ASCII
// How long an attempt may run, of a task that says so itself.
inline constexpr std::chrono::milliseconds kLeastTimeLimit = std::chrono::seconds(1);
inline constexpr std::chrono::milliseconds kMostTimeLimit = std::chrono::hours(720);
// So many attempts that did not start are not charged, of one task (decision 0014).
inline constexpr std::uint32_t kMostUnstarted = 100;

// The lines that are written while a task runs.
inline constexpr std::string_view kUnstartedName = "unstarted=";
inline constexpr std::string_view kVerdictsName = "verdicts=";

// The trace that a task belongs to, as W3C Trace Context writes it. Both are valid, or empty.
struct Trace {
  std::string parent{};  // traceparent: "00-TRACEID-PARENTID-FLAGS"
  std::string state{};   // tracestate; none without a traceparent

  // 32 hexadecimal digits; empty: there is no trace.
  [[nodiscard]] std::string_view id() const;
  bool operator==(const Trace&) const = default;
};

// What a submitter said of a trace. Never fails, because a broken trace must not cost a task: what
// is invalid is left out, and a state that is too long for the column, too.
[[nodiscard]] Trace trace_of(std::string_view parent, std::string_view state);

// The trace of what the attempt of a task submits: the same trace, whose parent is the attempt. The
// attempt's span id follows from the task's id and its number, so that anybody can tell it.
[[nodiscard]] Trace child_of(const Trace& trace, std::string_view task, std::uint32_t attempt);
[[nodiscard]] std::string span_id(std::string_view task, std::uint32_t attempt);

struct Headers {
  std::uint32_t max_attempts = 0;  // of this task, whatever its type or queue says; 0: as they say
  Trace trace{};
  // Of its attempts, those that had a verdict, where losses are counted apart; written with each,
  // and never at submission.
  std::uint32_t verdicts = 0;
  // Of its attempts, those that did not start and were not charged. No task has both.
  std::uint32_t unstarted = 0;
  std::chrono::milliseconds time_limit{
      0};  // of each attempt, whatever its type says; 0: as it says
  // So many of its attempts may be lost with their worker or its host, apart from the max_attempts
  // that have a verdict; one more is its end. 0: a loss counts as any other attempt.
  std::uint32_t max_losses = 0;
  std::string label{};  // what log, metrics and minutes call it in place of its type

  [[nodiscard]] bool any() const {
    return max_attempts != 0 || max_losses != 0 || time_limit.count() != 0 || !label.empty() ||
           !trace.parent.empty();
  }
  // Of `attempts` that were charged, those that had a verdict; nullopt: losses are not counted
  // apart. A dead task that is given a new life begins at 0: what its headers say of the former one
  // is left out of them (retry_dead.sql).
  [[nodiscard]] std::optional<std::uint32_t> verdicts_of(std::uint32_t attempts) const {
    if (max_losses == 0) return std::nullopt;
    return std::min(attempts, verdicts);
  }
  // As stored: a line "name=value" for each, in the order of their names.
  [[nodiscard]] std::string text() const;
  bool operator==(const Headers&) const = default;
};

[[nodiscard]] bool is_label(std::string_view text);

// Reads what is stored. Lines that it does not know are a newer version's, and what is invalid
// somebody wrote by hand: neither counts, and both stay in the row.
[[nodiscard]] Headers read_headers(std::string_view stored);

}  // namespace allot::queue
