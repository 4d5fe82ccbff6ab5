// SPDX-License-Identifier: Apache-2.0
#include "queue/operate/dead_tasks.h"

#include <array>
#include <map>
#include <string>

#include "queue/model/catalog.h"
#include "queue/model/compression.h"
#include "queue/model/random.h"
#include "queue/model/statements.h"
#include "queue/submit/placement.h"
#include "queue/verbs/cancel_request.h"
#include "queue/verbs/ending.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

// The last statement of each transaction deletes the rows from task_dead.
template <typename Send>
std::uint64_t in_each_partition(std::span<const TaskId> ids, Send&& send) {
  std::map<Partition, std::vector<TaskKey>> partitions;
  for (const TaskId& id : ids) partitions[id.partition].push_back({id.prio, id.first_key});
  std::uint64_t sum = 0;
  for (const auto& [partition, keys] : partitions) sum += send(partition, keys);
  return sum;
}

// Dead tasks of one partition that go back into one partition.
struct DeadTarget {
  std::uint32_t to = 0;
  std::string placed_queue;  // the queue's number, or placed_queue.sql
  std::vector<TaskKey> keys;
};

// Whether the partition is one of the key: in a limited queue they start at the key's place.
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
    throw Error(
        "task " + id.text() + " was submitted without a partition key, and " + "queue '" +
            queue.name +
            "' was resized since, or got other routes: submit it anew, and discard this one",
        kExitBadInput);
  }
  const auto key_hash = static_cast<std::uint32_t>(row.u64(2));
  if (has_place(queue, key_hash, stays)) return stays;
  return place_of(queue, key_hash, random_number<std::uint16_t>());
}

std::vector<DeadTarget> targets_of(db::Connection& db, Partition partition,
                                   const std::vector<TaskKey>& keys) {
  const auto queues = lock_layouts(db, {&partition.queue_id, 1});
  const auto at = queues.find(partition.queue_id);
  if (at == queues.end() || !at->second.alone()) {
    return {{partition.partition_no, std::to_string(partition.queue_id), keys}};
  }
  const QueueInfo& queue = at->second;
  db::Statement places(sql::k_dead_places);
  set_partition(places, partition).set_raw("first_keys", key_condition("first_key", keys));
  std::map<std::uint32_t, DeadTarget> targets;
  auto results = db.run({places});
  while (const auto row = results.front().next()) {
    const TaskKey key{static_cast<std::uint32_t>(row->u64(0)), row->u64(1)};
    const std::uint32_t to = target_of(queue, *row, {partition, key.prio, key.run_key});
    DeadTarget& target = targets[to];
    target.to = to;
    target.placed_queue = db::Statement(sql::k_placed_queue)
                              .set("queue_id", queue.queue_id)
                              .set("layout", queue.layout)
                              .render();
    target.keys.push_back(key);
  }
  std::vector<DeadTarget> list;
  for (auto& [to, target] : targets) list.push_back(std::move(target));
  return list;
}

std::uint64_t retry_to(db::Connection& db, Partition partition, const DeadTarget& target) {
  std::string ordered;
  for (const TaskKey& key : target.keys) {
    ordered += (ordered.empty() ? "" : ",") + std::to_string(key.run_key);
  }
  std::uint64_t count = 0;
  send_salted([&](std::uint32_t salt) {
    db::Statement retry(sql::k_retry_dead);
    set_partition(retry, partition)
        .set("to_partition_no", target.to)
        .set_raw("placed_queue", target.placed_queue)
        .set_raw("first_keys", key_condition("first_key", target.keys))
        .set_raw("ordered_keys", ordered)
        .set("kept_flags", kCompressedFlags | kCompressibleFlag | kHookFlag)
        .set("salt", salt);
    // Clears requests of an earlier life first, because they would end this one.
    const std::array<db::Statement, 2> statements{clear_cancel_statement(partition, target.keys),
                                                  retry};
    count = db.transact(statements).back().affected();
    return Fenced::kWritten;
  });
  return count;
}

std::uint64_t retry_in(db::Connection& db, Partition partition, const std::vector<TaskKey>& keys,
                       MovedIds* moved) {
  std::uint64_t sum = 0;
  for (const DeadTarget& target : targets_of(db, partition, keys)) {
    sum += retry_to(db, partition, target);
    if (moved == nullptr || target.to == partition.partition_no) continue;
    for (const TaskKey& key : target.keys) {
      const Partition to{partition.queue_id, target.to};
      moved->push_back({{partition, key.prio, key.run_key}, {to, key.prio, key.run_key}});
    }
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
        // The queue was resized just now. Tasks that were retried before are not dead any more.
        if (error.number() != kOutOfRange || tries == kSaltTries) throw;
      }
    }
  });
}

std::uint64_t discard_dead(db::Connection& db, std::span<const TaskId> ids) {
  return in_each_partition(ids, [&](Partition partition, const std::vector<TaskKey>& keys) {
    db::Statement discard(sql::k_discard_dead);
    set_partition(discard, partition).set_raw("first_keys", key_condition("first_key", keys));
    return db.transact({&discard, 1}).back().affected();
  });
}

}  // namespace allot::queue
