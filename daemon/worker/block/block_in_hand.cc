// SPDX-License-Identifier: Apache-2.0
#include "worker/block/block_in_hand.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/mutant.h"
#include "log/log.h"
#include "meter/record.h"
#include "plugin_host/abi_check.h"
#include "process/stop_request.h"
#include "queue/verbs/deferred.h"
#include "queue/verbs/rated.h"
#include "worker/lease/fenced.h"

namespace allot::worker {
namespace {

// A finished task waits no longer than this for its acknowledgement, however slow its neighbours
// are.
constexpr Nanos kAckWithin = 100 * kMilli;
constexpr Nanos kAckPatience = 20 * kMilli;  // extension while threads would have to wait
// How long one lease waits, once, for a careful task of another partition.
constexpr std::chrono::seconds kTurnPatience{10};
// S65, in ordered queues: the same time as in defer.sql.
constexpr std::chrono::seconds kHoldUnknown{30};
// While tasks run: a free place waits no longer than kFillWithin if more tasks are known. If none
// are known, and the bell is silent, the lease polls for due tasks every kFillLook.
constexpr Nanos kFillWithin = 2 * kMilli;
constexpr Nanos kFillLook = 250 * kMilli;
// Time for an idle worker to take waiting work, before a lease that could continue ends for it.
constexpr Nanos kIdlePatience = 50 * kMilli;

std::string id_text(const queue::Lease& lease, const queue::Task& task) {
  return queue::TaskId{lease.partition, task.key.prio, task.id_key()}.text();
}

bool careful_with(const queue::Task& task) {
  return (task.flags & queue::kSuspectFlag) != 0;
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

bool BlockInHand::Parts::done() const {
  if (lifetime != nullptr) lifetime->check();
  return leaving();
}

BlockInHand::BlockInHand(const Parts& parts, Finder::Found found)
    : parts_(parts),
      lease_(found.block.lease),
      served_(parts.finder.served(lease_.partition.queue_id)),
      queue_(*served_),
      share_(found.share),
      block_size_(share_ != 0 ? share_ : queue_.settings->block_size),
      until_ns_(boot_ns() + in_nanos(queue_.settings->block_seconds)),
      tasks_(std::move(found.block.tasks)),
      fetched_ns_(boot_ns()),
      grant_(found.grant),
      full_(full(tasks_.size())),
      deferred_(found.deferred) {}

Executor::Need BlockInHand::work() {
  if (lease_.suspects && !mutant::removed("careful_mode") && !mark_suspects()) {
    finish();
    return {};
  }
  start_with_deferred();
  for (;;) {
    const Next next = run_block();
    if (next == Next::kDetached && !mutant::removed("block_after_detach")) {
      forget();
      return {};
    }
    mark_called();
    if (next == Next::kLeave) break;
    defer_unknown();
    if (parts_.keeper.lost()) break;
    if (boot_ns() >= until_ns_) break;
    // A lease must not see a task again that it had detached (queue/detached_store).
    if (parts_.keeper.any_detached() && !mutant::removed("lease_after_detach")) break;
    if (!grant_.more(boot_ns())) break;
    // A block that was not full emptied the partition, unless tasks were submitted since: no scout
    // sees those tasks while the partition is leased.
    if (!call_forward() && !full_ && !parts_.finder.rung_since_fetch()) break;
    fetch_more();
    if (tasks_.empty()) break;
  }
  defer_unknown();
  finish();
  return need_;
}

// S7: the mark is on the task, so that careful mode lasts exactly as long as these tasks need,
// however many leases that takes. False: the lease is gone.
bool BlockInHand::mark_suspects() {
  queue::Suspects named = *lease_.suspects;
  if (mutant::removed("careful_bound")) named.per_class = UINT32_MAX;
  const auto suspects = parts_.session.call(
      [&](db::Connection& db) { return queue::find_suspects(db, lease_.partition, named); });
  const bool marked =
      fenced(parts_.session, parts_.keeper, lease_, "mark_suspects",
             [&](db::Connection& db) { return queue::mark_suspects(db, lease_, suspects); });
  if (!marked) return false;
  for (queue::Task& task : tasks_) {
    const bool suspect =
        std::any_of(suspects.begin(), suspects.end(),
                    [&](const queue::Suspect& one) { return one.key == task.key; });
    if (suspect) task.flags |= queue::kSuspectFlag;
  }
  log::info("lease.suspects_marked",
            {{"partition", lease_.partition.partition_no}, {"tasks", suspects.size()}});
  return true;
}

// Handles tasks of a failed call that have not run alone when the block ends. The next lease does
// not know about the call. If the grant has no start for any of them, it would repeat the call as
// long as that fails; a suspect runs alone (S61).
void BlockInHand::mark_called() {
  if (by_itself_ == 0 || parts_.keeper.lost()) return;
  const bool suspected = !grant_.may_start(boot_ns()) && !mutant::removed("suspect_uncharged");
  std::vector<queue::TaskKey> keys;
  for (std::size_t i = next_; i < tasks_.size() && keys.size() < by_itself_; ++i) {
    if (suspected || tasks_[i].expires_in) keys.push_back(tasks_[i].key);
  }
  if (keys.empty()) return;
  const bool marked =
      fenced(parts_.session, parts_.keeper, lease_, "mark_called",
             [&](db::Connection& db) { return queue::mark_called(db, lease_, keys, suspected); });
  if (marked && suspected) by_itself_ = 0;
}

// Whether the partition may have more tasks than were fetched.
bool BlockInHand::full(std::size_t fetched) const {
  return grant_.limited() ? grant_.full(fetched) : fetched >= block_size_;
}

bool BlockInHand::one_at_a_time() const {
  return queue_.in_order() || (queue_.exclusive() && share_ < 2);
}

BlockInHand::Next BlockInHand::run_block() {
  Next next = start_jobs();
  while (next == Next::kGoOn && fetches_ahead()) {
    next = wait_for_most();
    if (next != Next::kGoOn || !fetches_ahead()) break;
    fetch_ahead();
    next = start_jobs();
  }
  while (next == Next::kGoOn && fills_up() && parts_.executor.in_partition() > 0) next = fill_up();
  if (next == Next::kDetached) return next;
  const Next last = wait_for_all();
  if (next != Next::kGoOn) return next;
  // A call that failed at the very end has left tasks which have to run alone.
  const bool again = next_ < tasks_.size() && grant_.may_start(boot_ns());
  return last == Next::kGoOn && again ? run_block() : last;
}

BlockInHand::Next BlockInHand::start_jobs() {
  while (next_ < tasks_.size()) {
    const Executor::Need need = need_of(tasks_[next_]);
    if (const Next next = make_way(need); next != Next::kGoOn) return next;
    if (parts_.done()) return Next::kLeave;
    // S5: the last check before a handler starts. At least one task runs in every lease.
    if (!parts_.keeper.valid()) return Next::kLeave;
    if (!first_ && boot_ns() >= until_ns_ && !goes_on()) return Next::kLeave;
    // The remaining tasks wait for the next grant, and are fetched with it.
    if (!grant_.may_start(boot_ns())) return Next::kGoOn;
    if (!parts_.slot.may_start()) return Next::kLeave;
    if (const Next next = start_job(need); next != Next::kGoOn) return next;
    if (first_) continue;
    // Running tasks may keep this worker for long; goes_on() checks for other work.
    const bool beside = fills_up() && parts_.executor.in_partition() > 0;
    if (!beside && parts_.finder.claim_urgent()) {
      parts_.executor.recall();
      return Next::kLeave;
    }
    // Threads that wait for a job come first: once none waits, make_way() acknowledges. For
    // kAckPatience only, because with short tasks there may always be one.
    const bool first_jobs = ack_is_due(kAckWithin) && !ack_is_due(kAckWithin + kAckPatience) &&
                            parts_.executor.in_partition() > 0 && parts_.executor.ready_for(need);
    if (!first_jobs) ack_in_time();
  }
  return Next::kGoOn;
}

// One poll while tasks run. Running tasks count in the fetch: they are the head of the partition,
// so that a takeover finds them there (S7).
BlockInHand::Next BlockInHand::fill_up() {
  if (is_over()) return Next::kLeave;
  const Nanos now = boot_ns();
  if (may_fetch(now)) {
    defer_unknown();
    fetch_more();
    return start_jobs();
  }
  {
    const SlotWriter::Guard guard(parts_.slot);
    const bool soon = in_hand_.size() < share_ && now - fetched_ns_ < kFillWithin;
    parts_.executor.wait(soon ? std::chrono::milliseconds(1) : Executor::kLook);
  }
  const Next next = collect();
  ack_in_time();
  return next;
}

// Not for every single place: each fetch reads the running tasks again.
bool BlockInHand::may_fetch(Nanos now) const {
  if (in_hand_.size() >= share_ || !grant_.may_ask(now)) return false;
  const Nanos age = now - fetched_ns_;
  const bool half = in_hand_.size() * 2 <= share_ && !grant_.limited();
  if (full_ || parts_.finder.rung_since_fetch()) return half || age >= kFillWithin;
  return age >= kFillLook;
}

// Whether no further task may start in this lease.
bool BlockInHand::is_over() {
  if (parts_.done() || !parts_.keeper.valid()) return true;
  return boot_ns() >= until_ns_ && !goes_on();
}

// Running tasks keep the lease beyond its time. New tasks may therefore start next to them if the
// worker would get the same lease again, and no other work waits for this worker.
bool BlockInHand::goes_on() {
  if (!fills_up() || parts_.executor.in_partition() == 0) return false;
  if (parts_.look) parts_.look();
  if (!parts_.finder.same_again(lease_.partition, share_, grant_.limited())) return false;
  const bool others_wait = parts_.finder.others_wait();
  if (others_wait && others_waited_) return false;
  others_waited_ = others_wait;
  until_ns_ = boot_ns() + (others_wait ? kIdlePatience : in_nanos(queue_.settings->block_seconds));
  return true;
}

Executor::Need BlockInHand::need_of(const queue::Task& task) const {
  const plugin_host::LoadedHandler* handler = parts_.registry.find(task.type);
  const bool serial = handler != nullptr && handler->handler->concurrent == 0;
  Executor::Need need = {serial, one_at_a_time(), careful_with(task), share_};
  need.may_wait = handler != nullptr && !serial && !need.partition && !need.worker && share_ == 0 &&
                  plugin_host::max_batch(*handler->handler) == 1 && !grant_.limited();
  return need;
}

// Waits until the next task may start.
BlockInHand::Next BlockInHand::make_way(const Executor::Need& need) {
  for (;;) {
    if (const Next next = collect(); next != Next::kGoOn) return next;
    // When this is true, the blocking jobs have ended: a task that runs alone starts only after
    // they are collected.
    if (parts_.executor.ready_for(need)) return collect();
    if (leaving() || !parts_.keeper.valid()) return Next::kLeave;
    if (parts_.executor.in_partition() == 0) {
      // The blocking task has left the partition, and may run for long: the rest is for other
      // workers.
      need_ = need;
      return Next::kLeave;
    }
    ack_in_time();
    const SlotWriter::Guard guard(parts_.slot);
    parts_.executor.wait(Executor::kLook);
  }
}

// Runs one task, or several in one call. With InThisThread it has ended when this returns.
BlockInHand::Next BlockInHand::start_job(const Executor::Need& need) {
  const queue::TaskKey key = tasks_[next_].key;
  std::optional<TurnEnd> turn;  // held until the task is acknowledged
  if (need.worker) {
    // Finished neighbours must not run again because of it.
    if (!mutant::removed("ack_before_careful")) ack();
    turn.emplace(parts_.careful_turn);
    if (!wait_for_turn(tasks_[next_])) return Next::kLeave;
  }
  Job job = next_job(need);
  job.careful = need.worker;
  if (parts_.lifetime != nullptr) parts_.lifetime->ran(job.tasks.size());
  alone_runs_ = need.partition || need.worker;
  parts_.executor.start(std::move(job), need);
  Next next = collect();
  while (alone_runs_) {
    {
      const SlotWriter::Guard guard(parts_.slot);
      parts_.executor.wait(Executor::kLook);
    }
    if (const Next after = collect(); next == Next::kGoOn) next = after;
  }
  if (next != Next::kGoOn || !need.worker) return next;
  const bool put_back = next_ < tasks_.size() && tasks_[next_].key == key;
  if (!put_back) ack();
  return Next::kGoOn;
}

// Number of tasks like this one that may go into one call, including it. 1: it runs alone.
std::size_t BlockInHand::most_like(const queue::Task& task) const {
  if (queue_.exclusive() || queue_.in_order()) return 1;  // one task of a partition at a time (S16)
  if (by_itself_ > 0 || !task.payload || careful_with(task)) return 1;
  const plugin_host::LoadedHandler* handler = parts_.registry.find(task.type);
  if (handler == nullptr) return 1;
  const std::size_t room =
      parts_.lifetime == nullptr ? queue_.settings->block_size : parts_.lifetime->room();
  const std::uint64_t taken = plugin_host::max_batch(*handler->handler);
  return std::min({static_cast<std::size_t>(std::min<std::uint64_t>(taken, ipc::kMaxRunning)), room,
                   grant_.left(), parts_.executor.max_batch()});
}

// The next task, and those after it that go into one call with it. The others keep their order.
Job BlockInHand::next_job(const Executor::Need& need) {
  Job job{.lease = lease_, .queue = &queue_, .fetched_ns = fetched_ns_};
  job.start_by_ns = grant_.start_by_ns();
  if (!std::exchange(first_, false) && need.may_wait) {
    job.start_by_ns = std::min(job.start_by_ns, until_ns_);
  }
  job.finished = finished_;
  const std::size_t most = most_like(tasks_[next_]);
  job.tasks.push_back(std::move(tasks_[next_++]));
  if (by_itself_ > 0) --by_itself_;
  const auto joins = [&](const queue::Task& task) {
    return task.type == job.tasks.front().type && task.payload && !careful_with(task);
  };
  std::size_t kept = next_;
  for (std::size_t i = next_; most > 1 && i < tasks_.size(); ++i) {
    if (job.tasks.size() < most && joins(tasks_[i]) && parts_.slot.may_start()) {
      job.tasks.push_back(std::move(tasks_[i]));
    } else if (kept++ != i) {
      tasks_[kept - 1] = std::move(tasks_[i]);
    }
  }
  if (most > 1) tasks_.resize(kept);
  for (const queue::Task& task : job.tasks) {
    parts_.finder.seen(task.key.run_key);
    in_hand_.started(task.key);
  }
  grant_.start(job.tasks.size(), boot_ns());
  return job;
}

// Undoes the accounting for a task that did not start after all.
void BlockInHand::uncount() {
  parts_.slot.not_started();
  if (parts_.lifetime != nullptr) parts_.lifetime->ran_none();
}

// Its handler was not called, so the grant gets its start back. An earlier grant has lapsed.
void BlockInHand::not_started(const Job& job) {
  uncount();
  if (job.start_by_ns == grant_.start_by_ns()) grant_.not_started(1);
}

// Tasks of a job that have not ended come next: first those that have to run alone, one of which
// runs in this lease, or the next lease would only repeat the call.
void BlockInHand::put_back(Job& job, const std::vector<TaskEnd>& ends) {
  for (const Result left : {Result::kNothing, Result::kByItself}) {
    for (std::size_t i = job.tasks.size(); i-- > 0;) {
      if (ends[i].result != left) continue;
      // S61: a failed call counts as a call.
      const bool called = left == Result::kByItself && !mutant::removed("charge_failed_call");
      called ? uncount() : not_started(job);
      tasks_.insert(tasks_.begin() + static_cast<std::ptrdiff_t>(next_), std::move(job.tasks[i]));
      if (left != Result::kByItself) continue;
      ++by_itself_;
      first_ = true;
    }
  }
}

// Collects the ends of jobs. The first end that requires it ends the block.
BlockInHand::Next BlockInHand::collect() {
  Next next = Next::kGoOn;
  for (JobEnd& one : parts_.executor.take()) {
    if (one.error) std::rethrow_exception(one.error);
    if (one.job.alone) alone_runs_ = false;
    for (std::size_t i = 0; i < one.job.tasks.size(); ++i) {
      in_hand_.collected(one.job.tasks[i].key);
      const Next after = ended(one.job.tasks[i], one.tasks[i], one.job);
      if (next == Next::kGoOn) next = after;
    }
    put_back(one.job, one.tasks);
  }
  return next;
}

BlockInHand::Next BlockInHand::ended(const queue::Task& task, const TaskEnd& end, const Job& job) {
  switch (end.result) {
    case Result::kNothing:
    case Result::kByItself:
    case Result::kWritten:
      return Next::kGoOn;
    case Result::kFinished:
      if (finished_.empty()) oldest_finished_ns_ = boot_ns();
      finished_.push_back(queue::finished(task));
      return Next::kGoOn;
    case Result::kUnknownType:
      not_started(job);
      if (queue_.in_order()) return hold_unknown(task);
      unknown_.push_back(task);
      unknown_.back().payload.reset();
      return Next::kGoOn;
    case Result::kHeld:
      hold_ = {end.hold, task.key};
      return Next::kLeave;
    case Result::kDetached:
      // A detached task with neighbours left the lease to them.
      return job.alone ? Next::kDetached : Next::kGoOn;
    case Result::kLeaseGone:
      break;
  }
  return Next::kLeave;
}

// Whether the next block is fetched while the last tasks of this one run: with short tasks, the
// threads would wait longer for the block than for the tasks.
bool BlockInHand::fetches_ahead() const {
  if (!full_ || kept_back() == 0 || !parts_.executor.quick() || grant_.limited()) return false;
  if (one_at_a_time() || queue_.exclusive() || !unknown_.empty()) return false;
  if (next_ < tasks_.size() || by_itself_ > 0 || leaving() || boot_ns() >= until_ns_) return false;
  // As for any further block of a lease, see work().
  return parts_.keeper.valid() && !parts_.keeper.any_detached();
}

// Number of tasks of a block that may be in hand when the next one is fetched, which is that much
// smaller.
std::size_t BlockInHand::kept_back() const {
  return block_size_ / 4;
}

// Waits until no more tasks are in hand than kept_back(). It collects before the check: all may
// have ended before this call, and uncollected tasks would only be fetched again.
BlockInHand::Next BlockInHand::wait_for_most() {
  for (;;) {
    const Next next = collect();
    ack_in_time();
    if (next != Next::kGoOn || !fetches_ahead()) return next;
    if (parts_.executor.in_partition() <= kept_back()) return next;
    const SlotWriter::Guard guard(parts_.slot);
    parts_.executor.wait_until_left(kept_back(), Executor::kLook);
  }
}

// Waits until the rest of the block has ended or left the partition: idle threads count like idle
// workers, so tasks leave early. If a stop was requested, the worker does not detach: it costs two
// writes.
BlockInHand::Next BlockInHand::wait_for_all() {
  Next next = Next::kGoOn;
  while (parts_.executor.in_partition() > 0) {
    parts_.keeper.make_room(asked() != Asked::kStop && parts_.executor.waiting() == 0);
    {
      const SlotWriter::Guard guard(parts_.slot);
      parts_.executor.wait_until_left(0, Executor::kLook);
    }
    const Next after = collect();
    if (next == Next::kGoOn) next = after;
    ack_in_time();
  }
  parts_.keeper.make_room(false);
  const Next last = collect();
  return next != Next::kGoOn ? next : last;
}

// A task that was charged before waits for its turn; others do not, or the tasks of a lost host
// would start again one after the other. An innocent task is therefore charged once together with a
// cause, and not again. False: this worker has to leave.
bool BlockInHand::wait_for_turn(const queue::Task& task) {
  if (task.attempt == 0) return true;
  const SlotWriter::Guard guard(parts_.slot);
  if (patient_) patient_ = parts_.careful_turn.take(kTurnPatience);
  return !leaving();
}

// Later tasks may have the same key, so the task stays in its place and the partition waits.
BlockInHand::Next BlockInHand::hold_unknown(const queue::Task& task) {
  hold_ = {kHoldUnknown, task.key};
  parts_.slot.count(meter::Count::kDeferred, queue_.info.name, task.type);
  if (fenced(parts_.session, parts_.keeper, lease_, "no_handler",
             [&](db::Connection& db) { return queue::mark_unknown(db, lease_, task.key); })) {
    log_unknown(task.type, id_text(lease_, task), 1);
  }
  return Next::kLeave;
}

void BlockInHand::defer_unknown() {
  const auto unknown = std::exchange(unknown_, {});
  if (unknown.empty() || parts_.keeper.lost()) return;
  std::vector<queue::TaskKey> keys;
  std::map<std::string, std::vector<const queue::Task*>> by_type;
  for (const queue::Task& task : unknown) {
    keys.push_back(task.key);
    by_type[task.type].push_back(&task);
    if (parts_.on_unknown) {
      parts_.on_unknown({lease_.partition, task.key.prio, task.id_key()}, task.type);
    }
  }
  const bool deferred = fenced(parts_.session, parts_.keeper, lease_, "defer",
                               [&](db::Connection& db) { return queue::defer(db, lease_, keys); });
  if (!deferred) return;
  for (const queue::Task& task : unknown) {
    parts_.slot.count(meter::Count::kDeferred, queue_.info.name, task.type);
  }
  for (const auto& [type, tasks] : by_type) {
    log_unknown(type, id_text(lease_, *tasks.front()), tasks.size());
  }
}

// S66: requeues deferred tasks that have a handler here, up to the size of a block, before the
// tasks that this lease has not fetched yet. In an ordered queue the task kept its place. True:
// some are due now. Tasks of a failed call have to run first.
bool BlockInHand::call_forward() {
  if (!deferred_ || by_itself_ > 0 || parts_.keeper.lost()) return false;
  deferred_ = false;
  std::uint32_t room = block_size_;
  const auto types = parts_.session.call(
      [&](db::Connection& db) { return queue::deferred_types(db, lease_.partition); });
  for (const queue::DeferredType& type : types) {
    if (parts_.registry.find(type.type) == nullptr) continue;
    if (room == 0) {
      deferred_ = true;
      break;
    }
    std::vector<queue::DeferredTask> tasks;
    if (!queue_.in_order()) {
      tasks = parts_.session.call(
          [&](db::Connection& db) { return queue::find_deferred(db, lease_, type, room); });
    }
    const bool more = tasks.size() == room;
    const bool forward = fenced(
        parts_.session, parts_.keeper, lease_, "call_forward",
        [&](db::Connection& db) { return queue::call_forward(db, lease_, type, tasks, more); });
    if (!forward) return false;
    room -= static_cast<std::uint32_t>(tasks.size());
    deferred_ = deferred_ || more;
    if (tasks.empty()) continue;
    log::info("task.called_forward", {{"type", type.type},
                                      {"queue", queue_.info.name},
                                      {"partition", lease_.partition.partition_no},
                                      {"tasks", tasks.size()}});
  }
  return room < block_size_;
}

// Requeued tasks are the new head of the partition, and running tasks have to be at the head (S7):
// the fetched tasks are fetched again, as many as are granted.
void BlockInHand::start_with_deferred() {
  if (!call_forward()) return;
  if (grant_.limited() && tasks_.empty()) {
    fetch_more();
    return;
  }
  full_ = true;
  if (mutant::removed("deferred_refetch")) return;
  queue::FetchSpec spec = fetch_spec();
  if (grant_.limited()) spec.block_size = static_cast<std::uint32_t>(tasks_.size());
  tasks_ = parts_.session.call(
      [&](db::Connection& db) { return queue::fetch(db, lease_.partition, spec); });
  fetched_ns_ = boot_ns();
}

// One line for all tasks of a type in the block, so that the log stays readable.
void BlockInHand::log_unknown(const std::string& type, const std::string& first,
                              std::size_t tasks) {
  log::warn("task.no_handler", {{"task", first},
                                {"type", type},
                                {"queue", queue_.info.name},
                                {"partition", lease_.partition.partition_no},
                                {"tasks", tasks},
                                {"retry_in", "30s"}});
}

void BlockInHand::ack() {
  if (finished_.empty()) return;
  parts_.session.call([&](db::Connection& db) {
    queue::ack(db, lease_.partition, finished_);
    return true;
  });
  acked();
}

bool BlockInHand::ack_is_due(Nanos within) const {
  return !finished_.empty() && boot_ns() - oldest_finished_ns_ > within;
}

void BlockInHand::ack_in_time() {
  if (ack_is_due(kAckWithin)) ack();
}

// While a share is filled up, each poll reads the running tasks again, without their payloads.
queue::FetchSpec BlockInHand::fetch_spec() {
  queue::FetchSpec spec = parts_.finder.fetch_spec(block_size_);
  if (share_ != 0) spec.running = in_hand_.keys();
  return spec;
}

// Tasks of an earlier fetch that are still in hand stay there, and are not among the tasks to
// start.
void BlockInHand::fetch_more() {
  parts_.finder.fetching();
  tasks_ = grant_.limited() ? fetch_granted() : parts_.session.call([&](db::Connection& db) {
    return queue::ack_and_fetch(db, lease_.partition, finished_, fetch_spec());
  });
  fetched_ns_ = boot_ns();
  const std::size_t read = tasks_.size();
  const std::size_t again = in_hand_.keep_others(tasks_, block_size_);
  full_ = full(grant_.limited() ? read - again : read);
  next_ = 0;
  first_ = true;
  acked();
}

void BlockInHand::fetch_ahead() {
  fetch_more();
  // A lease must not see a task again that it had detached, which may have happened during the
  // fetch.
  if (parts_.keeper.any_detached()) tasks_.clear();
}

// Tasks that were not started are among the fetched ones.
std::vector<queue::Task> BlockInHand::fetch_granted() {
  Rates& rates = parts_.finder.rates();
  const std::uint32_t queue_id = lease_.partition.queue_id;
  rates.ended(queue_id, grant_);
  const auto running = static_cast<std::uint32_t>(in_hand_.size());
  const std::uint32_t asked = rates.asked(queue_id, block_size_ - std::min(running, block_size_));
  Nanos sent_ns = 0;
  auto [tasks, granted] = parts_.session.call([&](db::Connection& db) {
    sent_ns = boot_ns();
    return queue::ack_and_fetch_rated(db, lease_, finished_, fetch_spec(), asked);
  });
  rates.answered(queue_id, granted);
  grant_ = Grant(granted, queue_id, sent_ns);
  return std::move(tasks);
}

// Jobs of other threads may have finished more tasks since.
void BlockInHand::acked() {
  parts_.slot.drop_finished(finished_);
  finished_.clear();
}

// The detach acknowledged the finished tasks and released the partition. The rest was never marked.
void BlockInHand::forget() {
  acked();
  parts_.finder.forget_lease();
}

void BlockInHand::finish() {
  parts_.keeper.releasing();
  const std::uint64_t generation = parts_.session.generation();
  const auto unused = grant_.unused(boot_ns());
  parts_.finder.rates().ended(lease_.partition.queue_id, grant_);
  int tries = 0;
  const bool released = parts_.session.call([&](db::Connection& db) {
    // While another session locks the lease's row, or one of the tasks, neither would ever be
    // written. Finished tasks can be acknowledged without a lease (S6), and must not run again
    // because they lack one.
    if (++tries > 1) {
      queue::ack(db, lease_.partition, finished_);
      acked();
    }
    // S43: only once, because it is unknown whether the first try has given it back.
    const bool again = tries > 1 && !mutant::removed("give_back_once");
    return queue::ack_and_release(db, lease_, finished_, hold_, again ? std::nullopt : unused);
  });
  // The first try may have succeeded: its reply was lost, not the lease.
  if (!released && parts_.session.generation() == generation) {
    parts_.keeper.lose(lease_, "release");
  }
  parts_.keeper.drop();
  acked();
  parts_.finder.forget_lease();
  log::debug("release", {{"partition", lease_.partition.partition_no},
                         {"epoch", lease_.epoch},
                         {"lease_held", released}});
}

}  // namespace allot::worker
