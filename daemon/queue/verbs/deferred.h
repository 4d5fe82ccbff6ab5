// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "db/connection.h"
#include "queue/model/lease.h"
#include "queue/model/task.h"
#include "queue/verbs/ending.h"

// Tasks whose type has no handler in this instance. A worker puts them back under its lease and
// notes their types (S65); a worker with the handler finds the notes, and calls the tasks forward
// under its own lease (S66). Each verb may be repeated after a lost reply, and throws db::DbError.
namespace allot::queue {

// Moves the tasks 30 s ahead in the order of their keys, without charging an attempt. At least one
// key.
[[nodiscard]] Fenced defer(db::Connection& db, const Lease& lease, std::vector<TaskKey> keys);
// For a queue that keeps an order: the task stays, and its partition waits.
[[nodiscard]] Fenced mark_unknown(db::Connection& db, const Lease& lease, TaskKey key);

// A type with deferred tasks in a partition.
struct DeferredType {
  std::uint32_t prio = 0;
  std::string type;
  std::uint64_t from_key = 0, to_key = 0;  // range of their keys, unless they are due
};
std::vector<DeferredType> deferred_types(db::Connection& db, Partition partition);

struct DeferredTask {
  TaskKey key;
  std::uint64_t first_key = 0;
};
// The first deferred tasks of a type; fewer than `most`: there are no more.
std::vector<DeferredTask> find_deferred(db::Connection& db, const Lease& lease,
                                        const DeferredType& type, std::uint32_t most);

// Returns these tasks to their former places, then notes where further ones of the type are
// (`more`) or deletes the note.
[[nodiscard]] Fenced call_forward(db::Connection& db, const Lease& lease, const DeferredType& type,
                                  std::span<const DeferredTask> tasks, bool more);

// A type with deferred tasks in a free partition.
struct ScoutedType {
  Partition partition;
  std::string type;
};
db::Statement scout_deferred_statement(std::span<const std::uint32_t> queues,
                                       const HolderTime& time);
std::vector<ScoutedType> read_scouted_types(db::StatementResult& rows);

// Removes notes whose tasks must all be due by now. True: there may be more.
bool purge_deferred(db::Connection& db);

}  // namespace allot::queue
