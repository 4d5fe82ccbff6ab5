// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "ipc/slot.h"
#include "queue/catalog.h"
#include "queue/lease_store.h"
#include "queue/submit.h"
#include "queue/task_store.h"
#include "support/database.h"
#include "worker/slot_writer.h"

namespace allot::worker {

// A fresh database with one queue "q" of four partitions, and a slot in memory.
class WorkerTest : public testing::Test {
 protected:
  WorkerTest()
      : name_(support::Database::shared().make_database()),
        db_(support::Database::shared().connect(name_)),
        queue_(queue::ensure_queue(db_, "q", {4})),
        raw_slot_(std::make_unique<ipc::Slot>()),
        slot_(*raw_slot_, -1) {}

  [[nodiscard]] db::ConnectOptions options() const {
    return support::Database::shared().options(name_);
  }
  [[nodiscard]] queue::Partition partition(std::uint32_t number) const {
    return {queue_.queue_id, number};
  }
  // A task with this key in that partition.
  void put(queue::Partition where, queue::TaskKey key, const std::string& payload = "x") {
    db_.execute("INSERT INTO task (queue_id, partition_no, prio, run_key, type, payload) VALUES (" +
                std::to_string(where.queue_id) + "," + std::to_string(where.partition_no) + "," +
                std::to_string(key.prio) + "," + std::to_string(key.run_key) + ",'t','" + payload +
                "')");
  }
  std::string value(const std::string& sql) {
    auto results = db_.execute(sql);
    const auto row = results.front().next();
    return row ? std::string(row->text(0)) : "no row";
  }

  std::string name_;
  db::Connection db_;
  queue::QueueInfo queue_;
  std::unique_ptr<ipc::Slot> raw_slot_;
  SlotWriter slot_;
};

}  // namespace allot::worker
