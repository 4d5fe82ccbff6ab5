// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "operations/call.h"
#include "queue/model/catalog.h"
#include "queue/operate/route.h"

// Moves waiting tasks to another queue (decision 0015); for the verbs.
namespace allot::operations {

// Refuses, 409, a queue that is not spread; `field` names its parameter.
void require_spread(const queue::QueueInfo& queue, const char* field);

// Moves one page of the waiting tasks of these types, starting at the request's `cursor`. Returns
// the numbers of examined tasks that can be moved, of moved and gone ones, of those kept because a
// worker holds their partition, and of those kept because of a unique key, and the start of the
// next page. Does not wait for workers: the client moves the remaining tasks with another request.
[[nodiscard]] nlohmann::json move_page(const Call& call, const queue::TypePattern& types,
                                       const queue::QueueInfo& from, const queue::QueueInfo& to);

}  // namespace allot::operations
