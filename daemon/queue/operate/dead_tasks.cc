// SPDX-License-Identifier: Apache-2.0
#include "queue/operate/dead_tasks.h"

#include "queue/model/audit.h"
#include "queue/model/statements.h"
#include "queue/operate/dead_statements.h"
#include "queue/verbs/ending.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

// One audit entry for each of them that is dead.
std::vector<Action> actions_of(std::string_view verb, Partition partition,
                               const std::vector<TaskKey>& keys) {
  std::vector<Action> actions;
  for (const TaskKey& key : keys) {
    const TaskId id{partition, key.prio, key.run_key};
    db::Statement dead(sql::k_audit_dead);
    actions.push_back({verb, "task", id.text(), set_id(dead, id)});
  }
  return actions;
}

// The last statement of each transaction deletes the rows from task_dead.
template <typename Send>
std::uint64_t in_each_partition(std::span<const TaskId> ids, Send&& send) {
  std::uint64_t sum = 0;
  for (const auto& [partition, keys] : by_partition(ids)) sum += send(partition, keys);
  return sum;
}

std::uint64_t retry_to(db::Connection& db, const DeadTarget& target) {
  std::uint64_t count = 0;
  send_salted([&](std::uint32_t salt) {
    count = act(db, actions_of("retry", target.from, target.keys), retry_statements(target, salt))
                .back()
                .affected();
    return Fenced::kWritten;
  });
  return count;
}

std::uint64_t retry_in(db::Connection& db, Partition partition, const std::vector<TaskKey>& keys,
                       MovedIds* moved) {
  std::uint64_t sum = 0;
  for (const DeadTarget& target : targets_of(db, partition, keys)) {
    sum += retry_to(db, target);
    if (moved != nullptr) note_moved(target, *moved);
  }
  return sum;
}

}  // namespace

std::uint64_t retry_dead(db::Connection& db, std::span<const TaskId> ids, MovedIds* moved) {
  return in_each_partition(ids, [&](Partition partition, const std::vector<TaskKey>& keys) {
    for (int tries = 1;; ++tries) {
      try {
        return retry_in(db, partition, keys, moved);
      } catch (const db::DbError& error) {
        // The queue was just resized. Tasks that were already retried are not dead any more.
        if (error.number() != kOutOfRange || tries == kSaltTries) throw;
      }
    }
  });
}

std::uint64_t discard_dead(db::Connection& db, std::span<const TaskId> ids) {
  return in_each_partition(ids, [&](Partition partition, const std::vector<TaskKey>& keys) {
    const db::Statement discard = discard_statement(partition, keys);
    return act(db, actions_of("discard", partition, keys), {&discard, 1}).back().affected();
  });
}

}  // namespace allot::queue
