// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace allot::gateway {

// Sends one datagram of systemd's notification protocol (sd_notify(3)), such as "READY=1". Does
// nothing without $NOTIFY_SOCKET, for example below allotd. The variable remains set for the exec
// of a reload; no other program is started.
void tell_systemd(const char* text);

}  // namespace allot::gateway
