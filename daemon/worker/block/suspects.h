// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "queue/model/task.h"
#include "worker/block/block.h"

namespace allot::worker {

// A task that runs with care: alone in its worker, its attempt written before (S7).
[[nodiscard]] inline bool is_suspect(const queue::Task& task) {
  return (task.flags & queue::kSuspectFlag) != 0;
}

// The tasks of a lease that may have brought a worker down, or failed a call together: each of them
// runs alone. For LeaseRun, in the worker's main thread.
class Suspects {
 public:
  Suspects(const BlockParts& parts, Block& block) : parts_(parts), block_(block) {}

  // S7: marks the tasks that the lease names, because they ran when a predecessor died. The mark is
  // on the task, so that careful mode lasts exactly as long as these tasks need, however many
  // leases that takes. False: the lease is gone.
  [[nodiscard]] bool mark_named();

  // The next `called_next()` of the waiting tasks were in a call that failed.
  [[nodiscard]] std::size_t called_next() const { return called_next_; }
  void called() { ++called_next_; }
  void started() {
    if (called_next_ > 0) --called_next_;
  }
  // At the end of a block, writes that these tasks were called: the next lease does not know about
  // the call. If the grant has no start for any of them, it would repeat the call as long as that
  // fails, so they become suspects (S61).
  void mark_called();

 private:
  const BlockParts& parts_;
  Block& block_;
  std::size_t called_next_ = 0;
};

}  // namespace allot::worker
