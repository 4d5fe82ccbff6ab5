// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "steward/chore.h"
#include "steward/leadership.h"
#include "worker/process/session.h"

namespace allot::steward {

// Fills in lease rows that are missing (S59), cuts the times of those that a clock that was ahead
// released (S60), and removes notes of types that were put back and are due (S65): each half
// minute, on the host that leads the schedules.
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
