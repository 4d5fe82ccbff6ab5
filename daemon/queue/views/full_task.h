// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "db/connection.h"
#include "queue/model/task_facts.h"
#include "queue/verbs/cancel_request.h"
#include "queue/views/history.h"
#include "queue/views/unique_key.h"

namespace allot::queue {

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

}  // namespace allot::queue
