// SPDX-License-Identifier: Apache-2.0
#include "worker/lease_keeper.h"

#include <algorithm>
#include <csignal>

#include "log/log.h"
#include "peer/doorbell.h"
#include "worker/connect.h"

namespace allot::worker {
namespace {

// How often a failed renewal is tried again.
constexpr Nanos kTryAgain = 200 * kMilli;
// How often a running task is looked at. By the clock: to be told of each task would cost a fast
// one more than it takes.
constexpr Nanos kLook = 50 * kMilli;
// With workers idle, a task that has run for so long makes room for its neighbours.
constexpr Nanos kSlow = 100 * kMilli;

// The keeper may not hang in a call for longer than it has before the lease ends.
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
                         db::ConnectOptions options, SlotWriter& slot, ipc::Board& board)
    : store_(store),
      detached_store_(detached),
      options_(with_short_calls(std::move(options), store.ttl())),
      ttl_ns_(static_cast<Nanos>(store.ttl().count()) * kMicro),
      slot_(slot),
      board_(board) {
  // Signals are the main thread's: its futex and poll calls are what a signal has to interrupt.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

LeaseKeeper::~LeaseKeeper() {
  {
    const std::lock_guard held(mutex_);
    stop_ = true;
    lease_.reset();
  }
  changed_.notify_all();
  thread_.join();
}

void LeaseKeeper::hold(const queue::Lease& lease, Nanos sent_ns) {
  {
    const std::lock_guard held(mutex_);
    lease_ = lease;
    lost_ = false;
    releasing_ = false;
    renew_at_ns_ = sent_ns + ttl_ns_ / 3;
    trips_.add(boot_ns() - sent_ns);
    set_deadline(sent_ns);
  }
  changed_.notify_all();
}

void LeaseKeeper::releasing() {
  // A renewal under way is waited for, as long as its own deadlines allow: that is no freeze.
  const SlotWriter::Guard guard(slot_);
  const std::lock_guard held(mutex_);
  releasing_ = true;
  renew_at_ns_ = std::max(renew_at_ns_, boot_ns() + ttl_ns_ / 10);
}

void LeaseKeeper::drop() {
  const SlotWriter::Guard guard(slot_);  // as in releasing()
  const std::lock_guard held(mutex_);
  lease_.reset();
  deadline_ns_ = 0;
}

bool LeaseKeeper::task_begins(const TaskAtWork& work, const std::function<void(Nanos)>& begun) {
  const SlotWriter::Guard guard(slot_);  // as in releasing()
  const std::lock_guard held(mutex_);
  if (!valid()) return false;
  work_began_ns_ = boot_ns();
  begun(work_began_ns_);
  work_ = work;
  if (work_->cancel != nullptr) work_->cancel->begin(work_began_ns_);
  detach_at_ns_ = 0;
  return true;
}

Place LeaseKeeper::task_ended() {
  const SlotWriter::Guard guard(slot_);
  const std::lock_guard held(mutex_);
  work_.reset();
  const Place place = std::exchange(place_, Place::kPartition);
  if (place != Place::kPartition) {
    lease_.reset();
    deadline_ns_ = 0;
  }
  return place;
}

// Without the mutex, which the keeper holds during a renewal. `lost_` is cleared by hold(), which
// waits for it: so no late word on one lease is taken for the next one.
void LeaseKeeper::lose(const queue::Lease& lease, const char* verb) {
  if (lost_.exchange(true)) return;
  slot_.raw().leases_lost.fetch_add(1, std::memory_order_relaxed);
  log::warn("lease.lost", {{"queue_id", lease.partition.queue_id},
                           {"partition", lease.partition.partition_no},
                           {"epoch", lease.epoch},
                           {"found_by", verb}});
}

void LeaseKeeper::work_was_added() {
  peer::ring(board_, 1);
}

// The database counts from when it executed the statement, which was after it was sent. Whatever
// the reply says or how late it comes, the lease stands until then.
void LeaseKeeper::set_deadline(Nanos sent_ns) {
  deadline_ns_ = sent_ns + ttl_ns_ - lease_margin(ttl_ns_, trips_);
  slot_.lease_deadline(deadline_ns_);
}

void LeaseKeeper::run() {
  std::unique_lock held(mutex_);
  while (!stop_) {
    if (!lease_ || lost_) {
      changed_.wait(held);
      continue;
    }
    const Nanos now = boot_ns();
    if (detach_is_due(now)) {
      detach(held);
    } else if (now >= renew_at_ns_ && place_ != Place::kUnknown) {
      renew(held);
    } else if (cancel_look_is_due(now)) {
      look_for_cancel(held);
    } else {
      // wait_for runs on CLOCK_MONOTONIC; after a suspend it wakes late and finds the lease
      // expired.
      changed_.wait_for(held, std::chrono::nanoseconds(next_look(now) - now));
    }
  }
}

bool LeaseKeeper::over_time(Nanos now) const {
  const Nanos deadline = task_deadline_ns_.load();
  return deadline != 0 && now >= deadline;
}

bool LeaseKeeper::detach_is_due(Nanos now) const {
  if (!work_ || work_->detach_after_ns == 0 || now < detach_at_ns_) return false;
  if (place_ != Place::kPartition) return place_ == Place::kUnknown;
  if (over_time(now)) return false;
  const Nanos ran = now - work_began_ns_;
  if (ran >= work_->detach_after_ns) return true;
  return ran >= kSlow && board_.waiters.load(std::memory_order_relaxed) > 0;
}

Nanos LeaseKeeper::next_look(Nanos now) const {
  const Nanos look = now + kLook;
  if (place_ == Place::kUnknown) return look;
  const Nanos soonest = work_ && work_->cancel != nullptr && !over_time(now)
                            ? std::min(renew_at_ns_, work_->cancel->next_look())
                            : renew_at_ns_;
  return std::max(now + 1, place_ == Place::kPartition ? std::min(look, soonest) : soonest);
}

bool LeaseKeeper::cancel_look_is_due(Nanos now) const {
  return work_ && work_->cancel != nullptr && place_ != Place::kUnknown && !over_time(now) &&
         now >= work_->cancel->next_look();
}

void LeaseKeeper::connect_if_needed() {
  if (connection_) return;
  connection_.emplace(connect(options_));
  slot_.connected(1, *connection_);
}

// Without the mutex for a moment, so that drop() is not starved by calls that fail.
void LeaseKeeper::try_again(std::unique_lock<std::mutex>& held) {
  connection_.reset();
  held.unlock();
  std::this_thread::yield();
  held.lock();
}

bool LeaseKeeper::send_renewal() {
  if (place_ == Place::kPartition) return store_.renew(*connection_, *lease_);
  return detached_store_.renew(*connection_, queue::DetachedStore::detached(*lease_, *work_->task));
}

void LeaseKeeper::renew(std::unique_lock<std::mutex>& held) {
  if (over_time(boot_ns()) && !db::without("renewal_deadline")) {
    // The task is over time: the lease must not outlive it by a blind timer (B3). Unless it ends,
    // or makes progress after all.
    renew_at_ns_ = boot_ns() + std::min(kTryAgain, ttl_ns_ / 10);
    return;
  }
  try {
    connect_if_needed();
    const Nanos sent = boot_ns();
    if (!send_renewal()) {
      // Released, and the reply was lost or is still to come. Or lost: then the release tells.
      if (releasing_) return lease_.reset();
      return lose(*lease_, place_ == Place::kDetached ? "renew_detached" : "renew");
    }
    trips_.add(boot_ns() - sent);
    renew_at_ns_ = sent + ttl_ns_ / 3;
    set_deadline(sent);
    log::debug("lease.renewed", {{"queue_id", lease_->partition.queue_id},
                                 {"partition", lease_->partition.partition_no},
                                 {"epoch", lease_->epoch}});
  } catch (const db::DbError& error) {
    log::warn("lease.renew_failed", {{"error", error.what()}});
    renew_at_ns_ = boot_ns() + std::min(kTryAgain, ttl_ns_ / 10);
    try_again(held);
  }
}

// A detach whose reply is lost is sent again until its outcome is known, or the task ends.
void LeaseKeeper::detach(std::unique_lock<std::mutex>& held) {
  try {
    connect_if_needed();
    const Nanos sent = boot_ns();
    const auto landed = detached_store_.detach(*connection_, *lease_, *work_->task, work_->attempt,
                                               work_->finished);
    if (landed == queue::Landed::kLeaseGone) return lose(*lease_, "detach");
    detached(sent);
  } catch (const db::DbError& error) {
    log::warn("task.detach_failed", {{"error", error.what()}});
    // Anything else was answered, and nothing of it was done.
    if (error.error_class() == db::ErrorClass::kGone) place_ = Place::kUnknown;
    const bool transient =
        place_ == Place::kUnknown || error.error_class() == db::ErrorClass::kRetryable;
    detach_at_ns_ = boot_ns() + (transient ? kTryAgain : ttl_ns_);
    try_again(held);
  }
}

// One that fails is tried again: nobody waits for it.
void LeaseKeeper::look_for_cancel(std::unique_lock<std::mutex>& held) {
  try {
    connect_if_needed();
    work_->cancel->look(*connection_, *lease_, *work_->task, place_ == Place::kDetached);
  } catch (const db::DbError& error) {
    log::warn("task.cancel_look_failed", {{"error", error.what()}});
    work_->cancel->try_later();
    try_again(held);
  }
}

void LeaseKeeper::detached(Nanos sent_ns) {
  place_ = Place::kDetached;
  slot_.task_detached();
  trips_.add(boot_ns() - sent_ns);
  renew_at_ns_ = sent_ns + ttl_ns_ / 3;
  set_deadline(sent_ns);
  const queue::Detached now = queue::DetachedStore::detached(*lease_, *work_->task);
  log::info("task.detached", {{"task", now.id.text()},
                              {"type", work_->task->type},
                              {"partition", lease_->partition.partition_no},
                              {"after_ms", (boot_ns() - work_began_ns_) / kMilli}});
  // Its neighbours are anybody's now.
  peer::ring(board_, 1);
}

}  // namespace allot::worker
