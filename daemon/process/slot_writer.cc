// SPDX-License-Identifier: Apache-2.0
#include "process/slot_writer.h"

#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/fixed_text.h"
#include "base/posix.h"

namespace allot::process {
namespace {

// Counts in the slot since the worker started.
using Counter = std::atomic<std::uint64_t> ipc::Slot::*;
constexpr std::pair<meter::Count, Counter> kCounts[] = {
    {meter::Count::kDone, &ipc::Slot::tasks_done},
    {meter::Count::kRetried, &ipc::Slot::tasks_retried},
    {meter::Count::kDead, &ipc::Slot::tasks_dead},
    {meter::Count::kDeferred, &ipc::Slot::tasks_deferred}};
constexpr std::pair<meter::Event, Counter> kEvents[] = {
    {meter::Event::kLeases, &ipc::Slot::leases_taken},
    {meter::Event::kTakeovers, &ipc::Slot::takeovers},
    {meter::Event::kLost, &ipc::Slot::leases_lost},
    {meter::Event::kDeadlocks, &ipc::Slot::deadlocks},
    {meter::Event::kLockWaits, &ipc::Slot::lock_waits}};

template <typename What>
void add_one(ipc::Slot& slot, std::span<const std::pair<What, Counter>> counters, What what) {
  for (const auto& [counted, counter] : counters) {
    if (counted == what) (slot.*counter).fetch_add(1, std::memory_order_relaxed);
  }
}

}  // namespace

void SlotWriter::start(const queue::Holder& holder) {
  slot_.pid = static_cast<std::uint32_t>(getpid());
  slot_.holder_id = holder.id;
  for (std::size_t entry = 0; entry < ipc::kMaxRunning; ++entry) {
    slot_.run_states[entry] = ipc::RunState::kFree;  // runs of the former worker were settled
  }
  beat();
}

void SlotWriter::set_state(ipc::WorkerState state) {
  beat();
  const bool between = state == ipc::WorkerState::kIdle || state == ipc::WorkerState::kLeasing;
  const auto in_use = [](ipc::RunState run) { return run != ipc::RunState::kFree; };
  if (between && ipc::last_run(slot_, in_use) != ipc::kMaxRunning) {
    state = ipc::WorkerState::kRunning;
  }
  slot_.state.store(static_cast<std::uint32_t>(state), std::memory_order_release);
  if (state != ipc::WorkerState::kIdle || slot_.first_job_done != 0) return;
  slot_.first_job_done = ready_;
  const std::uint64_t one = 1;
  if (notify_fd_ >= 0) write_all(notify_fd_, &one, sizeof one);
}

void SlotWriter::count(meter::Count what, std::string_view queue, std::string_view type,
                       const meter::Took& took) {
  if (meter_ != nullptr) meter_->count(what, queue, type, took);
  add_one<meter::Count>(slot_, kCounts, what);
  if (budget_ == nullptr) return;
  if (what == meter::Count::kDone) ++budget_->done;
  if (what == meter::Count::kRetried || what == meter::Count::kDead) ++budget_->failed;
}

void SlotWriter::count_error(meter::Count verdict, const meter::ErrorName& name) {
  if (meter_ != nullptr) meter_->count_error(verdict, name);
}

void SlotWriter::count(meter::Event what) {
  if (meter_ != nullptr) meter_->count(what);
  add_one<meter::Event>(slot_, kEvents, what);
}

void SlotWriter::beat() {
  slot_.heartbeat_ns.store(mono_ns(), std::memory_order_relaxed);
}

void SlotWriter::connected(std::size_t which, const db::Connection& connection,
                           std::chrono::seconds uptime) {
  slot_.connection_ids[which].store(0, std::memory_order_release);  // no id with a wrong server
  slot_.connected_ns[which] = boot_ns();
  slot_.server_ids[which] = connection.server_id();
  slot_.server_uptimes[which] = static_cast<std::uint64_t>(uptime.count());
  slot_.connection_ids[which].store(connection.id(), std::memory_order_release);
}

void SlotWriter::begin_lease(queue::Partition partition, std::string_view queue_name,
                             bool exclusive) {
  slot_.queue_id = partition.queue_id;
  slot_.partition_no = partition.partition_no;
  std::atomic_ref(slot_.exclusive).store(exclusive ? 1 : 0);
  copy_text(slot_.queue_name, queue_name);
  slot_.epoch.store(0, std::memory_order_relaxed);
  slot_.lease_held.store(1, std::memory_order_release);
}

void SlotWriter::lease_known(std::uint64_t epoch, std::uint64_t deadline_ns) {
  slot_.lease_deadline_ns.store(deadline_ns, std::memory_order_relaxed);
  slot_.epoch.store(epoch, std::memory_order_release);
  count(meter::Event::kLeases);
}

void SlotWriter::lease_deadline(std::uint64_t deadline_ns) {
  slot_.lease_deadline_ns.store(deadline_ns, std::memory_order_relaxed);
}

void SlotWriter::end_lease() {
  slot_.lease_held.store(0, std::memory_order_release);
}

std::uint64_t SlotWriter::exclusive_deadline_ns() const {
  if (std::atomic_ref(slot_.exclusive).load() == 0 || !ipc::runs_under_lease(slot_)) return 0;
  return slot_.lease_deadline_ns.load();
}

void SlotWriter::name_run(std::size_t entry, queue::Partition partition,
                          std::string_view queue_name, const queue::Task& task,
                          std::uint32_t attempt, std::uint32_t max_attempts) {
  ipc::RunRecord& run = slot_.runs[entry];
  run.run_key = task.key.run_key;
  run.first_key = task.id_key();
  run.prio = task.key.prio;
  run.attempt = attempt;
  run.max_attempts = max_attempts;
  run.unique = (task.flags & queue::kUniqueFlag) != 0 ? 1 : 0;
  run.started_ns = boot_ns();
  run.queue_id = partition.queue_id;
  run.partition_no = partition.partition_no;
  copy_text(run.queue_name, queue_name);
  copy_text(run.type, task.type);
  copy_text(run.task, queue::TaskId{partition, task.key.prio, task.id_key()}.text());
  run.progress = ipc::kNoProgress;
  run.progress_text[0] = '\0';
}

void SlotWriter::set_deadlines(std::size_t entry, Nanos soft_ns, Nanos hard_ns,
                               ipc::Limit limited_by) {
  slot_.runs[entry].started_ns = boot_ns();
  slot_.runs[entry].soft_deadline_ns = soft_ns;
  move_deadline(entry, hard_ns, limited_by);
}

void SlotWriter::show_progress(std::size_t entry, std::uint32_t percent, std::string_view word) {
  ipc::RunRecord& run = slot_.runs[entry];
  std::atomic_ref(run.progress).store(ipc::kNoProgress);
  copy_text(run.progress_text, word);
  std::atomic_ref(run.progress).store(static_cast<std::uint8_t>(percent));
}

void SlotWriter::move_deadline(std::size_t entry, Nanos hard_ns, ipc::Limit limited_by) {
  ipc::RunRecord& run = slot_.runs[entry];
  std::atomic_ref(run.limited_by).store(static_cast<std::uint32_t>(limited_by));
  std::atomic_ref(run.hard_deadline_ns).store(hard_ns);
}

bool SlotWriter::mark(std::size_t entry, RunEvent event) {
  std::atomic<ipc::RunState>& state = slot_.run_states[entry];
  ipc::RunState seen = state.load(std::memory_order_acquire);
  for (;;) {
    const auto next = next_state(seen, event);
    if (!next) return false;
    if (state.compare_exchange_weak(seen, *next, std::memory_order_acq_rel)) break;
  }
  if (event == RunEvent::kBegin) set_state(ipc::WorkerState::kRunning);
  if (event == RunEvent::kEnd) set_state(ipc::WorkerState::kLeasing);
  return true;
}

void SlotWriter::add_finished(const queue::Finished& task) {
  const MutexLock held(mutex_);
  if (finished_.empty()) finished_since_ns_ = boot_ns();
  finished_.push_back(task);
  show_finished(finished_.size() - 1);
}

std::vector<queue::Finished> SlotWriter::finished() const {
  const MutexLock held(mutex_);
  return finished_;
}

void SlotWriter::drop_finished(std::span<const queue::Finished> acked) {
  std::vector<queue::TaskKey> keys;
  for (const queue::Finished& task : acked) keys.push_back(task.key);
  std::sort(keys.begin(), keys.end());
  const MutexLock held(mutex_);
  std::erase_if(finished_, [&](const queue::Finished& one) {
    return std::binary_search(keys.begin(), keys.end(), one.key);
  });
  finished_since_ns_ = finished_.empty() ? 0 : boot_ns();
  show_finished(0);
}

void SlotWriter::clear_finished() {
  const MutexLock held(mutex_);
  finished_.clear();
  finished_since_ns_ = 0;
  show_finished(0);
}

// A death in between leaves some of them twice, but loses none.
void SlotWriter::show_finished(std::size_t from) {
  // More are impossible: the block loop acknowledges long before.
  const std::size_t count = std::min<std::size_t>(finished_.size(), ipc::kMaxFinished);
  for (std::size_t i = from; i < count; ++i) {
    const queue::Finished& task = finished_[i];
    slot_.finished[i] = {task.key.run_key, task.first_key.value_or(0), task.key.prio,
                         task.unique ? 1U : 0U};
    std::atomic_signal_fence(std::memory_order_seq_cst);  // keeps the order of the stores
  }
  slot_.finished_count.store(static_cast<std::uint32_t>(count), std::memory_order_release);
}

}  // namespace allot::process
