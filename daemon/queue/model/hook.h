// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace allot::queue {

// The death hook of a queue (C9): submits a task of that type to that queue, in the transaction of
// the burial. If this transaction finds the queue missing or not a spread one, nothing is
// submitted. The death of a task that a hook submitted triggers no hook.
struct OnDead {
  std::string from_queue;
  std::string queue;
  std::string type;
};

}  // namespace allot::queue
