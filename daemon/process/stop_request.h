// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "ipc/board.h"

// Request to this worker by a signal, or by the loss of the supervisor. It only increases.
namespace allot::process {

enum class Asked : int {
  kNothing = 0,
  kRetire = 1,  // HUP: a newer worker took over; finish the running task, then leave
  kStop = 2,    // TERM, INT or EOF of the death pipe: handlers see stop_requested
};

// Installs the signal handlers, and accepts signals that were sent before. The handlers only set a
// flag and wake a waiting thread.
void install_stop_signals(ipc::Bell& bell);

Asked asked();
inline bool leaving() {
  return asked() != Asked::kNothing;
}

// For the pulse thread; it does the same as the signal.
void ask(Asked what);

// Sleeps until a request comes or `timeout` has passed. True: there is a request.
bool wait_asked(std::chrono::milliseconds timeout);

}  // namespace allot::process
