// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "steward/chore.h"
#include "steward/leadership.h"
#include "worker/process/session.h"

namespace allot::steward {

// Removes the small numbers of Fireworq's jobs whose tasks are gone (decision 0026): once an hour,
// by the host that leads bulk actions, whose duty is the cluster's as well. It is about rows that
// nobody looks at any more, so two that do it at once do no harm.
class JobNumbers : public Chore {
 public:
  JobNumbers(worker::Session& session, Leadership& leadership);

  void look() override;
  [[nodiscard]] Nanos next_ns() const override { return next_ns_; }

 private:
  void sweep();

  worker::Session& session_;
  Leadership& leadership_;
  std::uint64_t after_ = 0;  // the number that the sweep has reached
  Nanos next_ns_ = 0;
};

}  // namespace allot::steward
