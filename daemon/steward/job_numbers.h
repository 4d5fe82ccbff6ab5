// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "steward/chore.h"
#include "steward/leadership.h"
#include "worker/process/session.h"

namespace allot::steward {

// Removes the small numbers of Fireworq's jobs whose tasks are gone (decision 0026): once an hour,
// on the host that leads bulk actions, because both duties belong to the cluster. The rows are
// unused, so two hosts at once do no harm.
class JobNumbers : public Chore {
 public:
  JobNumbers(worker::Session& session, Leadership& leadership);

  void look() override;
  [[nodiscard]] Nanos next_ns() const override { return next_ns_; }

 private:
  void sweep();

  worker::Session& session_;
  Leadership& leadership_;
  std::uint64_t after_ = 0;  // position of the sweep
  Nanos next_ns_ = 0;
};

}  // namespace allot::steward
