// SPDX-License-Identifier: Apache-2.0
#include "worker/block/lease_run.h"

#include <optional>
#include <utility>

#include "base/mutant.h"
#include "process/finally.h"

namespace allot::worker {
namespace {

constexpr Nanos kAckPatience = 20 * kMilli;  // extension while threads would have to wait
// While tasks run: a free place waits no longer than kFillWithin if more tasks are known. If none
// are known, and the bell is silent, the lease polls for due tasks every kFillPoll.
constexpr Nanos kFillWithin = 2 * kMilli;
constexpr Nanos kFillPoll = 250 * kMilli;

}  // namespace

LeaseRun::LeaseRun(const BlockParts& parts, LeasedBlock found)
    : parts_(parts),
      served_(parts.finder.served(found.block.lease.partition.queue_id)),
      queue_(*served_),
      block_(parts, queue_, std::move(found)),
      starter_(parts, served_, block_),
      unknown_(parts, block_, queue_) {}

Executor::Need LeaseRun::run() {
  if (starter_.mark_named()) {
    if (call_forward()) {
      // Requeued tasks are the new head of the partition, and running tasks have to be at the head
      // (S7): the fetched tasks are fetched again, as many as are granted.
      const bool none = block_.grant().limited() && block_.waiting().empty();
      none ? block_.fetch() : block_.fetch_again();
    }
    do {
      next_ = Next::kContinue;
      run_block();
      if (next_ == Next::kDetached && !mutant::removed("block_after_detach")) {
        // The detach acknowledged the finished tasks and released the partition. The rest was never
        // marked.
        parts_.finder.drop_lease();
        return {};
      }
      starter_.mark_called();
      if (next_ == Next::kLeave) break;
      unknown_.defer();
    } while (fetch_next());
    unknown_.defer();
  }
  block_.release(deferral_);
  return need_;
}

// Tasks of a failed call have to run first.
bool LeaseRun::call_forward() {
  return !starter_.any_called() && unknown_.call_forward();
}

void LeaseRun::run_block() {
  do {
    start_jobs();
    while (continues() && fetches_ahead()) {
      wait_for_headroom();
      if (!continues() || !fetches_ahead()) break;
      block_.fetch();
      // A lease must not see a task again that it had detached, which may have happened during the
      // fetch.
      if (parts_.keeper.any_detached()) block_.waiting().clear();
      start_jobs();
    }
    while (continues() && block_.fills_up() && parts_.executor.in_partition() > 0) fill_up();
    if (next_ == Next::kDetached) return;
    wait_for_all();
    // A call that failed at the very end has left tasks which have to run alone.
  } while (continues() && !block_.waiting().empty() && block_.grant().may_start(boot_ns()));
}

// False: the partition has no more tasks for this lease.
bool LeaseRun::fetch_next() {
  if (parts_.keeper.lost() || starter_.time_is_up()) return false;
  // A lease must not see a task again that it had detached (queue/detached_store).
  if (parts_.keeper.any_detached() && !mutant::removed("lease_after_detach")) return false;
  if (!block_.grant().more(boot_ns())) return false;
  // A block that was not full emptied the partition, unless tasks were submitted since: no scout
  // sees those tasks while the partition is leased.
  if (!call_forward() && !block_.full() && !parts_.finder.rung_since_fetch()) return false;
  block_.fetch();
  return !block_.waiting().empty();
}

void LeaseRun::start_jobs() {
  while (continues() && !block_.waiting().empty()) {
    const Executor::Need need = starter_.need_of(block_.waiting().front());
    if (!wait_until_ready(need)) return;
    const Starter::Answer answer = starter_.may_start();
    if (answer == Starter::Answer::kLeave) return leave();
    if (answer == Starter::Answer::kNextGrant) return;
    start_job(need);
    if (!continues() || block_.requires_one()) continue;
    // Running tasks may keep this worker for long; may_extend() checks for other work.
    const bool extends = block_.fills_up() && parts_.executor.in_partition() > 0;
    if (!extends && parts_.finder.reserve_urgent()) {
      parts_.executor.recall();
      return leave();
    }
    // Threads that wait for a job come first: once none waits, wait_until_ready() acknowledges. For
    // kAckPatience only, because with short tasks there may always be one.
    const bool first_jobs = block_.ack_is_due() && !block_.ack_is_due(kAckPatience) &&
                            parts_.executor.in_partition() > 0 && parts_.executor.ready_for(need);
    if (!first_jobs) block_.ack_in_time();
  }
}

// Waits until the next task may start. False: it does not start in this block.
bool LeaseRun::wait_until_ready(const Executor::Need& need) {
  for (collect(); continues(); collect()) {
    if (parts_.executor.ready_for(need)) {
      // The blocking jobs have ended: a task that runs alone starts only after they are collected.
      collect();
      return continues();
    }
    if (process::leaving() || !parts_.keeper.valid()) {
      leave();
    } else if (parts_.executor.in_partition() == 0) {
      // The blocking task has left the partition, and may run for long: the rest is for other
      // workers.
      need_ = need;
      leave();
    } else {
      block_.ack_in_time();
      wait();
    }
  }
  return false;
}

// Runs one task, or several in one call. Without `concurrency` it has ended when this returns.
void LeaseRun::start_job(const Executor::Need& need) {
  const queue::TaskKey key = block_.waiting().front().key;
  const Finally turn([&] {  // held until the task is acknowledged
    if (need.worker) parts_.careful_turn.end();
  });
  if (need.worker) {
    // Finished neighbours must not run again because of it.
    if (!mutant::removed("ack_before_careful")) block_.ack();
    if (!starter_.wait_for_turn(block_.waiting().front())) return leave();
  }
  sole_runs_ = need.partition || need.worker;
  parts_.executor.start(starter_.next_job(need), need);
  collect();
  while (sole_runs_) {
    wait();
    collect();
  }
  if (!continues() || !need.worker) return;
  const bool is_back = !block_.waiting().empty() && block_.waiting().front().key == key;
  if (!is_back) block_.ack();
}

// One poll while tasks run. Running tasks count in the fetch: they are the head of the partition,
// so that a takeover finds them there (S7).
void LeaseRun::fill_up() {
  if (starter_.is_over()) return leave();
  const Nanos now = boot_ns();
  if (may_fill_up(now)) {
    unknown_.defer();
    block_.fetch();
    return start_jobs();
  }
  const bool soon = block_.running() < block_.cap_part() && now - block_.fetched_ns() < kFillWithin;
  wait(soon ? std::chrono::milliseconds(1) : Executor::kPollEvery);
  collect();
  block_.ack_in_time();
}

// Not for every single place: each fetch reads the running tasks again.
bool LeaseRun::may_fill_up(Nanos now) const {
  if (block_.running() >= block_.cap_part() || !block_.grant().may_ask(now)) return false;
  const Nanos age = now - block_.fetched_ns();
  const bool half = block_.running() * 2 <= block_.cap_part() && !block_.grant().limited();
  if (block_.full() || parts_.finder.rung_since_fetch()) return half || age >= kFillWithin;
  return age >= kFillPoll;
}

// Whether the next block is fetched while the last tasks of this one run, at most headroom() of
// them, by which it is smaller: with short tasks, the threads would wait longer for the block than
// for the tasks.
bool LeaseRun::fetches_ahead() const {
  if (!block_.full() || headroom() == 0 || !parts_.executor.quick()) return false;
  if (block_.grant().limited() || starter_.one_at_a_time() || queue_.exclusive()) return false;
  if (unknown_.any() || !block_.waiting().empty() || starter_.any_called()) return false;
  if (process::leaving() || starter_.time_is_up()) return false;
  // As for any further block of a lease, see fetch_next().
  return parts_.keeper.valid() && !parts_.keeper.any_detached();
}

// It collects before the check: all may have ended before this call, and uncollected tasks would
// only be fetched again.
void LeaseRun::wait_for_headroom() {
  for (;;) {
    collect();
    block_.ack_in_time();
    if (!continues() || !fetches_ahead()) return;
    if (parts_.executor.in_partition() <= headroom()) return;
    wait(Executor::kPollEvery, headroom());
  }
}

// Waits until the rest of the block has ended or left the partition: idle threads count like idle
// workers, so tasks leave early. If a stop was requested, the worker does not detach: it costs two
// writes.
void LeaseRun::wait_for_all() {
  while (parts_.executor.in_partition() > 0) {
    parts_.keeper.make_room(process::asked() != process::Asked::kStop &&
                            parts_.executor.waiting() == 0);
    wait(Executor::kPollEvery, 0);
    collect();
    block_.ack_in_time();
  }
  parts_.keeper.make_room(false);
  collect();
}

void LeaseRun::wait(std::chrono::milliseconds timeout, std::optional<std::size_t> left) {
  const process::SlotWriter::Guard guard(parts_.slot);
  parts_.executor.wait(timeout, left);
}

// Collects the ends of jobs.
void LeaseRun::collect() {
  for (JobEnd& one : parts_.executor.take()) {
    if (one.error) std::rethrow_exception(one.error);
    if (one.job.sole) sole_runs_ = false;
    for (std::size_t i = 0; i < one.job.tasks.size(); ++i) {
      block_.collected(one.job.tasks[i]);
      follow_with(after(one.job.tasks[i], one.tasks[i], one.job));
    }
    put_back(one);
  }
}

LeaseRun::Next LeaseRun::after(const queue::Task& task, const TaskEnd& end, const Job& job) {
  using Result = TaskEnd::Result;
  switch (end.result) {
    case Result::kNothing:
    case Result::kByItself:
    case Result::kWritten:
    case Result::kFinished:
      return Next::kContinue;
    case Result::kUnknownType:
      starter_.not_started(job);
      if (!queue_.in_order()) {
        unknown_.add(task);
        return Next::kContinue;
      }
      deferral_ = unknown_.defer_partition(task);
      return Next::kLeave;
    case Result::kPartitionWaits:
      deferral_ = {end.partition_wait, task.key};
      return Next::kLeave;
    case Result::kDetached:
      // A detached task with neighbours left the lease to them.
      return job.sole ? Next::kDetached : Next::kContinue;
    case Result::kLeaseGone:
      break;
  }
  return Next::kLeave;
}

// Tasks of a job that have not ended come next: first those that have to run alone, one of which
// runs in this lease, or the next lease would only repeat the call.
void LeaseRun::put_back(JobEnd& end) {
  using Result = TaskEnd::Result;
  for (const Result left : {Result::kNothing, Result::kByItself}) {
    for (std::size_t i = end.job.tasks.size(); i-- > 0;) {
      if (end.tasks[i].result != left) continue;
      const bool called = left == Result::kByItself;
      block_.put_back(std::move(end.job.tasks[i]), called);
      starter_.not_started(end.job, called);
    }
  }
}

void run_leases(const BlockParts& parts) {
  Executor::Need need;  // of the task that the next lease has to wait for
  const auto wait = [&] {
    const process::SlotWriter::Guard guard(parts.slot);
    parts.executor.wait(Executor::kPollEvery);
  };
  while (!parts.done()) {
    parts.slot.beat();
    parts.recovery.run_due();
    // Between two leases only detached tasks run.
    for (const JobEnd& end : parts.executor.take()) {
      if (end.error) std::rethrow_exception(end.error);
    }
    if (!parts.executor.ready_for(need)) {
      wait();
      continue;
    }
    need = {};
    if (auto found = parts.finder.next()) need = LeaseRun(parts, std::move(*found)).run();
  }
  while (!parts.executor.all_idle()) {
    wait();
    static_cast<void>(parts.executor.take());
  }
  parts.slot.set_state(ipc::WorkerState::kStopping);
}

}  // namespace allot::worker
