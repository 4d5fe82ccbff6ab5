// SPDX-License-Identifier: Apache-2.0
// The block loop of a worker with a crew: tasks of a block side by side.
#include <utility>

#include "worker/block_loop.h"
#include "worker/stop_request.h"

namespace allot::worker {
namespace {

// How often the block loop looks at more than its runners' reports.
constexpr std::chrono::milliseconds kLook{20};

}  // namespace

// Between two leases only detached tasks run.
bool BlockLoop::room_for_a_lease() {
  for (const Ended& ended : crew_->take()) {
    if (ended.error) std::rethrow_exception(ended.error);
  }
  if (crew_->ready_for(need_)) {
    need_ = {};
    return true;
  }
  const SlotWriter::Guard guard(slot_);
  crew_->wait(kLook);
  return false;
}

void BlockLoop::wait_for_all() {
  const SlotWriter::Guard guard(slot_);
  while (!crew_->all_idle()) {
    crew_->wait(kLook);
    crew_->take();
  }
}

Crew::Need BlockLoop::need_of(const ServedQueue& queue, const queue::Task& task) const {
  return {crew_->serial(task.type), queue.exclusive() || queue.in_order(), careful_with(task)};
}

// Waits until the task may start.
BlockLoop::Next BlockLoop::make_way(const queue::Lease& lease, const ServedQueue& queue,
                                    const queue::Task& task) {
  const Crew::Need need = need_of(queue, task);
  for (;;) {
    const Next next = collect(lease);
    if (next != Next::kGoOn) return next;
    // Once nothing is in the way, what was in the way has ended: a task that runs alone starts only
    // after that is collected.
    if (crew_->ready_for(need)) return collect(lease);
    if (leaving() || !keeper_.valid()) return Next::kLeave;
    if (crew_->in_partition() == 0) {
      // The task in the way has left the partition, and may run for long: the rest is for other
      // workers.
      need_ = need;
      return Next::kLeave;
    }
    ack_in_time(lease);
    const SlotWriter::Guard guard(slot_);
    crew_->wait(kLook);
  }
}

// Collects the results of tasks that ran beside others. The first result that says so ends the
// block.
BlockLoop::Next BlockLoop::collect(const queue::Lease& lease) {
  Next next = Next::kGoOn;
  for (const Ended& one : crew_->take()) {
    if (one.error) std::rethrow_exception(one.error);
    if (one.result == TaskRun::Result::kDetached) continue;
    const Next after = ended(lease, *one.job.queue, one.job.task, one.result, one.held_for);
    if (next == Next::kGoOn) next = after;
  }
  return next;
}

// Waits until all that is left of the block has ended or left the partition: idle runners count
// like idle workers, so tasks leave early. If a stop was requested, the worker does not detach: it
// costs two writes.
BlockLoop::Next BlockLoop::wait_for_block(const queue::Lease& lease) {
  Next next = Next::kGoOn;
  while (crew_->in_partition() > 0) {
    keeper_.make_room(asked() != Asked::kStop);
    {
      const SlotWriter::Guard guard(slot_);
      crew_->wait(kLook);
    }
    const Next after = collect(lease);
    if (next == Next::kGoOn) next = after;
    ack_in_time(lease);
  }
  keeper_.make_room(false);
  const Next last = collect(lease);
  return next != Next::kGoOn ? next : last;
}

Job BlockLoop::job_of(const queue::Lease& lease, const ServedQueue& queue, queue::Task& task) {
  Job job;
  job.lease = lease;
  job.queue = &queue;
  job.careful = careful_with(task);
  job.expired = expired(task);
  job.task = std::move(task);
  return job;
}

BlockLoop::Next BlockLoop::hand_out(const queue::Lease& lease, const ServedQueue& queue,
                                    queue::Task& task) {
  const bool serial = crew_->serial(task.type);
  Job job = job_of(lease, queue, task);
  job.beside = true;
  crew_->start(std::move(job), serial);
  return Next::kGoOn;
}

// It runs alone in its partition; detached tasks of other partitions may run on.
TaskRun::Result BlockLoop::run_alone(const queue::Lease& lease, const ServedQueue& queue,
                                     queue::Task& task) {
  const bool serial = crew_->serial(task.type);
  Job job = job_of(lease, queue, task);
  job.finished = finished_;
  const queue::TaskKey key = job.task.key;
  crew_->start(std::move(job), serial);
  const SlotWriter::Guard guard(slot_);
  Ended one = crew_->take_one(lease, key);
  if (one.error) std::rethrow_exception(one.error);
  task = std::move(one.job.task);
  held_for_ = one.held_for;
  return one.result;
}

}  // namespace allot::worker
