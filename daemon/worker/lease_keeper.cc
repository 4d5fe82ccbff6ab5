// SPDX-License-Identifier: Apache-2.0
#include "worker/lease_keeper.h"

#include <algorithm>
#include <csignal>

#include "log/log.h"
#include "worker/connect.h"

namespace allot::worker {
namespace {

// How often a failed renewal is tried again.
constexpr Nanos kTryAgain = 200 * kMilli;

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

LeaseKeeper::LeaseKeeper(const queue::LeaseStore& store, db::ConnectOptions options,
                         SlotWriter& slot)
    : store_(store),
      options_(with_short_calls(std::move(options), store.ttl())),
      ttl_ns_(static_cast<Nanos>(store.ttl().count()) * kMicro),
      slot_(slot) {
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
    renew_at_ns_ = sent_ns + ttl_ns_ / 3;
    trips_.add(boot_ns() - sent_ns);
    set_deadline(sent_ns);
  }
  changed_.notify_all();
}

void LeaseKeeper::drop() {
  // A renewal under way is waited for, as long as its own deadlines allow: that is no freeze.
  const SlotWriter::Guard guard(slot_);
  const std::lock_guard held(mutex_);
  lease_.reset();
  deadline_ns_ = 0;
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
    if (now < renew_at_ns_) {
      // wait_for runs on CLOCK_MONOTONIC; after a suspend it wakes late and finds the lease
      // expired.
      changed_.wait_for(held, std::chrono::nanoseconds(renew_at_ns_ - now));
      continue;
    }
    renew(held);
  }
}

void LeaseKeeper::renew(std::unique_lock<std::mutex>& held) {
  const Nanos task_deadline = task_deadline_ns_.load();
  if (task_deadline != 0 && boot_ns() >= task_deadline) {
    // The task is over time: the lease must not outlive it by a blind timer (B3). Unless it ends,
    // or makes progress after all.
    renew_at_ns_ = boot_ns() + std::min(kTryAgain, ttl_ns_ / 10);
    return;
  }
  try {
    if (!connection_) {
      connection_.emplace(connect(options_));
      slot_.connected(1, *connection_);
    }
    const Nanos sent = boot_ns();
    if (!store_.renew(*connection_, *lease_)) return lose(*lease_, "renew");
    trips_.add(boot_ns() - sent);
    renew_at_ns_ = sent + ttl_ns_ / 3;
    set_deadline(sent);
    log::debug("lease.renewed", {{"queue_id", lease_->partition.queue_id},
                                 {"partition", lease_->partition.partition_no},
                                 {"epoch", lease_->epoch}});
  } catch (const db::DbError& error) {
    connection_.reset();
    log::warn("lease.renew_failed", {{"error", error.what()}});
    renew_at_ns_ = boot_ns() + std::min(kTryAgain, ttl_ns_ / 10);
    // Without the mutex for a moment, so that drop() is not starved by failing renewals.
    held.unlock();
    std::this_thread::yield();
    held.lock();
  }
}

}  // namespace allot::worker
