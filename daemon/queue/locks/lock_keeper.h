// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "base/clock.h"
#include "db/connection.h"
#include "queue/locks/lock.h"
#include "thread/mutex.h"

namespace allot::queue {

// Keeps a lock: renews it at a third of its TTL, in its own thread and over its own connection, and
// reports when that failed in time (S38, S39). Any thread may call it.
class LockKeeper {
 public:
  struct Events {
    // A renewal succeeded: no other holder can have the lock before `ends_ns` (CLOCK_BOOTTIME).
    std::function<void(Nanos ends_ns)> renewed;
    // Called at most once, by a thread of the keeper: `spare` before `ends_ns`, or when the row
    // shows another holder or none (`gone`). The reason is one line for people.
    std::function<void(const std::string& reason, bool gone)> lost;
  };

  // `spare`: how long before another holder could have the lock it is given up.
  LockKeeper(db::ConnectOptions connect, HeldLock lock, Nanos spare_ns, Events events);
  LockKeeper(const LockKeeper&) = delete;
  LockKeeper& operator=(const LockKeeper&) = delete;
  // Stops renewing. A lock that was not released ends with its TTL.
  ~LockKeeper();

  [[nodiscard]] const HeldLock& lock() const { return lock_; }  // as taken
  // Whether it is neither lost nor released, and stays ours for at least the margin.
  [[nodiscard]] bool held() const ALLOT_EXCLUDES(mutex_);
  // Releases the lock: true if it was held until now. False: it was lost before, or the database
  // did not answer. `lost` is not called after this.
  bool release() ALLOT_EXCLUDES(mutex_);

 private:
  enum class State { kHeld, kLost, kReleasing, kReleased };
  void renew_until_end() ALLOT_EXCLUDES(mutex_);
  void watch_deadline() ALLOT_EXCLUDES(mutex_);
  bool wait_for_turn(Nanos until) ALLOT_EXCLUDES(mutex_);
  void try_renew() ALLOT_EXCLUDES(mutex_);
  void try_release() ALLOT_EXCLUDES(mutex_);
  void lose(const std::string& reason, bool gone) ALLOT_EXCLUDES(mutex_);
  db::Connection& connection();

  const db::ConnectOptions connect_;
  const HeldLock lock_;
  const Nanos spare_ns_;
  const Events events_;
  std::optional<db::Connection> connection_;  // used by the renewing thread
  mutable Mutex mutex_;
  CondVar changed_;
  State state_ ALLOT_GUARDED_BY(mutex_) = State::kHeld;
  bool stopping_ ALLOT_GUARDED_BY(mutex_) = false;
  Nanos ends_ns_ ALLOT_GUARDED_BY(mutex_);
  std::string error_ ALLOT_GUARDED_BY(mutex_);  // of the last renewal
  std::thread renewing_;
  std::thread watching_;
};

}  // namespace allot::queue
