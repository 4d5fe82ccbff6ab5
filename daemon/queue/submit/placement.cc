// SPDX-License-Identifier: Apache-2.0
// Rule: S69.
#include "queue/submit/placement.h"

#include <algorithm>
#include <boost/crc.hpp>
#include <set>

#include "queue/model/random.h"
#include "queue/model/statements.h"
#include "queue/submit/address.h"
#include "queue/submit/submit.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

std::map<std::string, std::uint32_t> find_fair(db::Connection& db, const QueueInfo& queue,
                                               const std::vector<std::string>& keys) {
  db::Statement find(sql::k_find_fair);
  find.set("queue_id", queue.queue_id)
      .set("partitions", queue.partitions())
      .set_raw("partition_keys", bytes_list(keys));
  std::map<std::string, std::uint32_t> found;
  db.each_row(find, [&](const db::Row& row) { found.emplace(row.text(0), row.u32(1)); });
  return found;
}

std::uint32_t assign_fair(db::Connection& db, const QueueInfo& queue, const std::string& key) {
  db::Statement assign(sql::k_assign_fair);
  assign.set("queue_id", queue.queue_id)
      .set("partitions", queue.partitions())
      .set_bytes("partition_key", key);
  auto results = db.in_transaction() ? db.run({assign}) : db.transact({&assign, 1});
  const auto row = results.back().next();
  if (!row) {
    throw Error("queue '" + queue.name +
                "' has no rows in q_lock_table; restart a daemon that serves it, which adds them");
  }
  return row->u32(0);
}

}  // namespace

std::uint32_t hash_of(const std::string& partition_key) {
  boost::crc_32_type crc;
  crc.process_bytes(partition_key.data(), partition_key.size());
  return crc.checksum();
}

std::uint32_t place_of(const QueueInfo& queue, std::uint32_t key_hash, std::uint32_t nth) {
  const std::uint32_t partitions = queue.partitions();
  const std::uint32_t most = queue.shape.placement == Placement::kLimited
                                 ? std::min(queue.shape.max_running, partitions)
                                 : 1;
  return queue.first_partition + (key_hash % partitions + nth % most) % partitions;
}

Placer::Placer(db::Connection& db, std::span<const Submission> submissions) {
  std::map<std::uint32_t, std::pair<const QueueInfo*, std::vector<std::string>>> queues;
  for (const Submission& task : submissions) {
    if (task.queue.shape.placement != Placement::kFair) continue;
    auto& [queue, keys] = queues[task.queue.queue_id];
    queue = &task.queue;
    keys.push_back(*task.options.partition_key);
  }
  for (auto& [queue_id, of_queue] : queues) {
    auto& [queue, keys] = of_queue;
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    const auto found = find_fair(db, *queue, keys);
    for (const std::string& key : keys) {
      const auto at = found.find(key);
      fair_[{queue_id, key}] = at != found.end() ? at->second : assign_fair(db, *queue, key);
    }
  }
}

std::uint32_t Placer::next(std::uint32_t queue_id, const std::string& key) {
  auto [at, is_new] = next_.try_emplace({queue_id, key}, 0U);
  if (is_new) at->second = random_number<std::uint32_t>();
  return at->second++;
}

bool Placer::lock(db::Connection& db, std::span<const Submission> submissions) {
  std::map<std::uint32_t, std::set<std::string>> types;  // by the queue they were submitted to
  for (const Submission& task : submissions) {
    if (task.queue.is_keyed()) types[task.queue.source_id()].insert(task.type);
  }
  if (types.empty()) return false;
  std::vector<std::uint32_t> queue_ids;
  for (const auto& [queue_id, of_queue] : types) queue_ids.push_back(queue_id);
  for (const auto& [queue_id, source] : lock_layouts(db, queue_ids)) {
    for (const std::string& type : types[queue_id]) {
      locked_.insert_or_assign({queue_id, type}, follow_locked_route(db, source, type));
    }
  }
  return true;
}

Placer::Place Placer::place(const Submission& task) {
  const QueueInfo* queue = &task.queue;
  if (!queue->is_keyed()) return {{queue->queue_id, partition_no(task, *queue)}};
  if (!locked_.empty()) {
    const auto locked = locked_.find({queue->source_id(), task.type});
    if (locked != locked_.end()) queue = &locked->second;
  }
  return {{queue->queue_id, partition_no(task, *queue)}, queue->layout};
}

std::uint32_t Placer::partition_no(const Submission& task, const QueueInfo& queue) {
  switch (queue.shape.placement) {
    case Placement::kSpread:
      return next(queue.queue_id, {}) % queue.partitions();  // S18
    case Placement::kOrdered:
      return place_of(queue, hash_of(*task.options.partition_key));
    case Placement::kLimited: {
      const std::string& key = *task.options.partition_key;
      return place_of(queue, hash_of(key), next(queue.queue_id, key));
    }
    case Placement::kFair:
      return fair_.at({queue.queue_id, *task.options.partition_key});
  }
  return 0;
}

}  // namespace allot::queue
