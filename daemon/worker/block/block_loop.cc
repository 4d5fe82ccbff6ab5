// SPDX-License-Identifier: Apache-2.0
#include "worker/block/block_loop.h"

#include <utility>

namespace allot::worker {
void BlockLoop::run() {
  while (!parts_.done()) {
    parts_.slot.beat();
    parts_.recovery.run_due();
    if (!room_for_a_lease()) continue;
    if (auto found = parts_.finder.next()) work(std::move(*found));
  }
  wait_for_all();
  parts_.slot.set_state(ipc::WorkerState::kStopping);
}

void BlockLoop::work(LeasedBlock found) {
  need_ = LeaseRun(parts_, std::move(found)).run();
}

// Between two leases only detached tasks run.
bool BlockLoop::room_for_a_lease() {
  for (const JobEnd& end : parts_.executor.take()) {
    if (end.error) std::rethrow_exception(end.error);
  }
  if (parts_.executor.ready_for(need_)) {
    need_ = {};
    return true;
  }
  const process::SlotWriter::Guard guard(parts_.slot);
  parts_.executor.wait(Executor::kPollEvery);
  return false;
}

void BlockLoop::wait_for_all() {
  const process::SlotWriter::Guard guard(parts_.slot);
  while (!parts_.executor.all_idle()) {
    parts_.executor.wait(Executor::kPollEvery);
    static_cast<void>(parts_.executor.take());
  }
}

}  // namespace allot::worker
