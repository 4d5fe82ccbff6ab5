// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "ipc/board.h"

// What a signal, or the loss of the supervisor, asked this worker to do. The request only ever
// rises.
namespace allot::worker {

enum class Asked : int {
  kNothing = 0,
  kRetire = 1,  // HUP: a newer worker took over; finish the running task, then leave
  kStop = 2,    // TERM, INT or EOF of the death pipe: handlers see stop_requested
};

// Installs the signal handlers, and lets through what was sent before. They only set a flag and
// wake a waiting thread.
void install_stop_signals(ipc::PoolBoard& pool);

Asked asked();
inline bool leaving() {
  return asked() != Asked::kNothing;
}

// The pulse thread calls it; it does the same as the signal.
void ask(Asked what);

// Sleeps until asked to leave, or `timeout` passed. True when asked.
bool wait_asked(std::chrono::milliseconds timeout);

}  // namespace allot::worker
