// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "db/stores.h"
#include "ipc/slot.h"
#include "process/slot_writer.h"
#include "queue/model/catalog.h"
#include "queue/submit/submit.h"
#include "support/database.h"

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
    queue::put_row(db_, where, key, payload);
  }
  std::string value(const std::string& sql) { return support::value_of(db_, sql); }

  std::string name_;
  db::Connection db_;
  queue::QueueInfo queue_;
  std::unique_ptr<ipc::Slot> raw_slot_;
  process::SlotWriter slot_;
};

}  // namespace allot::worker
