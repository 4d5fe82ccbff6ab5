// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "base/clock.h"

namespace allot::peer {

// The bell of a named lock on one host, in the runtime folder of an instance: whoever waits for the
// lock sleeps on it, and whoever gives it back, takes it or leaves the line rings it, so that
// nobody here waits until the next look is due. It is economy: a waiter that hears nothing looks
// all the same, and two names may share a bell, which costs a look. Any thread may call it.
class LockBell {
 public:
  // The file is made by the account that owns the folder, for all that may open it. Where there is
  // no folder (`runtime_dir` may be empty) or no file, rings are heard by nobody and waits only
  // sleep.
  LockBell(const std::string& runtime_dir, const std::string& name);
  LockBell(const LockBell&) = delete;
  LockBell& operator=(const LockBell&) = delete;
  ~LockBell();

  // To be asked before the look that finds that there is nothing to do yet.
  [[nodiscard]] std::uint32_t seen() const;
  // Sleeps until it has rung since `seen` was read, or for `timeout`.
  void wait(std::uint32_t seen, Nanos timeout);
  void ring();

 private:
  struct Place;
  struct File;
  File* file_ = nullptr;    // mapped
  Place* place_ = nullptr;  // of the name, in it
};

}  // namespace allot::peer
