// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "db/connection.h"
#include "queue/catalog.h"
#include "queue/task.h"
#include "queue/task_store.h"

namespace allot::queue {

// A count that stops at a bound, so that looking costs the same with 10^7 tasks waiting.
struct BoundedCount {
  std::uint64_t value = 0;
  bool at_least = false;  // true: value is the bound, there are more
};

inline constexpr std::uint64_t kCountBound = 100'000;

BoundedCount count_waiting(db::Connection& db, const QueueInfo& queue);
// Of these, those in partitions from number `first` on.
BoundedCount count_from(db::Connection& db, const QueueInfo& queue, std::uint32_t first);
BoundedCount count_dead(db::Connection& db, const QueueInfo& queue);
// Detached tasks: those that run outside of their partition. They are not among the waiting.
BoundedCount count_running(db::Connection& db, const QueueInfo& queue);

// A task as people look at it. Times are UTC, ISO 8601.
struct TaskView {
  TaskId id;
  std::string type;
  std::uint32_t attempts = 0;
  std::uint64_t payload_size = 0;
  std::string at;  // due time of a waiting task, time of death of a dead one
  bool dead = false;
  bool running = false;  // detached; `attempts` counts the one that runs
  std::string since;     // of a detached one, only from show(): when it left its partition
  std::string until;     // likewise: when its lease ends, if it is not renewed
  bool overdue = false;  // likewise: that is over
  std::string cause;     // dead ones: why
  std::string error;
  std::string payload;      // only from show(), as it is written: see compression.h
  std::uint32_t flags = 0;  // likewise
  // "host/pid" of who runs it, or, only from show(), of who leases its partition; empty = nobody
  std::string holder;
  std::uint64_t run_key = 0;  // where a waiting one stands; not its id
  bool no_handler = false;    // only from show(): put back because nobody there knew its type
};

struct AttemptView {
  std::uint32_t attempt = 0;
  std::string ended_at;
  std::string cause;
  std::string error;
  std::string worker;      // "host/pid"
  std::uint32_t life = 0;  // how often it was retried from the dead since
  Usage usage{};
};

// What a waiting task waits for, as one look at the database showed it.
struct Standing {
  std::uint64_t epoch = 0;  // of its partition
  bool leased = false;
  std::string holder;  // "host/pid"
  std::string until;   // when the lease ends, if it is not renewed
  bool overdue = false;
  std::optional<std::string> hold_until;  // the partition waits
  std::optional<Pause> paused;            // its queue
  bool resizing = false;  // its queue: tasks of the former layout are before it, see resize.h
  bool due = false;
  BoundedCount ahead;  // tasks that run before it in its partition
};

inline constexpr std::uint64_t kAheadBound = 1000;

// nullopt: the partition does not exist.
std::optional<Standing> standing(db::Connection& db, const TaskView& task);

std::vector<TaskView> list_tasks(db::Connection& db, const QueueInfo& queue, std::uint32_t most);
std::vector<TaskView> list_running(db::Connection& db, const QueueInfo& queue, std::uint32_t most);
std::vector<TaskView> list_dead(db::Connection& db, const QueueInfo& queue, std::uint32_t most);

// nullopt: finished, or never submitted.
std::optional<TaskView> show(db::Connection& db, const TaskId& id);
// The failed attempts, the oldest first: those since it was last retried from the dead, or all.
std::vector<AttemptView> list_attempts(db::Connection& db, const TaskId& id);
std::vector<AttemptView> list_attempts_of_all_lives(db::Connection& db, const TaskId& id);

}  // namespace allot::queue
