// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

namespace allot {

// Blocks all signals of this thread while it exists.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

// Starts a thread that receives no signals. Signals go to the thread that reads them, or whose
// futex and poll calls they have to interrupt. `body` may take the stop token of the thread, whose
// destruction requests a stop and waits for the end.
template <typename Body>
std::jthread deaf_thread(Body&& body) {
  const BlockedSignals blocked;
  return std::jthread(std::forward<Body>(body));
}

// Sleeps for this time, or until the thread is asked to stop. True: it is.
inline bool stopped_within(const std::stop_token& stop, std::chrono::nanoseconds timeout) {
  std::mutex mutex;
  std::condition_variable_any changed;
  std::unique_lock held(mutex);
  changed.wait_for(held, stop, timeout, [&] { return stop.stop_requested(); });
  return stop.stop_requested();
}

}  // namespace allot
