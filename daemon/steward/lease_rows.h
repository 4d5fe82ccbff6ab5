// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "steward/chore.h"
#include "steward/leadership.h"
#include "worker/process/session.h"

namespace allot::steward {

// Adds missing lease rows (S59), resets release times that a clock in the future wrote (S60), and
// removes notes of deferred types that are due (S65): every half minute, on the host that leads the
// schedules.
class LeaseRows : public Chore {
 public:
  LeaseRows(worker::Session& session, Leadership& leadership);

  void look() override;
  [[nodiscard]] Nanos next_ns() const override { return next_ns_; }

 private:
  worker::Session& session_;
  Leadership& leadership_;
  Nanos next_ns_ = 0;
};

}  // namespace allot::steward
