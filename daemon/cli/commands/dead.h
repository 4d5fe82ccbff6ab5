// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/remote/session.h"
#include "queue/model/task.h"
#include "queue/operate/bulk_action.h"

// Messages of `allot dead retry` and `allot dead discard`, through the database (dead.cc) and
// through a gateway (dead_remote.cc).
namespace allot::cli {

// Choice of dead tasks: by ids, by a group, or all of a queue. The command line ensures that
// exactly one of the three is given.
struct DeadChoice {
  std::vector<std::string> ids;
  std::string group;
  std::string queue;  // of the group (empty: any), or of `all`
  std::string type;   // of the group or of `all`; empty: any
  bool all = false;
  std::uint32_t rate = 0;  // maximum in tasks per second; 0: no limit
  bool yes = false;        // do not ask before acting on more than named tasks
  bool no_wait = false;
  bool json = false;
};

// Description and number of the chosen tasks.
struct CountedDead {
  std::string queue;
  queue::BulkFilter filter;
  queue::BulkCount count;

  [[nodiscard]] bool any() const { return count.tasks > 0 || count.more; }
  [[nodiscard]] std::string text() const;
};

// The ids in their order, without duplicates. Throws as parse_task_id() does.
[[nodiscard]] std::vector<queue::TaskId> named_ids(const DeadChoice& choice);

// Throws Error: the task with that id is not dead. `state` is empty for an unknown task.
[[noreturn]] void refuse_alive(const queue::TaskId& id, const std::string& state);

// Throws Error: no task in the group. `more`: only a part of the tasks was checked.
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
