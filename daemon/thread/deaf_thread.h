// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
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
// futex and poll calls they have to interrupt.
template <typename Body>
std::thread deaf_thread(Body&& body) {
  const BlockedSignals blocked;
  return std::thread(std::forward<Body>(body));
}

}  // namespace allot
