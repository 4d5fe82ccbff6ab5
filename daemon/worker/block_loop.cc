// SPDX-License-Identifier: Apache-2.0
#include "worker/block_loop.h"

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/mutant.h"
#include "log/log.h"
#include "worker/fenced.h"
#include "worker/stop_request.h"

namespace allot::worker {
namespace {

// A finished task waits no longer than this for its acknowledgement, however slow its neighbours
// are.
constexpr Nanos kAckWithin = 100 * kMilli;
// How long one lease waits, once, for a careful task of another partition.
constexpr std::chrono::seconds kTurnPatience{10};
// S14, where the order must be kept: the same time for which defer.sql puts a task aside.
constexpr std::chrono::seconds kHoldUnknown{30};

std::string id_text(const queue::Lease& lease, const queue::Task& task) {
  return queue::TaskId{lease.partition, task.key.prio, task.id_key()}.text();
}

class TurnEnd {
 public:
  explicit TurnEnd(CarefulTurn& turn) : turn_(turn) {}
  TurnEnd(const TurnEnd&) = delete;
  TurnEnd& operator=(const TurnEnd&) = delete;
  ~TurnEnd() { turn_.end(); }

 private:
  CarefulTurn& turn_;
};

}  // namespace

void BlockLoop::run(const std::function<void()>& between_leases) {
  while (!done()) {
    slot_.beat();
    recovery_.look();
    if (between_leases) between_leases();
    if (crew_ != nullptr && !room_for_a_lease()) continue;
    if (auto block = finder_.next()) work(std::move(*block));
  }
  if (crew_ != nullptr) wait_for_all();
  slot_.set_state(ipc::WorkerState::kStopping);
}

bool BlockLoop::done() {
  if (lifetime_ != nullptr) lifetime_->look();
  return leaving();
}

void BlockLoop::ran(std::size_t tasks) {
  if (lifetime_ != nullptr) lifetime_->ran(tasks);
}

void BlockLoop::work(queue::Block block) {
  const queue::Lease& lease = block.lease;
  const ServedQueue& queue = *finder_.served(lease.partition.queue_id);
  const Nanos until_ns =
      boot_ns() + static_cast<Nanos>(queue.settings->block_seconds.count()) * kMilli;
  careful_.reset();
  patient_ = true;
  fetched_ns_ = boot_ns();
  hold_ = {};
  if (lease.suspects && !mutant::removed("careful_mode")) careful_ = Careful{*lease.suspects, {}};
  std::vector<queue::Task> tasks = std::move(block.tasks);
  for (;;) {
    const bool full = tasks.size() == queue.settings->block_size;
    const Next next = run_block(lease, queue, tasks, until_ns);
    if (next == Next::kDetached && !mutant::removed("block_after_detach")) return forget_block();
    if (next == Next::kLeave) break;
    defer_unknown(lease);
    if (careful_ && !keeper_.lost()) settle_suspects(lease);
    if (keeper_.lost()) break;
    // A block that was not full emptied the partition, unless somebody has submitted since: no
    // scout sees those tasks while the partition is leased.
    if ((!full && !finder_.rung_since_fetch()) || boot_ns() >= until_ns) break;
    // A lease must not see a task again that it had detached (queue/detached_store).
    if (keeper_.any_detached() && !mutant::removed("lease_after_detach")) break;
    tasks = ack_and_fetch(lease, queue);
    if (tasks.empty()) break;
  }
  defer_unknown(lease);
  finish(lease);
}

BlockLoop::Next BlockLoop::run_block(const queue::Lease& lease, const ServedQueue& queue,
                                     std::vector<queue::Task>& tasks, Nanos until_ns) {
  const Next next = start_tasks(lease, queue, tasks, until_ns);
  if (crew_ == nullptr || next == Next::kDetached) return next;
  const Next last = wait_for_block(lease);
  return next != Next::kGoOn ? next : last;
}

BlockLoop::Next BlockLoop::start_tasks(const queue::Lease& lease, const ServedQueue& queue,
                                       std::vector<queue::Task>& tasks, Nanos until_ns) {
  bool first = true;
  std::size_t alone = 0;  // tasks before this index were in a call that failed
  for (std::size_t at = 0; at < tasks.size();) {
    if (crew_ != nullptr) {
      const Next next = make_way(lease, queue, tasks[at]);
      if (next != Next::kGoOn) return next;
    }
    if (done()) return Next::kLeave;
    // S5: the last look before a handler starts. At least one task runs in every lease.
    if (!keeper_.valid() || (!first && boot_ns() >= until_ns)) return Next::kLeave;
    if (!slot_.may_start()) return Next::kLeave;
    first = false;
    const std::size_t count = at < alone ? 1 : gather(queue, tasks, at);
    if (count == 1) {
      const Next next = run_one(lease, queue, tasks[at++]);
      ran(1);
      if (next != Next::kGoOn) return next;
    } else {
      const Gathered gathered = run_gathered(lease, queue, std::span(tasks).subspan(at, count));
      ran(gathered.ended);
      if (gathered.next != Next::kGoOn) return gathered.next;
      at += gathered.ended;
      alone = at + gathered.alone;
      // Run one of them now, or the next lease would only repeat the call.
      first = gathered.alone > 0;
      if (first) continue;
    }
    if (finder_.claim_urgent()) return Next::kLeave;
    ack_in_time(lease);
  }
  return Next::kGoOn;
}

void BlockLoop::ack_in_time(const queue::Lease& lease) {
  if (!finished_.empty() && boot_ns() - oldest_finished_ns_ > kAckWithin) ack(lease);
}

bool BlockLoop::careful_with(const queue::Task& task) const {
  return suspect(task) || (task.flags & queue::kSuspectFlag) != 0;
}

BlockLoop::Next BlockLoop::run_one(const queue::Lease& lease, const ServedQueue& queue,
                                   queue::Task& task) {
  finder_.seen(task.key.run_key);
  const bool suspected = suspect(task);
  const bool careful = careful_with(task);
  if (crew_ != nullptr && !careful && !need_of(queue, task).partition) {
    return hand_out(lease, queue, task);
  }
  std::optional<TurnEnd> turn;  // until its acknowledgement its attempt is written down
  if (careful) {
    // Finished neighbours must not run again because of it.
    if (!mutant::removed("ack_before_careful")) ack(lease);
    turn.emplace(careful_turn_);
    if (!wait_for_turn(task)) return Next::kLeave;
  }
  const auto result = crew_ != nullptr ? run_alone(lease, queue, task)
                      : expired(task)  ? runner_.expire(lease, queue, task)
                                       : runner_.run(lease, queue, task, careful, finished_);
  task.payload.reset();  // one has 16 MiB at most, but a block may have many
  const auto held_for = crew_ != nullptr ? held_for_ : runner_.held_for();
  const Next next = ended(lease, queue, task, result, held_for);
  if (next != Next::kGoOn) return next;
  if (suspected) ++careful_->verdicts[task.key.prio];
  if (careful) ack(lease);
  return Next::kGoOn;
}

BlockLoop::Next BlockLoop::ended(const queue::Lease& lease, const ServedQueue& queue,
                                 const queue::Task& task, TaskRun::Result result,
                                 std::chrono::microseconds held_for) {
  switch (result) {
    case TaskRun::Result::kFinished:
      if (finished_.empty()) oldest_finished_ns_ = boot_ns();
      finished_.push_back(queue::finished(task));
      break;
    case TaskRun::Result::kUnknownType:
      slot_.not_started();
      if (lifetime_ != nullptr) lifetime_->ran_none();
      if (queue.in_order()) return hold_unknown(lease, task);
      unknown_.push_back(task);
      unknown_.back().payload.reset();
      break;
    case TaskRun::Result::kHeld:
      hold_ = {held_for, task.key};
      return Next::kLeave;
    case TaskRun::Result::kWritten:
      break;
    case TaskRun::Result::kDetached:
      return Next::kDetached;
    case TaskRun::Result::kLeaseGone:
      return Next::kLeave;
  }
  return Next::kGoOn;
}

// A task that was charged before waits for its turn; others do not, or the tasks of a lost host
// would start again one after the other. So an innocent task is charged once beside a cause, and
// then no more. False: this worker has to leave.
bool BlockLoop::wait_for_turn(const queue::Task& task) {
  if (task.attempt == 0) return true;
  const SlotWriter::Guard guard(slot_);
  if (patient_) patient_ = careful_turn_.take(kTurnPatience);
  return !leaving();
}

// A task that was tried before has begun (A14).
bool BlockLoop::expired(const queue::Task& task) const {
  if (!task.expires_in || task.attempt > 0) return false;
  return boot_ns() - fetched_ns_ >= static_cast<Nanos>(task.expires_in->count()) * kMicro;
}

bool BlockLoop::suspect(const queue::Task& task) const {
  return careful_ && task.key.run_key <= careful_->suspects.to_key &&
         careful_->verdicts[task.key.prio] < careful_->suspects.per_class;
}

// S7: the worker stays careful until, in every class, the tasks of the dead holder's block have
// their verdicts or are gone.
void BlockLoop::settle_suspects(const queue::Lease& lease) {
  ack(lease);
  std::vector<std::uint32_t> open;
  for (std::uint32_t prio = 0; prio < queue::kPrioClasses; ++prio) {
    if (careful_->verdicts[prio] < careful_->suspects.per_class) open.push_back(prio);
  }
  const bool left =
      session_.call([&](db::Connection& db) { return queue::suspects_left(db, lease, open); });
  if (left) return;
  const bool cleared = fenced(session_, keeper_, lease, "clear_suspects",
                              [&](db::Connection& db) { return queue::clear_suspects(db, lease); });
  if (!cleared) return;
  log::info("lease.suspects_cleared", {{"partition", lease.partition.partition_no}});
  careful_.reset();
}

// Tasks behind it may have the same key, so it stays where it is and the partition waits.
BlockLoop::Next BlockLoop::hold_unknown(const queue::Lease& lease, const queue::Task& task) {
  hold_ = {kHoldUnknown, task.key};
  slot_.raw().tasks_deferred.fetch_add(1, std::memory_order_relaxed);
  const bool marked = (task.flags & queue::kNoHandlerFlag) != 0;
  if (marked || fenced(session_, keeper_, lease, "no_handler", [&](db::Connection& db) {
        return queue::mark_unknown(db, lease, task.key);
      })) {
    log_unknown(lease, task.type, id_text(lease, task), 1);
  }
  return Next::kLeave;
}

void BlockLoop::defer_unknown(const queue::Lease& lease) {
  const auto unknown = std::exchange(unknown_, {});
  if (unknown.empty() || keeper_.lost()) return;
  std::vector<queue::TaskKey> keys;
  std::map<std::string, std::vector<const queue::Task*>> by_type;
  for (const queue::Task& task : unknown) {
    keys.push_back(task.key);
    by_type[task.type].push_back(&task);
    if (on_unknown_) on_unknown_({lease.partition, task.key.prio, task.id_key()}, task.type);
  }
  const bool deferred = fenced(session_, keeper_, lease, "defer",
                               [&](db::Connection& db) { return queue::defer(db, lease, keys); });
  if (!deferred) return;
  slot_.raw().tasks_deferred.fetch_add(unknown.size(), std::memory_order_relaxed);
  for (const auto& [type, tasks] : by_type) {
    log_unknown(lease, type, id_text(lease, *tasks.front()), tasks.size());
  }
}

// One line for all tasks of a type in the block, so that the log stays readable.
void BlockLoop::log_unknown(const queue::Lease& lease, const std::string& type,
                            const std::string& first, std::size_t tasks) {
  log::warn("task.no_handler", {{"task", first},
                                {"type", type},
                                {"queue", finder_.served(lease.partition.queue_id)->info.name},
                                {"partition", lease.partition.partition_no},
                                {"tasks", tasks},
                                {"again_in", "30s"}});
}

void BlockLoop::ack(const queue::Lease& lease) {
  if (finished_.empty()) return;
  session_.call([&](db::Connection& db) {
    queue::ack(db, lease.partition, finished_);
    return true;
  });
  acked();
}

std::vector<queue::Task> BlockLoop::ack_and_fetch(const queue::Lease& lease,
                                                  const ServedQueue& queue) {
  finder_.fetching();
  auto tasks = session_.call([&](db::Connection& db) {
    return queue::ack_and_fetch(db, lease.partition, finished_, finder_.fetch_spec(queue));
  });
  fetched_ns_ = boot_ns();
  acked();
  return tasks;
}

void BlockLoop::acked() {
  if (crew_ == nullptr) {
    slot_.clear_finished();
  } else {
    slot_.drop_finished(finished_);
  }
  finished_.clear();
}

// The detach acknowledged the finished tasks and released the partition. The rest was never marked.
void BlockLoop::forget_block() {
  unknown_.clear();
  acked();
  finder_.forget_lease();
}

void BlockLoop::finish(const queue::Lease& lease) {
  keeper_.releasing();
  const std::uint64_t generation = session_.generation();
  int tries = 0;
  const bool released = session_.call([&](db::Connection& db) {
    // While somebody locks the lease's row, or one of the tasks, neither would ever be written.
    // Finished tasks need no lease to be acknowledged (S6), and must not run again for want of one.
    if (++tries > 1) {
      queue::ack(db, lease.partition, finished_);
      acked();
    }
    return queue::ack_and_release(db, lease, finished_, hold_);
  });
  // The first try may have succeeded: its reply was lost, not the lease.
  if (!released && session_.generation() == generation) keeper_.lose(lease, "release");
  keeper_.drop();
  acked();
  finder_.forget_lease();
  log::debug(
      "release",
      {{"partition", lease.partition.partition_no}, {"epoch", lease.epoch}, {"held", released}});
}

}  // namespace allot::worker
