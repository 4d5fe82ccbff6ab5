// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "config/settings.h"
#include "queue/findings/finding.h"
#include "queue/model/duty.h"
#include "steward/chore.h"
#include "steward/leadership.h"
#include "worker/process/session.h"

namespace allot::steward {

// Runs the checks of the database once a minute, one per step, and stores the findings (S90): on
// one host for all. Two hosts at once store the same.
class Findings : public Chore {
 public:
  Findings(worker::Session& session, const config::Settings& settings, Leadership& leadership);

  void look() override;
  [[nodiscard]] Nanos next_ns() const override { return next_ns_; }

 private:
  // Runs the next check; after the last one, stores all findings.
  void check_one();

  worker::Session& session_;
  const config::Settings& settings_;
  Leadership& leadership_;
  const queue::DutyName name_{0, "findings"};  // of the cluster
  std::size_t next_check_ = 0;
  queue::Findings found_;
  Nanos next_ns_ = 0;
};

}  // namespace allot::steward
