// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>

#include <thread>
#include <utility>

namespace http_plugin {

// Starts a thread with all signals blocked: the worker's own threads handle them.
template <typename Function>
std::thread quiet_thread(Function function) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread made(std::move(function));
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return made;
  } catch (...) {
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
}

}  // namespace http_plugin
