// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "db/connection.h"
#include "queue/model/task.h"

// Recent failures by error group: attempts that are retried and last attempts. Times are UTC, ISO
// 8601.
namespace allot::queue {

struct FailedAttempt {
  TaskId task;
  std::string ended_at;
  std::string error;  // its message
};

// Attempts of one queue and type whose errors share cause and fault.
struct FailureGroup {
  std::string queue;
  std::string type;
  std::string group;   // see model/error_text.h; "other": no name in the minutes
  std::string sample;  // cause and fault, for people
  std::uint64_t retried = 0;
  std::uint64_t dead = 0;
  struct Hour {
    std::string at;  // its start
    std::uint64_t failed = 0;
  };
  std::vector<Hour> hours{};  // hours with failures, newest first
  // nullopt: no record is left, because its task has finished, or was retried or discarded.
  std::optional<FailedAttempt> newest{};
};

struct Failures {
  std::vector<FailureGroup> list;  // the largest first
  bool more = false;               // there are older hours, beyond the limit of rows
};
// `queue` empty: all queues. Source is the minutes (minute_view.h), so an attempt counts within
// about a minute after its end.
[[nodiscard]] Failures list_failures(db::Connection& db, const std::string& queue,
                                     std::chrono::minutes since);

}  // namespace allot::queue
