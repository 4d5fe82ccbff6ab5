// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "db/connection.h"
#include "queue/model/catalog.h"
#include "queue/model/task.h"

// The dead tasks of a queue in bulk. inspect.h looks at single ones.
namespace allot::queue {

// A dead task without its payload, and with the beginning of its error only.
struct DeadLetter {
  TaskId id;
  std::string type;
  std::string cause;
  std::string error;
  std::string fault;             // see fault_of()
  std::string died_at;           // UTC, ISO 8601
  std::uint64_t died_at_us = 0;  // the same in microseconds since 1970
  bool ahead = false;            // of the database's clock, which was set back since
};

// An error text without the parts that differ from task to task: its first line, with '#' for each
// word that has a digit and '...' for text in quotes; at most 200 bytes.
[[nodiscard]] std::string error_pattern(std::string_view error);

// What failed and where, in words for people, without what differs from task to task or between two
// deployments: "ValueError in send (app/mail.py)". `fault` as it is stored; where that is empty,
// the pattern of the error.
[[nodiscard]] std::string fault_of(std::string_view error, std::string_view fault);

// One word for all dead tasks of a queue with the same type, cause and fault. It is the same on
// every host and in every version of the schema.
[[nodiscard]] std::string dead_group(std::string_view queue, const DeadLetter& letter);

// The group of an attempt that failed: dead_group() of its task, were it dead; and its cause and
// fault, for people.
struct ErrorGroup {
  std::string group;
  std::string look;
};
[[nodiscard]] ErrorGroup error_group(std::string_view queue, std::string_view type,
                                     std::string_view cause, std::string_view fault);

// A checksum that is the same on every host and in every version of the schema.
class Checksum {
 public:
  // The end of each text counts.
  Checksum& mix(std::string_view text);
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325;
};

// At most so many dead tasks of a queue, in the order of their keys, behind `after`.
std::vector<DeadLetter> page_dead(db::Connection& db, std::uint32_t queue_id, const TaskId& after,
                                  std::uint32_t most);

// Calls `look` with each dead task of a queue in the order of their keys, in pages, until it
// returns false. A task that dies meanwhile may be missed.
void each_dead(db::Connection& db, const QueueInfo& queue,
               const std::function<bool(const DeadLetter&)>& look);

// The dead tasks of one type, cause and fault.
struct DeadGroup {
  std::string group;  // see dead_group()
  DeadLetter newest;
  std::uint64_t tasks = 0;
};
struct DeadGroups {
  std::vector<DeadGroup> list;  // the largest first
  bool counted_all = true;      // false: the queue has more dead tasks than were looked at
};
// Looks at so many dead tasks.
DeadGroups dead_groups(db::Connection& db, const QueueInfo& queue, std::uint64_t most);

}  // namespace allot::queue
