// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
#include <thread>
#include <utility>

namespace allot::worker {

// Starts a thread that no signal reaches. All threads of a worker but the main one are such: the
// main thread gets the signals, because they have to interrupt its futex and poll calls.
template <typename Body>
std::thread deaf_thread(Body&& body) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread(std::forward<Body>(body));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace allot::worker
