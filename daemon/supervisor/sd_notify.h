// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.h"
#include "base/unique_fd.h"
#include "supervisor/handover.h"

namespace allot::supervisor {

// systemd's notification protocol (sd_notify(3)), without its library. Does nothing if
// $NOTIFY_SOCKET is not set.
class Notifier {
 public:
  // Reads NOTIFY_SOCKET and WATCHDOG_USEC, and removes them from the children's environment.
  void open();

  void pass(Handover& io) { io(socket_, watchdog_ns_); }

  // printf-like text of one datagram, e.g. "READY=1\nSTATUS=%d workers".
  [[gnu::format(printf, 2, 3)]] void send(const char* format, ...);

  // Half of the watchdog's limit; 0 = no watchdog.
  [[nodiscard]] Nanos watchdog_interval() const { return watchdog_ns_; }

 private:
  UniqueFd socket_;
  Nanos watchdog_ns_ = 0;
};

}  // namespace allot::supervisor
