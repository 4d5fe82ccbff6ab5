// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "db/connection.h"
#include "queue/catalog.h"
#include "queue/lease.h"
#include "queue/task.h"

namespace allot::queue {

// A waiting task as one page of its queue showed it.
struct Waiting {
  Partition partition;
  TaskKey key;
  std::uint64_t id_key = 0;  // the key of its public id
  std::string type;
  bool unique = false;  // it has a row in task_unique
};

// All of a queue in the order of partitions, classes and keys, page by page; until `look` says no.
void each_waiting(db::Connection& db, const QueueInfo& queue,
                  const std::function<bool(const Waiting&)>& look);

inline constexpr std::size_t kMoveBatch = 100;

// Moves waiting tasks between queues. A partition is leased meanwhile, so that no worker has one of
// them: what is moved was not begun, and runs once.
class Mover {
 public:
  explicit Mover(Holder holder) : holder_(std::move(holder)) {}

  // How many of these tasks of one partition went to `to`, of another queue; those that are not
  // there any more don't. nullopt: somebody has the partition. Due times, attempts and what was
  // recorded of these go with them; their ids change, for an id names its queue. Not for tasks with
  // a unique key, which is one of their queue.
  std::optional<std::uint64_t> move(db::Connection& db, std::span<const Waiting> tasks,
                                    Partition to) const;

 private:
  std::optional<Lease> lease(db::Connection& db, Partition partition) const;

  Holder holder_;
};

}  // namespace allot::queue
