// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "db/connection.h"
#include "queue/model/catalog.h"
#include "queue/model/progress.h"
#include "queue/model/task.h"

namespace allot::queue {

// A count that stops at a bound, so that looking costs the same with 10^7 tasks waiting.
struct BoundedCount {
  std::uint64_t value = 0;
  bool at_least = false;  // true: value is the bound, there are more
};

inline constexpr std::uint64_t kCountBound = 100'000;

BoundedCount count_waiting(db::Connection& db, const QueueInfo& queue,
                           std::uint64_t most = kCountBound);
// Counts only tasks in partitions from number `first` on.
BoundedCount count_from(db::Connection& db, const QueueInfo& queue, std::uint32_t first);
BoundedCount count_dead(db::Connection& db, const QueueInfo& queue,
                        std::uint64_t most = kCountBound);
// Detached tasks: those that run outside of their partition. They are not among the waiting.
BoundedCount count_running(db::Connection& db, const QueueInfo& queue,
                           std::uint64_t most = kCountBound);

// A task as shown to people. Times are UTC, ISO 8601.
struct TaskView {
  TaskId id;
  std::string type;
  std::uint32_t attempts = 0;
  std::uint64_t payload_size = 0;
  std::string at;  // due time of a waiting task, time of death of a dead one
  bool dead = false;
  bool running = false;  // detached; `attempts` counts the one that runs
  std::string since;     // detached tasks, only from show(): when it left its partition
  std::string until;     // likewise: when its lease ends, if it is not renewed
  bool overdue = false;  // likewise: the lease is over
  std::optional<std::string> silent_since{};  // likewise: it should have been renewed after that
  std::string cause;                          // dead ones: why
  std::string error;
  std::string detail;        // only from show(): all of the error; empty: `error` is
  std::string fault;         // see fault_of() of look/dead_letter.h
  std::string payload;       // only from show(), as stored: see model/compression.h
  std::uint32_t flags = 0;   // likewise
  std::uint64_t origin = 0;  // Holder::origin of a detached one, only from show(), and its pid
  std::uint32_t pid = 0;
  // "host/pid" of the worker that runs it, or, only from show(), that leases its partition; empty =
  // none
  std::string holder;
  std::uint64_t run_key = 0;  // place of a waiting task; not its id
  bool no_handler = false;    // only from show(): put back because no handler there knew its type
  std::string expires_at;     // likewise, of one that waits: dead unless it has begun by then
  std::optional<std::uint32_t> key_hash;  // likewise, but not of a detached one: see task.key_hash
  Headers headers{};                      // only from show()
  Progress progress{};                    // likewise, of a detached one
};

struct AttemptView {
  std::uint32_t attempt = 0;
  std::string ended_at;
  std::string cause;
  std::string error;
  std::string worker;      // "host/pid"
  std::uint32_t life = 0;  // how often it was retried from the dead since
  Usage usage{};
  std::string detail{};  // all of the error; empty: `error` is
  std::string fault{};   // see fault_of() of look/dead_letter.h
  std::string log{};     // the last lines that its handler logged
};

// What keeps a waiting task, as one look at the database showed it.
struct Standing {
  std::uint64_t epoch = 0;  // of its partition
  bool leased = false;
  std::string holder;        // "host/pid"
  std::uint64_t origin = 0;  // Holder::origin
  std::uint32_t pid = 0;
  std::string until;  // when the lease ends, if it is not renewed
  bool overdue = false;
  std::optional<std::string> silent_since{};  // its holder should have renewed it after that
  std::optional<std::string> hold_until;      // the partition waits until then
  std::optional<Pause> paused;                // its queue
  // Until the rate of its queue lets a task start; nullopt: it has none.
  std::optional<std::chrono::microseconds> rate_wait{};
  bool resizing =
      false;  // its queue is: tasks of the former layout run first, see operate/resize.h
  bool due = false;
  BoundedCount ahead;  // tasks that run before it in its partition
};

inline constexpr std::uint64_t kAheadBound = 1000;

// nullopt: the partition does not exist.
std::optional<Standing> standing(db::Connection& db, const TaskView& task);

// Of a queue at most so many, behind `after`, the last one of the page before.
std::vector<TaskView> list_tasks(db::Connection& db, const QueueInfo& queue, std::uint32_t most,
                                 const std::optional<TaskView>& after = std::nullopt);
std::vector<TaskView> list_running(db::Connection& db, const QueueInfo& queue, std::uint32_t most,
                                   const std::optional<TaskView>& after = std::nullopt);
// The newest first.
std::vector<TaskView> list_dead(db::Connection& db, const QueueInfo& queue, std::uint32_t most,
                                const std::optional<TaskView>& after = std::nullopt);

// nullopt: the task has finished, or was never submitted.
std::optional<TaskView> show(db::Connection& db, const TaskId& id);
// The failed attempts, the oldest first: those since the last retry from the dead, or all.
std::vector<AttemptView> list_attempts(db::Connection& db, const TaskId& id);
std::vector<AttemptView> list_attempts_of_all_lives(db::Connection& db, const TaskId& id);
// What goes with a task that is at work: at this place in its partition, or detached. Nothing, if
// it is neither.
Headers find_headers(db::Connection& db, const TaskId& id, std::uint64_t run_key);

}  // namespace allot::queue
