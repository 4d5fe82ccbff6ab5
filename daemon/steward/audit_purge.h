// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "steward/chore.h"
#include "steward/leadership.h"
#include "worker/process/session.h"

namespace allot::steward {

// Removes old entries of the audit: once an hour, on the host that leads bulk actions, because both
// duties belong to the cluster. Two hosts at once do no harm.
class AuditPurge : public Chore {
 public:
  AuditPurge(worker::Session& session, Leadership& leadership);

  void look() override;
  [[nodiscard]] Nanos next_ns() const override { return next_ns_; }

 private:
  void purge();

  worker::Session& session_;
  Leadership& leadership_;
  Nanos next_ns_ = 0;
};

}  // namespace allot::steward
