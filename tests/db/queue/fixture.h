// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "db/connection.h"
#include "db/stores.h"
#include "queue/model/catalog.h"
#include "queue/submit/submit.h"
#include "support/database.h"
#include "support/db_error.h"
#include "support/eventually.h"

namespace allot::queue {

// Ids of the tasks of a submission, in its order.
inline std::vector<TaskId> ids_of(const std::vector<Submitted>& tasks) {
  std::vector<TaskId> ids;
  for (const Submitted& task : tasks) ids.push_back(task.id);
  return ids;
}

// One worker as seen by the database: an id, a connection, stores.
struct Worker : Stores {
  explicit Worker(db::Connection connection, std::uint64_t origin = 0,
                  std::chrono::microseconds ttl = std::chrono::seconds(30));

  db::Connection db;

  std::optional<Block> lease(Partition partition, const FetchSpec& spec = {});
  // Takes the partition from its holder, as after observing it unchanged for long enough.
  std::optional<Block> steal(Partition partition, const FetchSpec& spec = {});
};

struct TableOrder {
  const char* table;
  const char* order;
};
inline constexpr TableOrder kTaskTables[] = {{"task", "1, 2, 3, 4"},
                                             {"task_moved", "1, 2, 3, 4"},
                                             {"task_attempt", "1, 2, 3, 4, 5"},
                                             {"task_running", "1, 2, 3, 4"},
                                             {"task_dead", "1, 2, 3, 4"},
                                             {"task_unique", "1, 2"},
                                             {"task_cancel", "1, 2, 3, 4"},
                                             {"deferred_type", "1, 2, 3, 4"},
                                             {"task_history", "1, 2, 3, 4"}};
inline constexpr TableOrder kLeaseTable[] = {{"q_lock_table", "1, 2"}};

// All rows of some tables as text, for comparison.
std::string dump_tables(db::Connection& db, std::span<const TableOrder> tables);

// A database with one queue of one partition, and one worker.
class QueueTest : public testing::Test {
 protected:
  explicit QueueTest(std::string database = support::emptied_database());

  [[nodiscard]] db::Connection connect() const {
    return support::Database::shared().connect(name_);
  }
  QueueInfo make_queue(const std::string& name, std::uint32_t partitions);

  // Submits tasks of type "t" with payloads "0", "1" ...
  std::vector<TaskId> put(std::size_t count, std::uint32_t prio = kDefaultPrio);
  // Inserts one row, for tests that need a certain key.
  void put_row(Partition partition, TaskKey key, const std::string& payload = "x");
  // Leases the partition for worker_; fails the test if that is impossible.
  Block must_lease(const FetchSpec& spec = {});

  // Runs `sql` on a separate connection; returns the first field of the first row.
  std::string value(const std::string& sql) { return support::value_of(observer_, sql); }
  std::uint64_t number(const std::string& sql) { return support::number_of(observer_, sql); }
  // A server-wide counter, e.g. Innodb_deadlocks.
  std::uint64_t counter(const std::string& name) {
    return support::server_counter(observer_, name);
  }

  // State that a lost lease must not change, and that a repeated call must not change again.
  std::string tasks_as_text() { return dump_tables(observer_, kTaskTables); }
  std::string leases_as_text() { return dump_tables(observer_, kLeaseTable); }
  std::string all_as_text() { return tasks_as_text() + leases_as_text(); }

  // Waits until `count` statements on this server wait for a row lock.
  bool lock_waits(std::uint64_t count) { return support::wait_for_lock_waits(observer_, count); }

  std::string name_;
  QueueInfo queue_;
  Partition partition_;
  Worker worker_;
  db::Connection observer_;
};

// Sets the database's clock for this session to a fixed offset; it is stopped. nullopt: correct.
void set_clock(db::Connection& db, std::optional<std::chrono::seconds> off);

// Verdict of the tests.
inline constexpr Verdict kFailure{"failed", "it did not work"};

}  // namespace allot::queue
