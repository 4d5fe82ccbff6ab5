// SPDX-License-Identifier: Apache-2.0
#include "worker/lease/lease_keeper.h"

#include <algorithm>
#include <utility>

#include "log/log.h"
#include "meter/record.h"
#include "queue/verbs/cancel_request.h"
#include "thread/deaf_thread.h"
#include "worker/run/run_log.h"

namespace allot::worker {
namespace {

// Delay before a failed renewal is repeated.
constexpr Nanos kTryAgain = 200 * kMilli;
// Interval at which the keeper checks a running task. It follows the clock, because a notice of
// each task would cost a fast one more than it takes.
constexpr Nanos kTaskCheckEvery = 50 * kMilli;
// If workers are idle, a task that has run for this long leaves its partition to its neighbours.
constexpr Nanos kSlow = 100 * kMilli;
// A detached task with new progress is renewed this long after its last renewal; the renewal writes
// the progress.
constexpr Nanos kProgressEvery = 5 * kSecond;
// Cancel polls that are due within this time run together with one that is due now.
constexpr Nanos kPollTogether = 250 * kMilli;

// A call of the keeper may not hang for longer than the lease lasts.
db::ConnectOptions with_short_calls(db::ConnectOptions options, std::chrono::microseconds ttl) {
  const auto third = std::max(std::chrono::milliseconds(1000),
                              std::chrono::duration_cast<std::chrono::milliseconds>(ttl / 3));
  options.call_timeout = std::min(options.call_timeout, third);
  const auto each = third / static_cast<int>(std::max<std::size_t>(1, options.servers.size()));
  options.connect_timeout =
      std::min(options.connect_timeout, std::max(std::chrono::milliseconds(1000), each));
  return options;
}

}  // namespace

LeaseKeeper::LeaseKeeper(const queue::LeaseStore& store, const queue::DetachedStore& detached,
                         db::ConnectOptions options, process::SlotWriter& slot, ipc::Board& board)
    : store_(store),
      detached_store_(detached),
      options_(with_short_calls(std::move(options), store.ttl())),
      ttl_ns_(in_nanos(store.ttl())),
      slot_(slot),
      board_(board) {
  thread_ = deaf_thread([this] { run(); });
}

LeaseKeeper::Turn::Turn(LeaseKeeper& keeper) : keeper_(keeper) {
  ++keeper_.wanted_;
  held_.emplace(keeper_.mutex_);
}

LeaseKeeper::Turn::~Turn() {
  held_.reset();
  --keeper_.wanted_;
  ++keeper_.had_turns_;
  keeper_.had_turns_.notify_one();
}

LeaseKeeper::~LeaseKeeper() {
  {
    const Turn turn(*this);
    stop_ = true;
    lease_.reset();
  }
  changed_.notify_all();
}

void LeaseKeeper::keep(const queue::Lease& lease, Nanos sent_ns) {
  {
    const Turn turn(*this);
    lease_ = lease;
    kept_.lost = false;
    any_detached_ = false;
    releasing_ = false;
    renewed(kept_, sent_ns);
    slot_.lease_deadline(kept_.deadline_ns);
  }
  changed_.notify_all();
}

void LeaseKeeper::releasing() {
  // Waits for a renewal under way, as long as its own deadlines allow: that is not a freeze.
  const process::SlotWriter::Guard guard(slot_);
  const Turn turn(*this);
  releasing_ = true;
  kept_.renew_at_ns = std::max(kept_.renew_at_ns, boot_ns() + ttl_ns_ / 10);
}

void LeaseKeeper::drop() {
  const process::SlotWriter::Guard guard(slot_);  // as in releasing()
  const Turn turn(*this);
  drop_lease();
}

void LeaseKeeper::drop_lease() {
  lease_.reset();
  kept_.deadline_ns = 0;
}

bool LeaseKeeper::begin(std::span<Run* const> runs) {
  const process::SlotWriter::Guard guard(slot_);  // as in releasing()
  const Turn turn(*this);
  // A handler that starts just before the end of a lease whose renewal is overdue only makes a
  // duplicate: in an exclusive queue its supervisor would kill it at once.
  if (!kept_.valid(ttl_ns_ / 10)) return false;
  const Nanos now = boot_ns();
  for (Run* const run : runs) {
    run->begin(now);
    runs_.push_back(run);
  }
  return true;
}

Place LeaseKeeper::end(Run& run) {
  const process::SlotWriter::Guard guard(slot_);
  const Turn turn(*this);
  std::erase(runs_, &run);
  if (run.keeping.place == Place::kUnknown && run.plan.sole) drop_lease();
  // The end of the task deletes requests along with it.
  if (run.keeping.cancel_watched) run.task.flags |= queue::kCancelWatchedFlag;
  return run.keeping.place;
}

// Works without the mutex, which the keeper holds during a renewal. keep(), which waits for the
// mutex, clears `lost`: a late finding about one lease therefore never counts for the next one.
void LeaseKeeper::lose(KeptLease& kept, const queue::Lease& lease, const char* verb) {
  if (kept.lost.exchange(true)) return;
  slot_.count(meter::Event::kLost);
  log::warn("lease.lost", {{"queue_id", lease.partition.queue_id},
                           {"partition", lease.partition.partition_no},
                           {"epoch", lease.epoch},
                           {"statement", verb}});
}

void LeaseKeeper::end_last_call(db::Connection& db) {
  queue::FormerConnection former;
  {
    const Turn turn(*this);
    former = process::former_connection(slot_.raw(), 1);
  }
  queue::kill_connections(db, {&former, 1});
}

// The database counts from the execution of the statement, which was after it was sent. The lease
// is valid until then, whatever the reply says and however late it comes.
void LeaseKeeper::renewed(KeptLease& kept, Nanos sent_ns) {
  trips_.add(boot_ns() - sent_ns);
  kept.renew_at_ns = sent_ns + ttl_ns_ / 3;
  kept.deadline_ns = sent_ns + ttl_ns_ - lease_margin(ttl_ns_, trips_);
}

void LeaseKeeper::run() {
  const MutexLock held(mutex_);
  while (!stop_) {
    if (!act()) {
      wait();
      continue;
    }
    const MutexUnlock given_up(mutex_);
    give_turns();  // a task that ends does not wait for everything that is due
  }
}

// Later arrivals wait for the next time: a renewal must not wait forever, either.
void LeaseKeeper::give_turns() {
  const std::uint32_t before = had_turns_.load();
  const std::uint32_t wanted = wanted_.load();
  for (std::uint32_t now = before; now - before < wanted; now = had_turns_.load()) {
    had_turns_.wait(now);
  }
}

// Does one due action, or one kind of action for all runs for which it is due.
bool LeaseKeeper::act() {
  const Nanos now = boot_ns();
  if (lease_is_due(now)) {
    renew_lease();
    return true;
  }
  for (Run* run : runs_) {
    if (!renewal_is_due(*run, now)) continue;
    renew_detached(*run);
    return true;
  }
  for (Run* run : runs_) {
    if (!detach_is_due(*run, now)) continue;
    detach(*run);
    return true;
  }
  return poll_for_cancels(now);
}

// wait_for runs on CLOCK_MONOTONIC; after a suspend it wakes late and finds the lease expired.
void LeaseKeeper::wait() {
  const Nanos now = boot_ns();
  std::optional<Nanos> next;
  if (lease_ && !lost()) {
    next = std::min(now + kTaskCheckEvery, std::max(kept_.renew_at_ns, now + 1));
  }
  for (const Run* run : runs_) {
    if (run->keeping.place != Place::kDetached || run->keeping.lost) continue;
    const Nanos poll = polls_for_cancel(*run, now) ? run->keeping.next_cancel_poll_ns : UINT64_MAX;
    const Nanos soonest = std::max(std::min(run->keeping.renew_at_ns, poll), now + 1);
    next = std::min(next.value_or(UINT64_MAX), soonest);
  }
  if (!next) return changed_.wait(mutex_);
  changed_.wait_for(mutex_, std::chrono::nanoseconds(*next - now));
}

// Whether a task that the lease is renewed for is over its time.
bool LeaseKeeper::over_time(Nanos now) const {
  return std::any_of(runs_.begin(), runs_.end(),
                     [now](const Run* run) { return !run->detached() && run->over_time(now); });
}

// False while it is uncertain whether the lease has ended with a task.
bool LeaseKeeper::lease_is_due(Nanos now) const {
  if (!lease_ || lost() || now < kept_.renew_at_ns) return false;
  return std::none_of(runs_.begin(), runs_.end(), [](const Run* run) {
    return run->plan.sole && run->keeping.place == Place::kUnknown;
  });
}

bool LeaseKeeper::renewal_is_due(const Run& run, Nanos now) {
  if (run.keeping.place != Place::kDetached || run.keeping.lost) return false;
  if (now >= run.keeping.renew_at_ns) return true;
  return run.has_new_progress() && now >= run.keeping.renewed_ns + kProgressEvery;
}

bool LeaseKeeper::detach_is_due(const Run& run, Nanos now) const {
  if (!lease_ || lost() || run.detach_after_ns == 0 || now < run.keeping.detach_at_ns) return false;
  if (run.keeping.place != Place::kPartition) return run.keeping.place == Place::kUnknown;
  if (run.over_time(now)) return false;
  const Nanos ran = now - run.began_ns();
  if (ran >= run.detach_after_ns) return true;
  if (ran < kSlow) return false;
  return peer::waits_for(board_, lease_->partition.queue_id) ||
         (!run.plan.sole && make_room_.load());
}

bool LeaseKeeper::polls_for_cancel(const Run& run, Nanos now) const {
  if (run.over_time(now)) return false;
  if (run.keeping.place == Place::kDetached) return !run.keeping.lost;
  return run.keeping.place == Place::kPartition && lease_ && !lost();
}

void LeaseKeeper::connect_if_needed() {
  if (connection_) return;
  db::Connection fresh = process::connect(options_);
  const auto uptime = queue::server_uptime(fresh);
  connection_.emplace(std::move(fresh));
  slot_.connected(1, *connection_, uptime);
}

// `statement` renews it on the connection, or returns false: it is lost. Returns whether the lease
// was renewed.
template <typename Statement>
bool LeaseKeeper::renew(KeptLease& kept, bool over_time, Statement&& statement) {
  const Nanos delay = std::min(kTryAgain, ttl_ns_ / 10);
  if (over_time && !mutant::removed("renewal_deadline")) {
    // The task is over its time: a timer must not keep the lease alive for it blindly (B3), unless
    // it ends or makes progress after all.
    kept.renew_at_ns = boot_ns() + delay;
    return false;
  }
  try {
    connect_if_needed();
    const Nanos sent = boot_ns();
    if (!statement(sent)) return false;
    renewed(kept, sent);
    return true;
  } catch (const db::DbError& error) {
    log::warn("lease.renew_failed", {{"error", error.what()}});
    kept.renew_at_ns = boot_ns() + delay;
    connection_.reset();
    return false;
  }
}

void LeaseKeeper::renew_lease() {
  const bool renewed =
      renew(kept_, over_time(boot_ns()), [this](Nanos /*sent*/) ALLOT_REQUIRES(mutex_) {
        if (store_.renew(*connection_, *lease_)) {
          log::debug("lease.renewed", {{"queue_id", lease_->partition.queue_id},
                                       {"partition", lease_->partition.partition_no},
                                       {"epoch", lease_->epoch}});
          return true;
        }
        // The lease was released and the reply is lost or still to come; or it was lost, which the
        // release will report.
        if (releasing_) {
          lease_.reset();
        } else {
          lose(*lease_, "renew");
        }
        return false;
      });
  if (renewed) slot_.lease_deadline(kept_.deadline_ns);
}

void LeaseKeeper::renew_detached(Run& run) {
  renew(run.keeping, run.over_time(boot_ns()), [&](Nanos sent) ALLOT_REQUIRES(mutex_) {
    const queue::Fence mine = queue::fence(run.lease, run.task).once_detached();
    // Read first, so that later progress is written with the next renewal.
    const std::uint32_t shown = run.progress_version();
    if (!detached_store_.renew(*connection_, mine, run.shown_progress())) {
      lose(run, "renew_detached");
      return false;
    }
    run.keeping.written_progress = shown;
    run.keeping.renewed_ns = sent;
    log::debug("lease.renewed", {{"task", mine.id.text()}, {"epoch", mine.epoch}});
    return true;
  });
}

// A detach whose reply is lost is sent again until its outcome is known, or the task ends.
void LeaseKeeper::detach(Run& run) {
  try {
    connect_if_needed();
    const Nanos sent = boot_ns();
    any_detached_ = true;
    const queue::Fence fence = queue::fence(*lease_, run.task);
    const auto fenced =
        run.plan.sole
            ? detached_store_.detach(*connection_, fence, run.number, slot_.finished())
            : detached_store_.detach(*connection_, fence, run.number, {}, queue::Then::kKeepLease);
    if (fenced == queue::Fenced::kLost) return lose(*lease_, "detach");
    detached(run, sent);
  } catch (const db::DbError& error) {
    log::warn("task.detach_failed", {{"error", error.what()}});
    // S55: any other error means that nothing was done.
    if (error.outcome_unknown()) run.keeping.place = Place::kUnknown;
    const bool transient = error.is_any_of({db::ErrorClass::kGone, db::ErrorClass::kRetryable}) ||
                           run.keeping.place == Place::kUnknown;
    run.keeping.detach_at_ns = boot_ns() + (transient ? kTryAgain : ttl_ns_);
    connection_.reset();
  }
}

// Polls for a task in its partition, or in one round trip for all detached tasks: there may be as
// many as the worker has threads. A failed poll is repeated: nothing waits for it. False: none is
// due.
bool LeaseKeeper::poll_for_cancels(Nanos now) {
  const auto first =
      std::find_if(runs_.begin(), runs_.end(), [&](const Run* run) ALLOT_REQUIRES(mutex_) {
        return polls_for_cancel(*run, now) && now >= run->keeping.next_cancel_poll_ns;
      });
  if (first == runs_.end()) return false;
  const bool detached = (*first)->keeping.place == Place::kDetached;
  std::vector<Run*> due;
  std::vector<queue::TaskId> asked_for;
  for (Run* run : runs_) {
    if (!detached ? run != *first : run->keeping.place != Place::kDetached) continue;
    if (!polls_for_cancel(*run, now) || now + kPollTogether < run->keeping.next_cancel_poll_ns)
      continue;
    if (detached && run->cancelled()) {
      run->cancel_polled({});
      continue;
    }
    due.push_back(run);
    asked_for.push_back(queue::fence(run->lease, run->task).id);
  }
  if (due.empty()) return true;
  try {
    connect_if_needed();
    if (!detached) {
      (*first)->poll_cancel(*connection_);
      return true;
    }
    auto found = queue::find_cancels(*connection_, asked_for);
    for (std::size_t i = 0; i < due.size(); ++i) due[i]->cancel_polled(std::move(found[i]));
  } catch (const db::DbError& error) {
    log::warn("task.cancel_check_failed", {{"error", error.what()}});
    for (Run* run : due) run->keeping.next_cancel_poll_ns = boot_ns() + kCancelPollEvery;
    connection_.reset();
  }
  return true;
}

void LeaseKeeper::detached(Run& run, Nanos sent_ns) {
  run.keeping.place = Place::kDetached;
  run.keeping.renewed_ns = sent_ns;
  renewed(run.keeping, sent_ns);
  run.detach();  // its own deadline applies from now on
  slot_.count(meter::Count::kDetached, run.queue.info.name, run.shown_type());
  if (run.plan.sole) drop_lease();
  log::info("task.detached", {{"task", run.id},
                              {"type", run.task.type},
                              trace_field(run.task),
                              {"partition", run.lease.partition.partition_no},
                              {"after_ms", (boot_ns() - run.began_ns()) / kMilli}});
  // Any worker may take its neighbours now.
  if (run.plan.sole) ringer().ring({{run.lease.partition.queue_id, 1}});
}

}  // namespace allot::worker
