// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "db/connection.h"
#include "queue/model/audit.h"
#include "queue/model/catalog.h"
#include "queue/model/lease.h"
#include "queue/model/random.h"
#include "queue/model/task.h"

namespace allot::queue {

// A waiting task as one page of its queue shows it.
struct Waiting {
  Partition partition;
  TaskKey key;
  std::uint64_t id_key = 0;  // the key of its public id
  std::string type;
  bool unique = false;  // it has a row in task_unique
};

// Passes all waiting tasks of a queue to `visit`, by partition, class and key, page by page, until
// it returns false. `after`: only tasks after that one.
void each_waiting(db::Connection& db, const QueueInfo& queue,
                  const std::function<bool(const Waiting&)>& visit, const Waiting& after = {});

inline constexpr std::size_t kMoveBatch = 100;

// Moves waiting tasks between queues. It leases the partition for that time, so that no worker has
// one of its tasks: a moved task has not started, and runs once.
class Mover {
 public:
  // Moves tasks of a queue, or one task.
  Mover(Holder holder, const QueueInfo& from);
  Mover(Holder holder, const TaskId& task);

  // Moves tasks of one partition to `to`, a partition of another queue, and returns their number;
  // missing tasks do not count. nullopt: a worker has the partition. Due times, attempts and their
  // records move along; ids change, because an id names its queue. Not for tasks with a unique key,
  // which belongs to its queue.
  std::optional<std::uint64_t> move(db::Connection& db, std::span<const Waiting> tasks,
                                    Partition to) const;

 private:
  std::optional<Lease> lease(db::Connection& db, Partition partition) const;

  [[nodiscard]] Action action_of(const Lease& held, std::span<const TaskKey> keys,
                                 Partition to) const;

  Holder holder_;
  std::string_view subject_;  // of its audit entry, like name_
  std::string name_;
  std::uint64_t number_ = random_number<std::uint64_t>();
};

}  // namespace allot::queue
