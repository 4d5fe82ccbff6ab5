// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "process/session.h"
#include "queue/verbs/ending.h"
#include "worker/lease/lease_keeper.h"

namespace allot::worker {

// A fenced write of the block loop. False: `lease` was gone and nothing changed. The keeper then
// knows it too, so that the worker drops the rest of the block. `verb` is for the log.
template <typename Write>
[[nodiscard]] bool fenced(process::Session& session, LeaseKeeper& keeper, const queue::Lease& lease,
                          const char* verb, Write&& write) {
  if (session.call(write) == queue::Fenced::kWritten) return true;
  keeper.lose(lease, verb);
  return false;
}

}  // namespace allot::worker
