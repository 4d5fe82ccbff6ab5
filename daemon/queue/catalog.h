// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/connection.h"

namespace allot::queue {

// Since when, by the database's clock, and why nobody leases the partitions of a queue.
struct Pause {
  std::string at;      // UTC, ISO 8601
  std::string reason;  // may be empty
};

struct QueueInfo {
  std::uint32_t queue_id = 0;
  std::string name;
  std::uint32_t partitions = 0;   // the database owns this number (S17)
  std::optional<Pause> paused{};  // only from list_queues()
};

std::optional<QueueInfo> find_queue(db::Connection& db, std::string_view name);
std::vector<QueueInfo> list_queues(db::Connection& db);

inline constexpr std::size_t kMaxPauseReason = 255;  // characters of UTF-8

// From now on no worker of any host takes a partition of this queue; who has one goes on until his
// block_seconds are over. Of one that is paused the reason changes, not since when it is.
void pause(db::Connection& db, const QueueInfo& queue, std::string_view reason);
// False: it was not paused.
bool resume(db::Connection& db, const QueueInfo& queue);

// What is submitted from now on goes to so many partitions (S17). New ones have their lease rows
// before; those that are retired keep theirs, and are drained. Programs that know the queue already
// go on with the number they know.
void resize(db::Connection& db, const QueueInfo& queue, std::uint32_t partitions);

// Makes the queue and its lease rows if they are missing; an existing queue keeps its partitions.
QueueInfo ensure_queue(db::Connection& db, std::string_view name, std::uint32_t partitions);

}  // namespace allot::queue
