// SPDX-License-Identifier: Apache-2.0
#include "worker/block/block_loop.h"

#include <utility>

namespace allot::worker {
void BlockLoop::run() {
  while (!parts_.done()) {
    parts_.slot.beat();
    parts_.recovery.run_due();
    // Between two leases only detached tasks run.
    for (const JobEnd& end : parts_.executor.take()) {
      if (end.error) std::rethrow_exception(end.error);
    }
    if (!parts_.executor.ready_for(need_)) {
      wait();
      continue;
    }
    need_ = {};
    if (auto found = parts_.finder.next()) work(std::move(*found));
  }
  while (!parts_.executor.all_idle()) {
    wait();
    static_cast<void>(parts_.executor.take());
  }
  parts_.slot.set_state(ipc::WorkerState::kStopping);
}

void BlockLoop::work(LeasedBlock found) {
  need_ = LeaseRun(parts_, std::move(found)).run();
}

void BlockLoop::wait() {
  const process::SlotWriter::Guard guard(parts_.slot);
  parts_.executor.wait(Executor::kPollEvery);
}

}  // namespace allot::worker
