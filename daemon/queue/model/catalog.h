// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/settings.h"
#include "db/connection.h"
#include "queue/model/rate.h"

namespace allot::queue {

// Since when (by the database's clock) and why workers do not lease the partitions of a queue.
struct Pause {
  std::string at;      // UTC, ISO 8601
  std::string reason;  // may be empty
};

// Rule for the partition of a task. All except the first use its partition_key.
enum class Placement {
  kSpread,   // any: consecutive tasks go to different ones (S18)
  kOrdered,  // one per key: its tasks run in order, one at a time (A7, S16)
  kLimited,  // max_running per key: limit of its tasks that run at a time (A8)
  kFair      // one per key that has tasks, while there are enough (A9)
};
// Word in the database and in the configuration: "spread".
[[nodiscard]] std::string_view name_of(Placement placement);

// Shape of a new queue; afterwards the database owns it (S17).
struct QueueShape {
  std::uint32_t partitions = 0;
  Placement placement = Placement::kSpread;
  std::uint32_t max_running = 1;
  bool operator==(const QueueShape&) const = default;
};
[[nodiscard]] QueueShape shape_of(const config::Queue& queue);
// "16 partitions", "16 partitions, limited to 2 of a key".
[[nodiscard]] std::string text_of(const QueueShape& shape);

struct QueueInfo {
  std::uint32_t queue_id = 0;
  std::string name;
  QueueShape shape{};
  std::optional<Pause> paused{};  // only from list_queues()
  // The first of the queue's current partitions; ordered and limited queues get other ones with
  // each layout.
  std::uint32_t first_partition = 0;
  std::uint32_t layout = 0;
  // Limit of its tasks that run at a time in the whole cluster (S51); 0: no limit.
  std::uint32_t cap = 0;
  bool resizing = false;  // only from list_queues(): see operate/resize.h
  // Whether a route may apply to its submissions; the submitter then checks, see submit/address.h.
  bool routed = false;
  // The queue whose route led to this one; 0: no route.
  std::uint32_t routed_from = 0;
  std::optional<Rate> rate{};  // only from list_queues(): see operate/limits.h

  [[nodiscard]] std::uint32_t partitions() const { return shape.partitions; }
  // Number of the queue that a task was submitted to.
  [[nodiscard]] std::uint32_t source_id() const {
    return routed_from != 0 ? routed_from : queue_id;
  }
  // Whether a running task has its partition, or one of the partitions of its key, to itself: it
  // does not detach, and ends with its lease (S5).
  [[nodiscard]] bool is_keyed() const {
    return shape.placement == Placement::kOrdered || shape.placement == Placement::kLimited;
  }
};

// Reads a row of find_queue.sql. Throws DbError (kSuperseded) if the server is not the writer any
// more.
QueueInfo queue_in(const db::Row& row);
// Finds a queue by name. A submitter uses address() of submit/address.h instead, which follows
// routes.
std::optional<QueueInfo> find_queue(db::Connection& db, std::string_view name);
std::vector<QueueInfo> list_queues(db::Connection& db);
// Queues made by requests of programs, for pools that serve all of them.
std::vector<QueueInfo> made_queues(db::Connection& db);
// Current rows of the queues, by number; their layouts are locked until the transaction that is
// open on `db` ends.
std::map<std::uint32_t, QueueInfo> lock_layouts(db::Connection& db,
                                                std::span<const std::uint32_t> queue_ids);
// As list_queues() reads it. Without a name: no such queue.
QueueInfo find_listed(db::Connection& db, std::uint32_t queue_id);
// Empty: no such queue.
std::string queue_name(db::Connection& db, std::uint32_t queue_id);

// Makes the lease rows of the first partitions; existing ones stay unchanged. Also fills in missing
// rows that may have been leased before, and returns their number (S59): these are leased only
// after the longest lease plus a second.
std::size_t make_partitions(db::Connection& db, std::uint32_t queue_id, std::uint32_t partitions);

// Makes the queue and its lease rows, as part of the transaction that is open on `db`. False: the
// name exists; waits for a concurrent transaction that makes it.
bool create_queue(db::Connection& db, std::string_view name, const QueueShape& shape);
// Makes the queue and its lease rows if missing; an existing queue keeps its shape.
QueueInfo ensure_queue(db::Connection& db, std::string_view name, const QueueShape& shape);
// Finds the queue, or makes it as configured (nullptr: it is not configured).
std::optional<QueueInfo> find_or_make(db::Connection& db, std::string_view name,
                                      const config::Queue* configured);

// Repairs of lease rows: missing rows, and releases by a clock that was ahead. Any number of hosts
// may call this concurrently.
struct QueueHoles {
  std::uint32_t queue_id = 0;
  std::string queue;
  std::uint64_t missing = 0;  // lease rows
};
// Queues with missing lease rows: tasks of such a partition wait until the row is filled in (S59).
std::vector<QueueHoles> queue_holes(db::Connection& db);
// Fills in the rows and returns the queues. A new row is leased only after no holder of the deleted
// row can start a task.
std::vector<QueueHoles> fill_holes(db::Connection& db);

// Shortens the times of free partitions that were released by a clock that was ahead (S60). Returns
// their number.
std::size_t bound_releases(db::Connection& db);

}  // namespace allot::queue
