// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace allot::queue {

// What a death in a queue sets off (C9): a task of that type in that queue, in the transaction of
// the burial. The queue is looked up by that transaction: where it is missing, or places its tasks,
// nothing is made. The death of such a task sets off nothing.
struct OnDead {
  std::string from_queue;
  std::string queue;
  std::string type;
};

}  // namespace allot::queue
