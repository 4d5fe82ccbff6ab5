// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "db/connection.h"
#include "queue/minutes/instances.h"
#include "queue/minutes/minute.h"
#include "queue/model/lease.h"

namespace allot::queue {

// An instance, and the run of its allotd that produced the counts. `run_id` identifies the run, and
// stays the same as long as the counts continue.
struct InstanceRun {
  Holder holder;
  std::string version;
  std::string run_id;
  std::vector<ServingPool> pools{};
};

// Writes the counts of an instance every minute, and its heartbeat with them. The instance's row
// keeps what was written, and each write is conditional on it (S50): a steward that dies, a write
// that is sent twice, and two stewards during a reload neither lose nor repeat a count. For one
// thread.
class MinuteStore {
 public:
  explicit MinuteStore(InstanceRun of) : of_(std::move(of)) {}

  struct Written {
    std::size_t rows = 0;
    unsigned second = 0;  // of the minute, by the database's clock
  };
  // Writes what `totals` has and the row has not. `age`: duration of this run so far. nullopt: a
  // newer allot-worker with other counts writes for this instance now.
  std::optional<Written> write(db::Connection& db, const MinuteTotals& totals,
                               std::chrono::microseconds age);

 private:
  struct Known {
    std::uint64_t write_no = 0;
    MinuteMarks marks{};
  };
  bool learn(db::Connection& db, std::chrono::microseconds age);
  unsigned send(db::Connection& db, std::uint64_t write_no, const MinuteWrite& write,
                std::chrono::microseconds age) const;

  InstanceRun of_;
  std::optional<Known> known_;
  bool wrote_ = false;
  MinuteMarks last_;  // after the last write, in case the row is removed
};

// Removes one batch of rows that are past their time. True: there may be more.
bool purge_minutes(db::Connection& db);

// Writes the number of tasks of each queue: exact up to a bound, above it an estimate of the
// server.
void write_backlogs(db::Connection& db);

}  // namespace allot::queue
