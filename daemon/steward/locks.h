// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "process/session.h"
#include "queue/locks/lock_store.h"
#include "queue/model/expired_holder_watch.h"
#include "steward/chore.h"

namespace allot::steward {

// Frees named locks whose holder stalled (S38), for clients that only take free locks, within two
// of their TTLs. One host does this for all: one statement in 0.75
// s, and one more when a lock is due, or one in 4.5 s after a minute without a lock. A lock is
// freed in the state that was seen, so that a second host finds nothing to do (S46).
class Locks {
 public:
  // `runtime_dir` is the instance's folder: it creates the bells there, and rings them.
  Locks(process::Session& session, std::string runtime_dir);

  [[nodiscard]] Chore chore();

 private:
  Nanos poll();

  process::Session& session_;
  const std::string runtime_dir_;
  queue::ExpiredHolderWatch<queue::LockSlot, queue::LockObservation> watched_;
  Nanos idle_from_ns_ = 0;
};

}  // namespace allot::steward
