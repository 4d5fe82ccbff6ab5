// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "db/connection.h"
#include "queue/model/catalog.h"
#include "queue/model/task.h"

// Facts about one task in the database: its state, its attempts, the cause of its wait.
namespace allot::queue {

// A count that stops at a bound, so that it costs the same with 10^7 waiting tasks.
struct BoundedCount {
  std::uint64_t value = 0;
  bool at_least = false;  // true: value is the bound and there are more
};
// The result of a statement that counts one more than `bound`.
[[nodiscard]] inline BoundedCount up_to(std::uint64_t bound, std::uint64_t found) {
  return {std::min(found, bound), found > bound};
}

// State of the task that has a unique key.
enum class Owner {
  kNone,     // of a submission: no other task has it, and a new one was made
  kWaiting,  // also for the first second of a run
  kRunning,
  kLive,      // waiting or running; which one was not read
  kFinished,  // its key is still reserved
  kDead,      // likewise
};
// "waiting", "running", "live", "done", "dead"; null for kNone.
[[nodiscard]] const char* name_of(Owner owner);

inline constexpr std::uint64_t kCountBound = 100'000;

// A task as shown to people. Times are UTC, ISO 8601.
struct TaskView {
  TaskId id;
  std::string type;
  std::uint32_t attempts = 0;
  std::uint64_t payload_size = 0;
  std::string at;  // due time of a waiting task, time of death of a dead one
  bool dead = false;
  bool running = false;  // detached; `attempts` includes the running one
  std::string since;     // detached tasks, only from show(): when it left its partition
  std::string until;     // likewise: end of its lease without a renewal
  bool overdue = false;  // likewise: the lease has ended
  std::optional<std::string> silent_since{};  // likewise: it should have been renewed since then
  std::string cause;                          // dead tasks: the cause
  std::string error;
  std::string detail;        // only from show(): the full error; empty: same as `error`
  std::string fault;         // see model/error_text.h
  std::string payload;       // only from show(), as stored: see model/compression.h
  std::uint32_t flags = 0;   // likewise
  std::uint64_t origin = 0;  // Holder::origin of a detached task, only from show(), like its pid
  std::uint32_t pid = 0;
  // "host/pid" of the worker that runs it or, only from show(), that leases its partition; empty =
  // none
  std::string holder;
  std::uint64_t run_key = 0;  // place of a waiting task; not part of its id
  bool no_handler = false;    // only from show(): put back because no handler there knew its type
  std::string expires_at;     // likewise, if waiting: dead unless started by then
  std::optional<std::uint32_t> key_hash;  // likewise, unless detached: see task.key_hash
  Headers headers{};                      // only from show()
  Progress progress{};                    // likewise, if detached
};

struct AttemptView {
  std::uint32_t attempt = 0;
  std::string ended_at;
  std::string cause;
  std::string error;
  std::string worker;               // "host/pid"
  std::uint32_t retries_since = 0;  // retries from the dead since this attempt; 0: the current run
  Usage usage{};
  std::string detail{};  // the full error; empty: same as `error`
  std::string fault{};   // see model/error_text.h
  std::string log{};     // the last lines logged by its handler
};

// Reasons why a waiting task does not run yet, from one read of the database.
struct Standing {
  std::uint64_t epoch = 0;  // of its partition
  bool leased = false;
  std::string holder;        // "host/pid"
  std::uint64_t origin = 0;  // Holder::origin
  std::uint32_t pid = 0;
  std::string until;  // end of the lease without a renewal
  bool overdue = false;
  std::optional<std::string> silent_since{};  // the holder should have renewed it since then
  std::optional<std::string> defer_until;     // the partition waits until then
  std::optional<Pause> paused;                // its queue
  // Time until the rate of its queue lets a task start; nullopt: no rate.
  std::optional<std::chrono::microseconds> rate_wait{};
  bool resizing =
      false;  // of its queue: tasks of the former layout run first, see operate/resize.h
  bool due = false;
  BoundedCount ahead;  // tasks before it in its partition
};

inline constexpr std::uint64_t kAheadBound = 1000;

// nullopt: the partition does not exist.
std::optional<Standing> standing(db::Connection& db, const TaskView& task);

// nullopt: the task has finished or never existed.
std::optional<TaskView> show(db::Connection& db, const TaskId& id);
// Failed attempts, oldest first: since the last retry from the dead, or also those before.
std::vector<AttemptView> list_attempts(db::Connection& db, const TaskId& id, bool earlier = false);
// Headers of a task that runs at this place in its partition, or detached. Empty if it does
// neither.
Headers find_headers(db::Connection& db, const TaskId& id, std::uint64_t run_key);

// A row of a statement that begins with the columns of list_tasks.sql.
TaskView read_task_row(const db::Row& row, std::uint32_t queue_id);
// "host/pid" from two columns; "" if the host is NULL.
std::string worker_name(const db::Row& row, std::size_t host, std::size_t pid);

}  // namespace allot::queue
