// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/connection.h"
#include "queue/model/task_facts.h"
#include "queue/verbs/cancel_request.h"
#include "queue/views/task_lists.h"

namespace allot::queue {

// A unique key that is taken (A4), as shown to people.
struct UniqueKey {
  std::string key;      // bytes as submitted
  std::string free_at;  // UTC, ISO 8601: when the key is free again; empty while its task exists
};

// All data about one task. Has either `task` or `done`.
struct FullTask {
  std::optional<TaskView> task{};  // with its payload uncompressed
  std::optional<Done> done{};
  std::string queue{};
  std::optional<CancelRequest> cancel{};
  std::optional<UniqueKey> unique{};
  std::vector<AttemptView> attempts{};
  std::string damage{};  // why the payload is shown as stored
};
// nullopt: the task was never submitted, or finished in a queue without a history.
std::optional<FullTask> full_task(db::Connection& db, const TaskId& id);

// The key of the task, or its former key while that is still reserved. nullopt: none.
std::optional<UniqueKey> show_unique(db::Connection& db, const TaskId& id);

// State of the task of a unique key, from one read.
struct KeyOwner {
  TaskId id;
  Owner state = Owner::kWaiting;  // kRunning: detached
  bool due = false;               // of a waiting task
  bool leased = false;            // likewise: its partition is leased
  std::string free_at;            // as in UniqueKey
};

// The task that has the key, or had it while the key is still reserved. nullopt: the key is free.
std::optional<KeyOwner> find_unique(db::Connection& db, std::uint32_t queue_id,
                                    std::string_view unique_key);

}  // namespace allot::queue
