// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.h"
#include "ipc/board.h"

namespace allot::peer {

// The bell of a named lock on one host, in the runtime folder of an instance. Waiters for the lock
// sleep on it; a client that gives it back, takes it or leaves the line rings it, so that local
// waiters do not wait for the next poll. It only saves time: a waiter polls without it as well, and
// two names may share a bell, which costs a poll. Any thread may call it.
class LockBell {
 public:
  // The file is made by the account that owns the folder, for all that may open it. Without a
  // folder (`runtime_dir` may be empty) or file, rings have no effect and waits only sleep.
  LockBell(const std::string& runtime_dir, const std::string& name);
  LockBell(const LockBell&) = delete;
  LockBell& operator=(const LockBell&) = delete;
  ~LockBell();

  // Read it before the poll that finds nothing to do.
  [[nodiscard]] std::uint32_t seen() const { return bell_->rings.load(); }
  // Sleeps until it has rung since `seen` was read, or for `timeout`.
  void wait(std::uint32_t seen, Nanos timeout);
  void ring();

 private:
  ipc::Bell* file_ = nullptr;  // mapped
  ipc::Bell unshared_{};       // without a file
  ipc::Bell* bell_ = &unshared_;
};

}  // namespace allot::peer
