// SPDX-License-Identifier: Apache-2.0
// Rule: S11.
#pragma once

#include <cstdint>
#include <memory>

#include "config/settings.h"
#include "ipc/slot.h"
#include "meter/meter.h"
#include "peer/inherited.h"
#include "peer/lock_mark.h"
#include "queue/model/lease.h"

namespace allot::process {

// The holder of a process that the supervisor started. Its mark comes from the inherited lock, not
// from the file of that name, which may have been deleted and created again by another daemon.
inline queue::Holder own_holder(const config::Settings& settings) {
  const std::uint64_t mark = peer::inherited(ipc::kLockFd) ? peer::lock_mark(ipc::kLockFd) : 0;
  return queue::make_holder(settings.daemon.instance, config::runtime_dir(settings), mark);
}

// The meter of a slot, for the process that has it. nullptr: this process has no supervisor, or the
// meter cannot be opened, which is logged: the work continues without it.
[[nodiscard]] std::unique_ptr<meter::Meter> own_meter(const config::Settings& settings,
                                                      std::uint32_t slot);

}  // namespace allot::process
