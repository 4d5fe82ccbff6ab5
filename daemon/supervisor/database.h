// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include "base/clock.h"
#include "base/unique_fd.h"
#include "supervisor/backoff.h"
#include "supervisor/handover.h"

namespace allot::supervisor {

// The child that keeps the embedded database (S28): the supervisor starts it first, stops it last,
// and restarts it with back-off while workers stay. Without a folder there is no child, and the
// database is always ready.
class Database {
 public:
  void use(const char* folder) { folder_ = folder; }
  [[nodiscard]] bool used() const { return *folder_ != '\0'; }

  // Starts the child when it is due.
  void tick(Nanos now, int death_fd, int lock_fd, Nanos& wake_at);
  // True from the child's readiness line until its death.
  bool ready();
  [[nodiscard]] int ready_fd() const { return ready_ ? -1 : ready_fd_.get(); }

  bool reaped(pid_t pid, int wait_status, Nanos now);
  // The exit code of a database that cannot be kept, now or later; else 0.
  [[nodiscard]] int hopeless() const { return hopeless_; }
  void stop();
  void kill();
  [[nodiscard]] bool is(pid_t pid) const { return pid == pid_; }
  [[nodiscard]] bool gone() const { return pid_ <= 0; }
  void pass(Handover& io) { io(pid_, ready_, ready_fd_, pause_); }  // all but the folder

 private:
  const char* folder_ = "";
  pid_t pid_ = -1;
  bool ready_ = false, stopping_ = false;
  int hopeless_ = 0;
  UniqueFd ready_fd_;
  Backoff pause_{500 * kMilli, 10 * kSecond};
};

}  // namespace allot::supervisor
