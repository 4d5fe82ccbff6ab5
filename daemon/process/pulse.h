// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <thread>

#include "base/unique_fd.h"
#include "config/settings.h"
#include "process/slot_writer.h"

namespace allot::process {

// A thread that beats while the main thread is guarded (slot_writer.h), and watches the death pipe:
// when the supervisor is gone the worker stops gracefully, and ends itself when its patience is
// over, so that orphans cannot exist (D8). It then also takes over a duty of the supervisor: it
// ends a handler whose lease is uncertain if a queue promises one at a time (S5). On USR1 it opens
// the log again, which install_stop_signals() (stop_request.h) leaves to it.
class Pulse {
 public:
  // `death_fd` may be -1 in a worker that was started by hand, without a supervisor.
  Pulse(SlotWriter& slot, int death_fd, const config::Daemon& daemon);
  Pulse(const Pulse&) = delete;
  Pulse& operator=(const Pulse&) = delete;
  ~Pulse();

 private:
  void run();
  [[nodiscard]] int poll_ms(bool orphaned) const;
  void end_with_lease() const;
  void reopen_log_if_asked();

  SlotWriter& slot_;
  int death_fd_;
  const std::chrono::milliseconds tick_;
  const std::chrono::milliseconds patience_;
  UniqueFd stop_;
  UniqueFd reopen_;      // readable: USR1 came, the log file was moved
  std::jthread thread_;  // last: it uses all members above
};

}  // namespace allot::process
