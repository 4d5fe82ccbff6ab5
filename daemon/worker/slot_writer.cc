// SPDX-License-Identifier: Apache-2.0
#include "worker/slot_writer.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/clock.h"
#include "base/posix.h"

namespace allot::worker {
namespace {

void copy_text(char (&to)[ipc::kTypeSize], std::string_view from) {
  const std::size_t size = std::min(from.size(), sizeof to - 1);
  std::memcpy(to, from.data(), size);
  to[size] = '\0';
}

}  // namespace

void SlotWriter::start(const queue::Holder& holder) {
  slot_.pid = static_cast<std::uint32_t>(getpid());
  slot_.holder_id = holder.id;
  for (std::size_t entry = 0; entry < ipc::kMaxRunning; ++entry) {
    set_announced(entry, 0);  // announcements of the slot's former worker were settled
    set_attempt(entry, 0);
  }
  beat();
}

void SlotWriter::set_state(ipc::WorkerState state) {
  beat();
  const bool between = state == ipc::WorkerState::kIdle || state == ipc::WorkerState::kLeasing;
  if (between && slot_.running_count.load(std::memory_order_relaxed) != 0) {
    state = ipc::WorkerState::kRunning;
  }
  slot_.state.store(static_cast<std::uint32_t>(state), std::memory_order_release);
  if (state != ipc::WorkerState::kIdle || slot_.first_job_done != 0) return;
  slot_.first_job_done = 1;
  const std::uint64_t one = 1;
  if (notify_fd_ >= 0) write_all(notify_fd_, &one, sizeof one);
}

void SlotWriter::count_done() {
  slot_.tasks_done.fetch_add(1, std::memory_order_relaxed);
  if (budget_ != nullptr) ++budget_->done;
}

void SlotWriter::count_retried() {
  slot_.tasks_retried.fetch_add(1, std::memory_order_relaxed);
  if (budget_ != nullptr) ++budget_->failed;
}

void SlotWriter::count_dead() {
  slot_.tasks_dead.fetch_add(1, std::memory_order_relaxed);
  if (budget_ != nullptr) ++budget_->failed;
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
  const std::lock_guard held(mutex_);
  slot_.queue_id = partition.queue_id;
  slot_.partition_no = partition.partition_no;
  exclusive_ = exclusive;
  set_exclusive(exclusive);
  copy_text(slot_.queue_name, queue_name);
  slot_.epoch.store(0, std::memory_order_relaxed);
  slot_.lease_held.store(1, std::memory_order_release);
}

void SlotWriter::lease_known(std::uint64_t epoch, std::uint64_t deadline_ns) {
  slot_.lease_deadline_ns.store(deadline_ns, std::memory_order_relaxed);
  slot_.epoch.store(epoch, std::memory_order_release);
  slot_.leases_taken.fetch_add(1, std::memory_order_relaxed);
}

void SlotWriter::lease_deadline(std::uint64_t deadline_ns) {
  slot_.lease_deadline_ns.store(deadline_ns, std::memory_order_relaxed);
}

void SlotWriter::end_lease() {
  slot_.lease_held.store(0, std::memory_order_release);
}

void SlotWriter::set_exclusive(bool exclusive) {
  std::atomic_ref(slot_.exclusive).store(exclusive ? 1 : 0);
}

std::uint64_t SlotWriter::exclusive_deadline_ns() const {
  if (slot_.running_count.load() == 0 || std::atomic_ref(slot_.exclusive).load() == 0) return 0;
  return slot_.lease_deadline_ns.load();
}

ipc::RunningTask& SlotWriter::name_task(const queue::Task& task, std::size_t entry) {
  ipc::RunningTask& running = slot_.running[entry];
  running.run_key = task.key.run_key;
  running.first_key = task.id_key();
  running.prio = task.key.prio;
  running.queue_id = slot_.queue_id;
  running.partition_no = slot_.partition_no;
  copy_text(running.queue_name, slot_.queue_name);
  copy_text(running.type, task.type);
  return running;
}

void SlotWriter::set_announced(std::size_t entry, std::uint32_t announced) {
  std::atomic_ref(slot_.running[entry].announced).store(announced, std::memory_order_release);
}

void SlotWriter::set_attempt(std::size_t entry, std::uint32_t attempt) {
  std::atomic_ref(slot_.running[entry].attempt).store(attempt, std::memory_order_release);
}

// A detached task that is being ended also counts, because no lease in hand says then that there is
// something to settle.
bool SlotWriter::counts(std::size_t entry) {
  ipc::RunningTask& running = slot_.running[entry];
  return std::atomic_ref(running.attempt).load(std::memory_order_relaxed) != 0 &&
         (std::atomic_ref(running.announced).load(std::memory_order_relaxed) == 0 ||
          std::atomic_ref(running.detached).load(std::memory_order_relaxed) != 0);
}

// The caller holds mutex_.
void SlotWriter::count_running() {
  std::size_t count = slot_.running_count.load(std::memory_order_relaxed);
  while (count > 0 && !counts(count - 1)) --count;
  slot_.running_count.store(static_cast<std::uint32_t>(count), std::memory_order_release);
}

void SlotWriter::announce_task(const queue::Task& task, std::uint32_t attempt, std::size_t entry) {
  name_task(task, entry);
  set_announced(entry, 1);
  set_attempt(entry, attempt);
}

void SlotWriter::begin_task(const queue::Task& task, std::uint32_t attempt,
                            std::uint32_t max_attempts, std::uint64_t soft_deadline_ns,
                            std::uint64_t hard_deadline_ns, ipc::Limit limited_by,
                            std::size_t entry) {
  ipc::RunningTask& running = name_task(task, entry);
  running.max_attempts = max_attempts;
  running.detached = 0;
  running.started_ns = boot_ns();
  running.soft_deadline_ns = soft_deadline_ns;
  std::atomic_ref(running.limited_by).store(static_cast<std::uint32_t>(limited_by));
  std::atomic_ref(running.hard_deadline_ns).store(hard_deadline_ns);
  {
    const std::lock_guard held(mutex_);
    set_attempt(entry, attempt);
    const auto count = std::max(static_cast<std::uint32_t>(entry + 1),
                                slot_.running_count.load(std::memory_order_relaxed));
    slot_.running_count.store(count, std::memory_order_release);
    set_announced(entry, 0);
  }
  set_state(ipc::WorkerState::kRunning);
}

void SlotWriter::move_deadline(std::uint64_t hard_deadline_ns, ipc::Limit limited_by,
                               std::size_t entry) {
  ipc::RunningTask& running = slot_.running[entry];
  std::atomic_ref(running.limited_by).store(static_cast<std::uint32_t>(limited_by));
  std::atomic_ref(running.hard_deadline_ns).store(hard_deadline_ns);
}

// A detached task's queue is never exclusive.
void SlotWriter::end_handler(std::size_t entry) {
  move_deadline(0, ipc::Limit::kTime, entry);
  const std::lock_guard held(mutex_);
  if (std::atomic_ref(slot_.running[entry].detached).load() == 0) set_exclusive(false);
}

void SlotWriter::task_detached(std::size_t entry) {
  std::atomic_ref(slot_.running[entry].detached).store(1);
}

void SlotWriter::task_interrupted(std::size_t entry) {
  const std::lock_guard held(mutex_);
  set_announced(entry, 1);
  count_running();
}

void SlotWriter::detached_finished(std::size_t entry) {
  const std::lock_guard held(mutex_);
  set_announced(entry, 2);
  count_running();
}

void SlotWriter::end_announced(std::size_t entry) {
  set_attempt(entry, 0);
  set_announced(entry, 0);
}

void SlotWriter::end_task(std::size_t entry) {
  {
    const std::lock_guard held(mutex_);
    set_attempt(entry, 0);
    set_announced(entry, 0);
    count_running();
    if (std::atomic_ref(slot_.running[entry].detached).load() == 0) {
      set_exclusive(exclusive_);
    }
  }
  set_state(ipc::WorkerState::kLeasing);
}

void SlotWriter::add_finished(const queue::Finished& task) {
  const std::lock_guard held(mutex_);
  const std::uint32_t count = slot_.finished_count.load(std::memory_order_relaxed);
  if (count >= ipc::kMaxFinished) return;  // cannot happen: the block loop acknowledges long before
  slot_.finished[count] = {task.key.run_key, task.first_key.value_or(0), task.key.prio,
                           task.unique ? 1U : 0U};
  slot_.finished_count.store(count + 1, std::memory_order_release);
}

void SlotWriter::clear_finished() {
  slot_.finished_count.store(0, std::memory_order_release);
}

// A death in between leaves some of them twice, but loses none.
void SlotWriter::drop_finished(std::span<const queue::Finished> acked) {
  std::vector<queue::TaskKey> keys;
  for (const queue::Finished& task : acked) keys.push_back(task.key);
  std::sort(keys.begin(), keys.end());
  const std::lock_guard held(mutex_);
  const std::uint32_t count = slot_.finished_count.load(std::memory_order_relaxed);
  std::uint32_t left = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const ipc::FinishedTask& task = slot_.finished[i];
    const queue::TaskKey key{static_cast<std::uint32_t>(task.prio), task.run_key};
    if (std::binary_search(keys.begin(), keys.end(), key)) continue;
    slot_.finished[left++] = task;
    std::atomic_signal_fence(std::memory_order_seq_cst);  // keeps the two stores in order
  }
  slot_.finished_count.store(left, std::memory_order_release);
}

}  // namespace allot::worker
