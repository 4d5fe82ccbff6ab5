// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "allot/client.h"
#include "db/connection.h"
#include "peer/lock_bell.h"
#include "queue/locks/lock.h"
#include "queue/locks/lock_keeper.h"

namespace allot::client {

// nullopt: not acquired within `wait`. Throws Error, also if the database is unreachable at the
// end.
std::optional<queue::HeldLock> wait_for_lock(const db::ConnectOptions& connect,
                                             const queue::LockSpec& spec,
                                             std::chrono::milliseconds wait,
                                             queue::TokenFloor& floor, peer::LockBell& bell);

}  // namespace allot::client

namespace allot {

class Lock::Impl {
 public:
  Impl(const db::ConnectOptions& connect, const queue::HeldLock& held,
       std::unique_ptr<peer::LockBell> bell, std::function<void(const std::string&)> on_lost);
  ~Impl() { release(); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  queue::LockKeeper& keeper() { return keeper_; }
  bool release() {
    if (!keeper_.release()) return false;
    bell_->ring();
    return true;
  }

 private:
  const std::unique_ptr<peer::LockBell> bell_;
  queue::LockKeeper keeper_;
};

}  // namespace allot
