// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "gateway/api/call.h"
#include "queue/model/catalog.h"
#include "queue/operate/route.h"

// Waiting tasks on their way to another queue (decision 0015), for the verbs.
namespace allot::gateway::api {

// Refuses, 409, a queue whose tasks have places of their own; `field` names it.
void require_spread(const queue::QueueInfo& queue, const char* field);

// Wakes the workers of this host.
void ring(const Call& call, std::uint32_t queue_id, std::size_t tasks);

// Moves one page of the waiting tasks of these types, behind the request's `cursor`: so many did,
// were gone, stay because a worker has their partition or because they have a unique key, and where
// the next page begins. Waits for no worker: what it has is for another request.
[[nodiscard]] nlohmann::json move_page(const Call& call, const queue::TypePattern& types,
                                       const queue::QueueInfo& from, const queue::QueueInfo& to);

}  // namespace allot::gateway::api
