// SPDX-License-Identifier: Apache-2.0
#include "queue/operate/dead_tasks.h"

#include "db/transaction.h"
#include "queue/model/audit.h"
#include "queue/model/catalog.h"
#include "queue/model/compression.h"
#include "queue/model/random.h"
#include "queue/model/statements.h"
#include "queue/submit/placement.h"
#include "queue/verbs/cancel_request.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

// Whether the key has this partition: in a limited queue its partitions start at the key's place.
bool has_place(const QueueInfo& queue, std::uint32_t key_hash, std::uint32_t partition_no) {
  for (std::uint32_t nth = 0; nth < queue.partitions(); ++nth) {
    if (place_of(queue, key_hash, nth) == partition_no) return true;
  }
  return false;
}

std::uint32_t target_of(const QueueInfo& queue, const db::Row& row, const TaskId& id) {
  const std::uint32_t stays = id.partition.partition_no;
  if (row.is_null(2)) {
    if (queue.layout == 0) return stays;
    throw Error("task " + id.text() + " was submitted without a partition key, and " + "queue '" +
                    queue.name +
                    "' has since been resized or got other routes: submit the task again, and "
                    "discard this one",
                kExitBadInput);
  }
  const auto key_hash = row.u32(2);
  if (has_place(queue, key_hash, stays)) return stays;
  return place_of(queue, key_hash, random_number<std::uint16_t>());
}

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
  return send_salted([&](std::uint32_t salt) {
    return act(db, actions_of("retry", target.from, target.keys), retry_statements(target, salt))
        .back()
        .affected();
  });
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

DeadKeys by_partition(std::span<const TaskId> ids) {
  DeadKeys partitions;
  for (const TaskId& id : ids) partitions[id.partition].push_back({id.prio, id.first_key});
  return partitions;
}

std::vector<DeadTarget> targets_of(db::Connection& db, Partition partition,
                                   const std::vector<TaskKey>& keys) {
  const auto queues = lock_layouts(db, {&partition.queue_id, 1});
  const auto at = queues.find(partition.queue_id);
  if (at == queues.end() || !at->second.is_keyed()) {
    return {{partition, partition.partition_no, std::to_string(partition.queue_id), keys}};
  }
  const QueueInfo& queue = at->second;
  db::Statement places(sql::k_dead_places);
  set_partition(places, partition).set_raw("first_keys", key_condition("first_key", keys));
  std::map<std::uint32_t, DeadTarget> targets;
  db.each_row(places, [&](const db::Row& row) {
    const TaskKey key{row.u32(0), row.u64(1)};
    const std::uint32_t to = target_of(queue, row, {partition, key.prio, key.run_key});
    DeadTarget& target = targets[to];
    target.from = partition;
    target.to = to;
    target.placed_queue = db::Statement(sql::k_placed_queue)
                              .set("queue_id", queue.queue_id)
                              .set("layout", queue.layout)
                              .render();
    target.keys.push_back(key);
  });
  std::vector<DeadTarget> list;
  for (auto& [to, target] : targets) list.push_back(std::move(target));
  return list;
}

std::array<db::Statement, 2> retry_statements(const DeadTarget& target, std::uint32_t salt) {
  const std::string ordered =
      db::joined(target.keys, [](const TaskKey& key) { return std::to_string(key.run_key); });
  db::Statement retry(sql::k_retry_dead);
  set_partition(retry, target.from)
      .set("to_partition_no", target.to)
      .set_raw("placed_queue", target.placed_queue)
      .set_raw("first_keys", key_condition("first_key", target.keys))
      .set_raw("ordered_keys", ordered)
      .set("kept_flags", kCompressedFlags | kCompressibleFlag | kHookFlag)
      .set("salt", salt);
  // First clears requests from before the death, because they would end the retried task.
  return {clear_cancel_statement(target.from, target.keys), retry};
}

db::Statement discard_statement(Partition partition, const std::vector<TaskKey>& keys) {
  db::Statement discard(sql::k_discard_dead);
  set_partition(discard, partition).set_raw("first_keys", key_condition("first_key", keys));
  return discard;
}

void note_moved(const DeadTarget& target, MovedIds& moved) {
  if (target.to == target.from.partition_no) return;
  for (const TaskKey& key : target.keys) {
    const Partition to{target.from.queue_id, target.to};
    moved.push_back({{target.from, key.prio, key.run_key}, {to, key.prio, key.run_key}});
  }
}

std::uint64_t retry_dead(db::Connection& db, std::span<const TaskId> ids, MovedIds* moved) {
  return in_each_partition(ids, [&](Partition partition, const std::vector<TaskKey>& keys) {
    // While the queue is resized. Tasks that were already retried are not dead any more.
    return db::repeat(kSaltTries, is_out_of_range,
                      [&] { return retry_in(db, partition, keys, moved); });
  });
}

std::uint64_t discard_dead(db::Connection& db, std::span<const TaskId> ids) {
  return in_each_partition(ids, [&](Partition partition, const std::vector<TaskKey>& keys) {
    const db::Statement discard = discard_statement(partition, keys);
    return act(db, actions_of("discard", partition, keys), {&discard, 1}).back().affected();
  });
}

Submitted submit_again(db::Connection& db, const TaskId& of, const Submission& task) {
  validate(task);
  ExtraStatements extra;
  extra.statements = [&](std::span<const Submitted> made) {
    std::vector<db::Statement> more;
    const std::string& queue = task.queue.name;
    const auto entry = entry_of(db, {"submit_again", "task", of.text(), found_plain(queue),
                                     "as " + made.front().id.text()});
    if (entry) more.push_back(*entry);
    return more;
  };
  return submit(db, {&task, 1}, extra).front();
}

}  // namespace allot::queue
