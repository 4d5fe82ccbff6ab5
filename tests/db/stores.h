// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <utility>

#include "db/connection.h"
#include "db/verbs.h"
#include "queue/verbs/block.h"
#include "queue/verbs/detached_store.h"
#include "queue/verbs/lease_store.h"

namespace allot::queue {

// Stores of one lease holder.
struct Stores {
  explicit Stores(std::chrono::microseconds ttl, Holder holder = make_holder("test", "/"))
      : leases(std::move(holder), ttl), tasks(leases.holder()), detached(leases.holder(), ttl) {}
  Stores(const Stores&) = delete;  // tasks refers to leases
  Stores& operator=(const Stores&) = delete;
  ~Stores() = default;

  LeaseStore leases;
  Verbs tasks;
  DetachedStore detached;
};

// Inserts one row of `task`, of type "t", for tests that need a certain key.
inline void put_row(db::Connection& db, Partition where, TaskKey key, const std::string& payload) {
  db.execute("INSERT INTO task (queue_id, partition_no, prio, run_key, type, payload) VALUES (" +
             std::to_string(where.queue_id) + "," + std::to_string(where.partition_no) + "," +
             std::to_string(key.prio) + "," + std::to_string(key.run_key) + ", 't', " +
             db::Statement::quoted(payload) + ")");
}

}  // namespace allot::queue
