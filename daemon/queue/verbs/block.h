// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "db/connection.h"
#include "queue/model/lease.h"
#include "queue/model/rate.h"
#include "queue/model/task.h"
#include "queue/verbs/ending.h"
#include "queue/verbs/lease_store.h"

namespace allot::queue {

// Data of a finished task for its acknowledgement.
struct Finished {
  TaskKey key;
  std::optional<std::uint64_t> first_key;  // only for tasks that were tried before
  bool unique = false;                     // it has a row in task_unique
  bool cancel_watched = false;             // it may have a request to cancel it
  std::optional<Record> record{};          // for its queue's history
};

[[nodiscard]] inline Finished finished(const Task& task) {
  return {task.key, task.attempt > 0 ? std::optional(task.id_key()) : task.first_key,
          (task.flags & kUniqueFlag) != 0, (task.flags & kCancelWatchedFlag) != 0, task.record};
}

db::Statement fetch_statement(Partition partition, const FetchSpec& spec);
std::vector<Task> read_tasks(db::StatementResult& rows);

// The verbs on the block of a leased partition. Each is one trip, may be repeated after a lost
// reply, and throws db::DbError.

std::vector<Task> fetch(db::Connection& db, Partition partition, const FetchSpec& spec);
// nullopt if the row is gone.
std::optional<std::string> fetch_payload(db::Connection& db, Partition partition, TaskKey key);

// Deletes finished tasks. Needs no lease (S6).
void ack(db::Connection& db, Partition partition, std::span<const Finished> finished);
// The same, and fetches the next block in the same trip.
std::vector<Task> ack_and_fetch(db::Connection& db, Partition partition,
                                std::span<const Finished> finished, const FetchSpec& spec);
// The same, and ends the lease in the same transaction; the partition then waits for `deferral`.
// False: the lease was already gone. `unused` is given back to the rate of the queue: pass it for
// one try only (S43).
bool ack_and_release(db::Connection& db, const Lease& lease, std::span<const Finished> finished,
                     const Deferral& deferral = {},
                     const std::optional<Unused>& unused = std::nullopt);

// A task that may have crashed the former holder.
struct Suspect {
  TaskKey key;
  std::uint64_t payload_size = 0;
};

// The tasks that a lease names as suspects: per class as many as the former holder may have been
// running.
std::vector<Suspect> find_suspects(db::Connection& db, Partition partition, const Suspects& named);
// Marks them (kSuspectFlag), then clears their names on the lease's row: after an interruption the
// next lease finds all of them again. Several transactions, each of bounded size.
[[nodiscard]] Fenced mark_suspects(db::Connection& db, const Lease& lease,
                                   std::span<const Suspect> suspects);
}  // namespace allot::queue
