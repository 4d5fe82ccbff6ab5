// SPDX-License-Identifier: Apache-2.0
#include "worker/running_mark.h"

namespace allot::worker {

RunningMark::RunningMark(SlotWriter& slot, LeaseKeeper& keeper, const queue::Task& task,
                         Number number, const TaskLimits& limits, const CancelWatch& cancel,
                         Nanos started_ns, std::size_t entry)
    : slot_(slot), keeper_(keeper), limits_(limits), cancel_(cancel), entry_(entry) {
  const auto [at_ns, by] = limits_.hard(started_ns);
  hard_ns_ = at_ns;
  keeper_.set_task_deadline(at_ns, entry_);
  slot_.begin_task(task, number.attempt, number.most, limits_.soft_ns, at_ns, by, entry_);
}

RunningMark::~RunningMark() {
  if (!clock_stopped_) stop_clock();
  if (!returned_) handler_returned();
  slot_.end_task(entry_);
}

void RunningMark::stop_clock() {
  const std::lock_guard held(mutex_);
  clock_stopped_ = true;
  slot_.end_handler(entry_);
  keeper_.set_task_deadline(0, entry_);
}

Place RunningMark::handler_returned() {
  returned_ = true;
  return keeper_.task_ended(entry_);
}

void RunningMark::progress(Nanos now) noexcept {
  slot_.beat();
  if (limits_.progress_every_ns == 0) return;
  const std::lock_guard held(mutex_);
  const auto [at_ns, by] = limits_.hard(now);
  if (!cancel_.asked() || at_ns < cancel_.end_at()) return move_deadline(at_ns, by);
  move_deadline(cancel_.end_at(), ipc::Limit::kTime);
}

void RunningMark::cancel_asked() noexcept {
  const std::lock_guard held(mutex_);
  if (cancel_.end_at() < hard_ns_) move_deadline(cancel_.end_at(), ipc::Limit::kTime);
}

void RunningMark::move_deadline(Nanos at_ns, ipc::Limit by) noexcept {
  if (clock_stopped_) return;
  hard_ns_ = at_ns;
  slot_.move_deadline(at_ns, by, entry_);
  keeper_.set_task_deadline(at_ns, entry_);
}

}  // namespace allot::worker
