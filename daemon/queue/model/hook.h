// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace allot::queue {

// The hook of a queue for a death (C9): it submits a task of that type to that queue, in the
// transaction of the burial. That transaction looks the queue up: if it is missing, or is not a
// spread one, the hook submits nothing. The death of a task that a hook submitted triggers no hook.
struct OnDead {
  std::string from_queue;
  std::string queue;
  std::string type;
};

}  // namespace allot::queue
