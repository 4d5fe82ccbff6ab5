// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>

#include "base/clock.h"
#include "ipc/slot.h"
#include "queue/verbs/lease_store.h"

namespace allot::process {

// Connection `which` of a slot (SlotWriter::connected), for queue::kill_connections; id 0: none.
inline queue::FormerConnection former_connection(const ipc::Slot& slot, std::size_t which) {
  return {.id = slot.connection_ids[which].load(),
          .server_id = slot.server_ids[which],
          .uptime = std::chrono::seconds(slot.server_uptimes[which]),
          .age = std::chrono::nanoseconds(boot_ns() - slot.connected_ns[which])};
}

}  // namespace allot::process
