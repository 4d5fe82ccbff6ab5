// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>

#include "base/clock.h"
#include "db/connection.h"
#include "ipc/slot.h"
#include "queue/verbs/lease_store.h"

namespace allot::process {

// Connects, and logs which servers of the list were skipped and why. Throws DbError.
[[nodiscard]] db::Connection connect(const db::ConnectOptions& options);

// How long a worker's statements wait for a lock of another session: a third of a lease, so that
// the lease in hand does not expire during the wait. From 1 s, the minimum of a server, to 5 s.
[[nodiscard]] std::chrono::seconds lock_wait(std::chrono::microseconds ttl);

// Connection `which` of a slot (SlotWriter::connected), for queue::kill_connections; id 0: none.
inline queue::FormerConnection former_connection(const ipc::Slot& slot, std::size_t which) {
  return {.id = slot.connection_ids[which].load(),
          .server_id = slot.server_ids[which],
          .uptime = std::chrono::seconds(slot.server_uptimes[which]),
          .age = std::chrono::nanoseconds(boot_ns() - slot.connected_ns[which])};
}

}  // namespace allot::process
