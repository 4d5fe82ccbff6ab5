// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace allot::gateway {

// One datagram of systemd's notification protocol (sd_notify(3)), such as "READY=1". Does nothing
// when $NOTIFY_SOCKET is not set, as below allotd. The variable stays, because the process that
// execs itself at a reload needs it again, and nothing else is started.
void tell_systemd(const char* text);

}  // namespace allot::gateway
