// SPDX-License-Identifier: Apache-2.0
#include "queue/locks/lock_keeper.h"

#include <algorithm>
#include <chrono>

#include "base/mutant.h"
#include "queue/locks/lock_store.h"

namespace allot::queue {
namespace {

using std::chrono::milliseconds;

// The clock of waits stops in a suspend; the clock of deadlines does not.
constexpr Nanos kMostWait = kSecond;
constexpr Nanos kRetry = 100 * kMilli;

// A call longer than a third of the lock's TTL could not renew it in time.
db::ConnectOptions bounded(db::ConnectOptions connect, milliseconds ttl) {
  const milliseconds most = std::max(milliseconds(1000), ttl / 3);
  connect.call_timeout = std::min(connect.call_timeout, most);
  connect.connect_timeout = std::min(connect.connect_timeout, most);
  connect.lock_wait = std::min(connect.lock_wait, std::chrono::ceil<std::chrono::seconds>(most));
  return connect;
}

}  // namespace

LockKeeper::LockKeeper(db::ConnectOptions connect, HeldLock lock, Nanos spare_ns, Events events)
    : connect_(bounded(std::move(connect), lock.ttl)),
      lock_(std::move(lock)),
      spare_ns_(spare_ns),
      events_(std::move(events)),
      ends_ns_(ends_ns(lock_)),
      renewing_([this] { renew_until_end(); }),
      watching_([this] { watch_deadline(); }) {}

LockKeeper::~LockKeeper() {
  {
    const MutexLock held(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  renewing_.join();
  watching_.join();
}

bool LockKeeper::held() const {
  const MutexLock held(mutex_);
  return state_ == State::kHeld && boot_ns() + margin_ns(lock_) < ends_ns_;
}

bool LockKeeper::release() {
  MutexLock held(mutex_);
  if (state_ != State::kHeld) return false;
  state_ = State::kReleasing;
  changed_.notify_all();
  while (state_ == State::kReleasing) changed_.wait(mutex_);
  return state_ == State::kReleased;
}

db::Connection& LockKeeper::connection() {
  if (!connection_) connection_.emplace(connect_);
  return *connection_;
}

// False: nothing left to renew.
bool LockKeeper::wait_for_turn(Nanos until) {
  MutexLock held(mutex_);
  while (state_ == State::kHeld && !stopping_ && boot_ns() < until) {
    changed_.wait_for(mutex_, std::chrono::nanoseconds(std::min(until - boot_ns(), kMostWait)));
  }
  return state_ == State::kHeld && !stopping_;
}

void LockKeeper::renew_until_end() {
  const Nanos third = in_ns(lock_.ttl) / 3;
  Nanos next = lock_.sent_ns + third;
  while (wait_for_turn(next)) {
    const Nanos sent = boot_ns();
    try {
      try_renew();
      next = sent + third;
    } catch (const Error& error) {
      connection_.reset();
      const MutexLock held(mutex_);
      error_ = error.what();
      next = boot_ns() + std::min(kRetry, third / 4);
    }
  }
  bool release = false;
  {
    const MutexLock held(mutex_);
    release = state_ == State::kReleasing;
  }
  if (release) try_release();
}

void LockKeeper::try_renew() {
  const Nanos sent = boot_ns();
  if (!renew_lock(connection(), lock_)) {
    lose("it was taken away, because its holder did not renew it or an operator broke it", true);
    return;
  }
  Nanos ends = sent + in_ns(lock_.ttl);
  if (mutant::removed("lock_deadline")) ends = boot_ns() + 3600 * kSecond;
  {
    const MutexLock held(mutex_);
    if (state_ != State::kHeld) return;
    ends_ns_ = ends;
    changed_.notify_all();
  }
  if (events_.renewed) events_.renewed(ends);
}

void LockKeeper::try_release() {
  bool done = false;
  try {
    done = release_lock(connection(), lock_);
  } catch (const Error&) {
    // The lock ends with its TTL.
  }
  const MutexLock held(mutex_);
  state_ = done ? State::kReleased : State::kLost;
  changed_.notify_all();
}

void LockKeeper::lose(const std::string& reason, bool gone) {
  {
    const MutexLock held(mutex_);
    if (state_ != State::kHeld) return;
    state_ = State::kLost;
    changed_.notify_all();
  }
  if (events_.lost) events_.lost(reason, gone);
}

void LockKeeper::watch_deadline() {
  std::string reason;
  {
    MutexLock held(mutex_);
    while (state_ == State::kHeld && !stopping_) {
      const Nanos now = boot_ns();
      const Nanos until = ends_ns_ - std::min(spare_ns_, ends_ns_);
      if (now >= until) break;
      changed_.wait_for(mutex_, std::chrono::nanoseconds(std::min(until - now, kMostWait)));
    }
    if (state_ != State::kHeld || stopping_) return;
    reason = "it could not be renewed in time";
    if (!error_.empty()) reason += ": " + error_;
  }
  lose(reason, false);
}

}  // namespace allot::queue
