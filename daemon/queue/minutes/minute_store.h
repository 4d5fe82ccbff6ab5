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
#include "queue/minutes/minute.h"
#include "queue/minutes/minute_view.h"
#include "queue/model/lease.h"

namespace allot::queue {

// An instance, and the run of its allotd that the counts are of. The word of a life is the same as
// long as counts go on.
struct InstanceLife {
  Holder holder;
  std::string version;
  std::string life;
  std::vector<ServingPool> pools{};
};

// Writes what an instance counts, minute by minute, and with it the sign of its life. What was
// written stands in the instance's own row, and a write is conditioned on it (S50): so a steward
// that dies, one that is sent again what it sent, and two at once in a reload lose no count and
// write none twice. For one thread.
class MinuteStore {
 public:
  explicit MinuteStore(InstanceLife of) : of_(std::move(of)) {}

  struct Written {
    std::size_t rows = 0;
    unsigned second = 0;  // of the minute, by the database's clock
  };
  // What is in `totals` and was not written. `age`: for how long this life has lasted. nullopt: a
  // newer allot-worker, whose counts are others, writes for this instance by now.
  std::optional<Written> write(db::Connection& db, const MinuteTotals& totals,
                               std::chrono::microseconds age);

 private:
  // What the row of the instance says.
  struct Known {
    std::uint64_t written = 0;
    MinuteMarks marks{};
  };
  bool learn(db::Connection& db, std::chrono::microseconds age);
  unsigned send(db::Connection& db, std::uint64_t written, const MinuteWrite& write,
                std::chrono::microseconds age) const;

  InstanceLife of_;
  std::optional<Known> known_;
  bool wrote_ = false;
  MinuteMarks last_;  // behind the last write, in case somebody removes the row
};

// Removes one batch of what is past its time. True: there may be more.
bool purge_minutes(db::Connection& db);

// Writes how many tasks each queue has: exact up to a bound, above it what the server believes.
void write_backlogs(db::Connection& db);

}  // namespace allot::queue
