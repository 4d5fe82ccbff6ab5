// SPDX-License-Identifier: Apache-2.0
//
// Types of the handler calls that write, over the C ABI: submissions, SQL and their errors.
// allot::Context (allot/plugin.hpp) has the calls. Included by plugin.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "allot/plugin.h"

// Hidden by attribute, not by a compiler flag: an inline variable of a header is a unique symbol
// for the dynamic linker, which would merge the registries of all plugins of a process, even with
// RTLD_LOCAL (S29).
#define ALLOT_HIDDEN_ [[gnu::visibility("hidden")]]
namespace ALLOT_HIDDEN_ allot {

// Error of a ctx call that writes. If it leaves run(), it is a retry, like any exception.
class CallError : public std::runtime_error {
 public:
  CallError(std::int32_t code, std::uint32_t number, const std::string& message)
      : std::runtime_error(message), code_(code), number_(number) {}
  [[nodiscard]] std::int32_t code() const { return code_; }       // ALLOT_BAD_INPUT ...
  [[nodiscard]] std::uint32_t number() const { return number_; }  // database error number; 0: none

 private:
  std::int32_t code_;
  std::uint32_t number_;
};
// Another worker has the task, or may have it: later writes of this run are discarded. Do not catch
// it.
class LeaseLost : public CallError {
 public:
  using CallError::CallError;
};

// A task to submit. Its options have the names and meanings of the options of `allot submit`.
struct Submission {
  using Moment = std::chrono::time_point<std::chrono::system_clock, std::chrono::microseconds>;

  std::string type;
  std::string payload{};
  std::string queue{};                      // empty: the queue of the running task
  std::uint32_t prio = ALLOT_DEFAULT_PRIO;  // priority class, 0 (first) to 3
  std::chrono::microseconds delay{0};
  std::optional<Moment> run_at{};
  std::optional<std::string> unique_key{};
  std::chrono::microseconds unique_for = std::chrono::minutes(5);
  std::optional<std::string> partition_key{};
  std::chrono::microseconds expires_in{0};  // 0: never
  std::optional<Moment> expires_at{};
  std::uint32_t max_attempts = 0;  // 0: set by its type or queue
  std::string traceparent{};       // empty: child of the running task, in its trace
  std::string tracestate{};
  std::chrono::milliseconds time_limit{0};  // of each attempt; 0: set by its type
};

// The result of an SQL statement; values are text.
struct SqlResult {
  using Row = std::vector<std::optional<std::string>>;  // nullopt: NULL
  std::uint64_t affected = 0;                           // rows matched, inserted or deleted
  std::uint64_t insert_id = 0;
  std::vector<Row> rows{};
};

// A value for a `?`: nullptr, a number, a truth value, a text or, as bytes{...}, opaque bytes.
struct bytes {
  std::string_view data;
};

namespace detail {

inline allot_value value(std::nullptr_t) {
  return {ALLOT_NULL, 0, 0, 0, {nullptr, 0}};
}
inline allot_value value(std::signed_integral auto number) {
  return {ALLOT_INT, static_cast<std::int64_t>(number), 0, 0, {nullptr, 0}};
}
inline allot_value value(std::unsigned_integral auto number) {
  return {ALLOT_UINT, 0, static_cast<std::uint64_t>(number), 0, {nullptr, 0}};
}
inline allot_value value(std::floating_point auto number) {
  return {ALLOT_DOUBLE, 0, 0, static_cast<double>(number), {nullptr, 0}};
}
inline allot_value value(std::string_view text) {
  return {ALLOT_TEXT, 0, 0, 0, {text.data(), text.size()}};
}
inline allot_value value(const char* text) {
  return value(std::string_view(text));
}
inline allot_value value(const bytes& from) {
  return {ALLOT_BYTES, 0, 0, 0, {from.data.data(), from.data.size()}};
}
template <typename T>
allot_value value(const std::optional<T>& maybe) {
  return maybe ? value(*maybe) : value(nullptr);
}

// The result of a call, with a buffer for its error text.
class Answer {
 public:
  Answer() : result_{sizeof(allot_result), 0, 0, 0, {words_.data(), words_.size(), 0}} {}
  Answer(const Answer&) = delete;
  Answer& operator=(const Answer&) = delete;
  ~Answer() = default;
  allot_result* out() { return &result_; }
  [[nodiscard]] const allot_result& result() const { return result_; }
  void check(std::int32_t code) const {
    if (code == ALLOT_OK) return;
    const std::string text(words_.data(), std::min(result_.error.size, words_.size()));
    if (code == ALLOT_LEASE_LOST) throw LeaseLost(code, 0, text);
    throw CallError(code, result_.error_number, text);
  }

 private:
  std::array<char, 1024> words_{};
  allot_result result_;
};

}  // namespace detail

// SQL in the transaction that acknowledges the task: in Allot's own database, with the privileges
// of its account. Its effect happens exactly once, with the acknowledgement, if run() ends with
// success; otherwise it is rolled back.
class Transaction {
 public:
  explicit Transaction(const allot_host& host) : host_(host) {}

  // Executes one statement; each `?` in it takes the next of `values`. Throws CallError. After
  // ALLOT_DATABASE_ERROR (for example a duplicate key) the transaction continues without the
  // statement.
  template <typename... Values>
  SqlResult execute(std::string_view statement, const Values&... values) const {
    const std::array<allot_value, sizeof...(Values)> raw{detail::value(values)...};
    SqlResult result;
    detail::Answer answer;
    answer.check(host_.execute(host_.context, {statement.data(), statement.size()}, raw.data(),
                               raw.size(), &take_row, &result.rows, answer.out()));
    result.affected = answer.result().affected;
    result.insert_id = answer.result().insert_id;
    return result;
  }

 private:
  static void take_row(void* rows, const allot_str* fields, std::size_t count) noexcept {
    auto& row = static_cast<std::vector<SqlResult::Row>*>(rows)->emplace_back(count);
    for (std::size_t i = 0; i < count; ++i) {
      if (fields[i].data != nullptr) row[i].emplace(fields[i].data, fields[i].size);
    }
  }
  const allot_host& host_;
};

namespace detail {

// Submissions in the form of the ABI; valid as long as the objects they point into.
struct Given {
  static allot_str text(const std::string& text) { return {text.data(), text.size()}; }
  static allot_str text(const std::optional<std::string>& maybe) {
    return maybe ? text(*maybe) : allot_str{nullptr, 0};
  }
  static std::int64_t moment(const std::optional<Submission::Moment>& maybe) {
    return maybe ? maybe->time_since_epoch().count() : 0;
  }
  static allot_submission raw_of(const Submission& task) {
    const auto unique_for = task.unique_for.count();
    return {sizeof(allot_submission),
            text(task.queue),
            text(task.type),
            text(task.payload),
            task.prio,
            task.delay.count(),
            moment(task.run_at),
            text(task.unique_key),
            unique_for > 0 ? unique_for : -1,
            text(task.partition_key),
            task.expires_in.count(),
            moment(task.expires_at),
            task.max_attempts,
            text(task.traceparent),
            text(task.tracestate),
            task.time_limit.count()};
  }
  explicit Given(const std::vector<Submission>& tasks) {
    raw.reserve(tasks.size());
    for (const Submission& task : tasks) raw.push_back(raw_of(task));
    for (const allot_submission& one : raw) list.push_back(&one);
  }
  std::vector<allot_submission> raw;
  std::vector<const allot_submission*> list;
};

}  // namespace detail

}  // namespace allot
