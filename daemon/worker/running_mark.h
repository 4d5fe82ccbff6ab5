// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <mutex>

#include "base/clock.h"
#include "ipc/slot.h"
#include "worker/cancel_watch.h"
#include "worker/lease_keeper.h"
#include "worker/slot_writer.h"
#include "worker/task_limits.h"

namespace allot::worker {

// The task's entry in the slot, from before the handler until after its verdict is noted; while the
// handler runs, the keeper has it as well. At its hard deadline the supervisor kills, and the
// keeper does not renew beyond it (B3). A cancel is such a deadline, too.
class RunningMark {
 public:
  struct Number {
    std::uint32_t attempt;
    std::uint32_t most;
  };
  RunningMark(SlotWriter& slot, LeaseKeeper& keeper, const queue::Task& task, Number number,
              const TaskLimits& limits, const CancelWatch& cancel, Nanos started_ns,
              std::size_t entry = 0);
  RunningMark(const RunningMark&) = delete;
  RunningMark& operator=(const RunningMark&) = delete;
  ~RunningMark();

  // The handler has returned: the time that the database takes for the verdict does not count as
  // the task's. Call handler_returned() next, which may have to wait for the keeper.
  void stop_clock();
  Place handler_returned();

  // Any thread may call it.
  void progress(Nanos now) noexcept;
  [[nodiscard]] bool cancelled() const noexcept { return cancel_.asked(); }
  // Whether its lease, or that of its partition, is valid.
  [[nodiscard]] bool valid() const { return keeper_.task_valid(entry_); }
  // The keeper's thread calls it, with each look once somebody asked for the task's end.
  void cancel_asked() noexcept;

 private:
  void move_deadline(Nanos at_ns, ipc::Limit by) noexcept;

  SlotWriter& slot_;
  LeaseKeeper& keeper_;
  const TaskLimits limits_;
  const CancelWatch& cancel_;
  const std::size_t entry_;
  bool returned_ = false;
  std::mutex mutex_;  // guards what follows
  Nanos hard_ns_ = 0;
  bool clock_stopped_ = false;
};

}  // namespace allot::worker
