// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "db/connection.h"
#include "queue/model/task.h"

// What failed lately, by groups of errors: attempts that are retried as well as those that were the
// last. Times are UTC, ISO 8601.
namespace allot::queue {

struct FailedAttempt {
  TaskId task;
  std::string ended_at;
  std::string error;  // its message
};

// The attempts of one queue and type whose errors have cause and fault in common.
struct FailureGroup {
  std::string queue;
  std::string type;
  std::string group;  // see model/fault.h; "other": those that have no name in the minutes
  std::string look;   // cause and fault, for people
  std::uint64_t retried = 0;
  std::uint64_t dead = 0;
  struct Hour {
    std::string at;  // its begin
    std::uint64_t failed = 0;
  };
  std::vector<Hour> hours{};  // those with any, the newest first
  // nullopt: none is kept any more, because its task has finished, or was retried or discarded.
  std::optional<FailedAttempt> newest{};
};

struct Failures {
  std::vector<FailureGroup> list;  // the largest first
  bool more = false;               // there were older ones, which would be too many to look at
};
// `queue` empty: of all queues. They are those of the minutes (minute_view.h), so an attempt
// counts within a minute or so after its end.
[[nodiscard]] Failures list_failures(db::Connection& db, const std::string& queue,
                                     std::chrono::minutes since);

}  // namespace allot::queue
