// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/unique_fd.h"

namespace http_plugin {

using allot::UniqueFd;

using Clock = std::chrono::steady_clock;

// A thread that ends requests: it shuts their sockets down when their time is over or their task
// must stop, even while a library waits in them. One per worker; any thread may create a Watch.
class Watchdog {
 public:
  enum class End { kNone, kTimeout, kStop };

  Watchdog() = default;
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog();

 private:
  friend class Watch;
  friend class Guard;
  struct Entry {
    const Clock::time_point deadline;
    const std::function<bool()> must_stop;
    std::shared_ptr<const UniqueFd> socket{};
    std::atomic<End> end = End::kNone;  // set under the mutex, before the socket is shut
    std::size_t place = 0;              // in entries_
  };

  void add(Entry& entry);
  void remove(const Entry& entry);
  void run();
  void check_all(Clock::time_point now);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Entry*> entries_;
  Clock::time_point next_ = Clock::time_point::max();  // time of the next check
  bool leaves_ = false;
  std::jthread thread_;  // started by the first watch
};

// One request, as long as this object exists. Used by the thread that created it.
class Watch {
 public:
  // The watchdog's thread calls `must_stop` about ten times a second.
  Watch(Watchdog& watchdog, Clock::time_point deadline, std::function<bool()> must_stop);
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch();

  // The reason why the request is over.
  [[nodiscard]] Watchdog::End end() const { return entry_.end; }
  [[nodiscard]] Clock::time_point deadline() const { return entry_.deadline; }

 private:
  friend class Guard;
  Watchdog& watchdog_;
  Watchdog::Entry entry_;
};

// While this object exists, the socket is shut down when the request is over, or at once if it is
// over already. No other code may close the descriptor, because its number could then be reused for
// another socket.
class Guard {
 public:
  Guard(Watch& watch, std::shared_ptr<const UniqueFd> socket);
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
  ~Guard();

 private:
  Watch& watch_;
};

}  // namespace http_plugin
