// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "queue/locks/lock_store.h"
#include "queue/model/expired_holder_watch.h"
#include "steward/chore.h"
#include "steward/leadership.h"
#include "worker/process/session.h"

namespace allot::steward {

// Frees named locks whose holder stalled (S38), for clients that only take free locks, within two
// of their TTLs, and removes abandoned tickets. One host does this for all: one statement in 0.75
// s, and one more when a lock is due, or one in 4.5 s after a minute without a lock. A lock is
// freed in the state that was seen, so that a second host finds nothing to do (S46).
class Locks : public Chore {
 public:
  // `runtime_dir` is the instance's folder: it creates the bells there, and rings them.
  Locks(worker::Session& session, Leadership& leadership, std::string runtime_dir);

  void look() override;
  [[nodiscard]] Nanos next_ns() const override { return next_ns_; }

 private:
  void round();

  worker::Session& session_;
  Leadership& leadership_;
  const std::string runtime_dir_;
  queue::ExpiredHolderWatch<queue::LockSlot, queue::LockObservation> watched_;
  Nanos next_ns_ = 0;
  Nanos idle_from_ns_ = 0;
  Nanos purge_ns_ = 0;
};

}  // namespace allot::steward
