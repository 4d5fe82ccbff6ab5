// SPDX-License-Identifier: Apache-2.0
#include "worker/slot_writer.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>

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
  set_announced(false);  // what a former worker of the slot had announced was settled
  beat();
}

void SlotWriter::set_state(ipc::WorkerState state) {
  beat();
  slot_.state.store(static_cast<std::uint32_t>(state), std::memory_order_release);
  if (state != ipc::WorkerState::kIdle || slot_.first_job_done != 0) return;
  slot_.first_job_done = 1;
  const std::uint64_t one = 1;
  if (notify_fd_ >= 0) write_all(notify_fd_, &one, sizeof one);
}

void SlotWriter::count_done() {
  slot_.tasks_done.fetch_add(1, std::memory_order_relaxed);
  if (tally_ != nullptr) ++tally_->done;
}

void SlotWriter::count_retried() {
  slot_.tasks_retried.fetch_add(1, std::memory_order_relaxed);
  if (tally_ != nullptr) ++tally_->failed;
}

void SlotWriter::count_dead() {
  slot_.tasks_dead.fetch_add(1, std::memory_order_relaxed);
  if (tally_ != nullptr) ++tally_->failed;
}

void SlotWriter::beat() {
  slot_.heartbeat_ns.store(mono_ns(), std::memory_order_relaxed);
}

void SlotWriter::connected(int which, const db::Connection& connection) {
  slot_.connection_ids[which].store(0, std::memory_order_release);  // no id with another's server
  slot_.connected_ns[which] = connection.opened_ns();
  slot_.server_ids[which] = connection.server_id();
  slot_.connection_ids[which].store(connection.id(), std::memory_order_release);
}

void SlotWriter::begin_lease(queue::Partition partition, std::string_view queue_name,
                             bool exclusive) {
  slot_.queue_id = partition.queue_id;
  slot_.partition_no = partition.partition_no;
  exclusive_ = exclusive;
  slot_.exclusive = exclusive ? 1 : 0;
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

ipc::RunningTask& SlotWriter::name_task(const queue::Task& task, std::uint32_t attempt) {
  ipc::RunningTask& running = slot_.running[0];
  running.run_key = task.key.run_key;
  running.first_key = task.id_key();
  running.prio = task.key.prio;
  running.attempt = attempt;
  copy_text(running.type, task.type);
  return running;
}

void SlotWriter::set_announced(bool announced) {
  std::atomic_ref(slot_.running[0].announced).store(announced ? 1 : 0, std::memory_order_release);
}

void SlotWriter::announce_task(const queue::Task& task, std::uint32_t attempt) {
  name_task(task, attempt);
  set_announced(true);
}

void SlotWriter::begin_task(const queue::Task& task, std::uint32_t attempt,
                            std::uint32_t max_attempts, std::uint64_t soft_deadline_ns,
                            std::uint64_t hard_deadline_ns, ipc::Limit limited_by) {
  ipc::RunningTask& running = name_task(task, attempt);
  running.max_attempts = max_attempts;
  running.detached = 0;
  running.started_ns = boot_ns();
  running.soft_deadline_ns = soft_deadline_ns;
  running.limited_by = static_cast<std::uint32_t>(limited_by);
  running.hard_deadline_ns = hard_deadline_ns;
  slot_.running_count.store(1, std::memory_order_release);
  set_announced(false);
  set_state(ipc::WorkerState::kRunning);
}

void SlotWriter::move_deadline(std::uint64_t hard_deadline_ns, ipc::Limit limited_by) {
  ipc::RunningTask& running = slot_.running[0];
  std::atomic_ref(running.limited_by).store(static_cast<std::uint32_t>(limited_by));
  std::atomic_ref(running.hard_deadline_ns).store(hard_deadline_ns);
}

void SlotWriter::end_handler() {
  move_deadline(0, ipc::Limit::kTime);
  slot_.exclusive = 0;
}

void SlotWriter::task_detached() {
  slot_.running[0].detached = 1;
}

void SlotWriter::task_interrupted() {
  set_announced(true);
  slot_.running_count.store(0, std::memory_order_release);
}

void SlotWriter::end_task() {
  slot_.running_count.store(0, std::memory_order_release);
  slot_.exclusive = exclusive_ ? 1 : 0;
  set_state(ipc::WorkerState::kLeasing);
}

void SlotWriter::add_finished(const queue::Finished& task) {
  const std::uint32_t count = slot_.finished_count.load(std::memory_order_relaxed);
  if (count >= ipc::kMaxFinished) return;  // the block loop acknowledges long before
  slot_.finished[count] = {task.key.run_key, task.first_key.value_or(0), task.key.prio,
                           task.unique ? 1U : 0U};
  slot_.finished_count.store(count + 1, std::memory_order_release);
}

void SlotWriter::clear_finished() {
  slot_.finished_count.store(0, std::memory_order_release);
}

}  // namespace allot::worker
