// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/remote/session.h"
#include "queue/model/task.h"
#include "queue/operate/bulk_action.h"

// What `allot dead retry` and `allot dead discard` say, over the database (dead.cc) and over a
// gateway (dead_remote.cc).
namespace allot::cli {

// Chooses dead tasks by ids, by a group, or all of a queue. The command line makes sure that it is
// exactly one of the three.
struct DeadChoice {
  std::vector<std::string> ids;
  std::string group;
  std::string queue;  // of the group (empty: any), or of `all`
  std::string type;   // of the group or of `all`; empty: any
  bool all = false;
  std::uint32_t rate = 0;  // tasks per second at most; 0: no limit
  bool yes = false;        // act on more than named tasks without asking
  bool no_wait = false;
  bool json = false;
};

// What many tasks were chosen by, and how many they were.
struct CountedDead {
  std::string queue;
  queue::BulkFilter filter;
  queue::BulkCount count;

  [[nodiscard]] bool any() const { return count.tasks > 0 || count.more; }
  [[nodiscard]] std::string text() const;
};

// The ids in their order, each once. Throws as parse_task_id().
[[nodiscard]] std::vector<queue::TaskId> named_ids(const DeadChoice& choice);

// Throws Error: a task with that id is not dead. `state` is empty where there is none.
[[noreturn]] void refuse_alive(const queue::TaskId& id, const std::string& state);

// Throws Error: no group has a task. `more`: not all were looked at.
[[noreturn]] void refuse_group(const DeadChoice& choice, bool more);

void say_moved(const queue::TaskId& from, const queue::TaskId& to);
// `past` is "retried" or "discarded".
void report_named(const DeadChoice& choice, const std::string& past, std::size_t chosen,
                  std::uint64_t done);
void report_many(const DeadChoice& choice, const std::string& past, const CountedDead& counted,
                 const std::optional<queue::BulkAction>& action);

int remote_retry_dead(const remote::Session& gateway, const DeadChoice& choice);
int remote_discard_dead(const remote::Session& gateway, const DeadChoice& choice);

}  // namespace allot::cli
