// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "meter/record.h"
#include "meter/totals.h"
#include "process/session.h"
#include "queue/minutes/minute_store.h"
#include "steward/chore.h"

namespace allot::steward {

// Once a minute: writes the counts of this host's slots, and with them the heartbeat of this
// instance (S50). One host for all writes how many tasks the queues have.
class Minutes {
 public:
  // `runtime_dir` is the instance's folder, `run` the run of its slots; nullopt: it has none, and
  // nothing is written about it.
  Minutes(process::Session& session, const queue::Holder& holder, std::string runtime_dir,
          const std::optional<meter::SupervisorRun>& run, std::vector<queue::ServingPool> pools);

  [[nodiscard]] std::vector<Chore> chores();
  // Writes the counts so far, because it may be the last write of this run. Tries once: the next
  // steward of the run writes the rest.
  void leave();

 private:
  Again write();
  [[nodiscard]] std::chrono::microseconds age() const;

  process::Session& session_;
  const std::string runtime_dir_;
  const std::optional<meter::SupervisorRun> run_;
  std::optional<queue::MinuteStore> store_;  // nullopt: there is nothing to write
};

// Keyed by the names in the minutes.
[[nodiscard]] queue::MinuteTotals minute_totals(const meter::Totals& totals);

}  // namespace allot::steward
