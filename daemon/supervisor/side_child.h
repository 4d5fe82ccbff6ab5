// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>
#include <sys/types.h>

#include "base/clock.h"
#include "base/unique_fd.h"
#include "supervisor/backoff.h"
#include "supervisor/handover.h"
#include "supervisor/spawn.h"

namespace allot::supervisor {

// A child next to the workers, which stay when it dies; it is restarted with back-off. Used for the
// keeper of the embedded database (S28) and for the gateway. An unused one has no process, and is
// always ready.
class SideChild {
 public:
  explicit SideChild(const char* name) : name_(name) {}  // prefix of its events in the log

  // An unused child is asked to end.
  void use(bool used);
  // Starts `request`, whose first word is the program, when it is due, and notices its readiness.
  void tick(Nanos now, SpawnRequest request, Nanos& wake_at);
  // True from the child's readiness line until its death.
  [[nodiscard]] bool ready() const { return !used_ || ready_; }
  [[nodiscard]] int ready_fd() const { return ready_ ? -1 : ready_fd_.get(); }

  bool reaped(pid_t pid, int wait_status, Nanos now);
  // The exit code of a child that can never run, now or later; else 0.
  [[nodiscard]] int hopeless() const { return hopeless_; }
  // Sends a signal with a number. Does nothing without a child.
  void tell(int signal, int number = 0) const;
  [[nodiscard]] bool is(pid_t pid) const { return pid == pid_; }
  [[nodiscard]] bool gone() const { return pid_ <= 0; }
  void pass(Handover& io) { io(pid_, used_, ready_, ready_fd_, backoff_); }

 private:
  const char* name_;
  pid_t pid_ = -1;
  bool used_ = false, ready_ = false;
  int hopeless_ = 0;
  UniqueFd ready_fd_;
  Backoff backoff_{500 * kMilli, 10 * kSecond};
};

}  // namespace allot::supervisor
