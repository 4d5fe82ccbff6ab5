// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "meter/record.h"
#include "meter/totals.h"
#include "queue/minutes/minute_store.h"
#include "steward/chore.h"
#include "steward/leadership.h"
#include "worker/process/session.h"

namespace allot::steward {

// Once a minute: writes what this host's slots have counted, and with it the sign of life of this
// instance (S50). One host for all writes how many tasks the queues have, and removes what is a
// week old.
class Minutes : public Chore {
 public:
  // `runtime_dir` is that of the instance, `life` that of its slots; nullopt: it has none, and
  // nothing is written of it.
  Minutes(worker::Session& session, Leadership& leadership, const queue::Holder& holder,
          std::string runtime_dir, const std::optional<meter::Life>& life,
          std::vector<queue::ServingPool> pools);

  void look() override;
  [[nodiscard]] Nanos next_ns() const override { return next_ns_; }
  // Writes what was counted until now, for it may be the last write of this life. Tries once: what
  // could not be written the next steward of the life writes.
  void leave();

 private:
  void write();
  [[nodiscard]] std::chrono::microseconds age() const;
  void lead();

  worker::Session& session_;
  Leadership& leadership_;
  const std::string runtime_dir_;
  const std::optional<meter::Life> life_;
  std::optional<queue::MinuteStore> store_;  // nullopt: nothing is to be written
  Nanos next_ns_ = 0;
  Nanos lead_ns_ = 0;  // when the backlogs are due
};

// By the names of the minutes.
[[nodiscard]] queue::MinuteTotals minute_totals(const meter::Totals& totals);

}  // namespace allot::steward
