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

// A finished task, as the acknowledgement needs it.
struct Finished {
  TaskKey key;
  std::optional<std::uint64_t> first_key;  // only for tasks that were tried before
  bool unique = false;                     // it has a row in task_unique
  bool cancel_watched = false;             // a request to cancel it may be there
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
// nullopt when the row is gone.
std::optional<std::string> fetch_payload(db::Connection& db, Partition partition, TaskKey key);

// Deletes finished tasks. Needs no lease (S6).
void ack(db::Connection& db, Partition partition, std::span<const Finished> finished);
// The same, and the next block in the same trip.
std::vector<Task> ack_and_fetch(db::Connection& db, Partition partition,
                                std::span<const Finished> finished, const FetchSpec& spec);
// The same, and ends the lease in the same transaction; the partition then waits for `hold`.
// False: the lease was gone already. `unused` is given back to the rate of the queue: hand it over
// for one try, and for no other (S43).
bool ack_and_release(db::Connection& db, const Lease& lease, std::span<const Finished> finished,
                     const Hold& hold = {}, const std::optional<Unused>& unused = std::nullopt);

// A task that may have brought the former holder down.
struct Suspect {
  TaskKey key;
  std::uint64_t payload_size = 0;
};

// The tasks that a lease names as suspects: as many of each class as the former holder may have had
// in hand.
std::vector<Suspect> find_suspects(db::Connection& db, Partition partition, const Suspects& named);
// Marks them (kSuspectFlag) and clears their names on the lease's row, in this order: if it ends
// halfway, the next lease finds all of them again. Several transactions, none of which is large.
[[nodiscard]] Fenced mark_suspects(db::Connection& db, const Lease& lease,
                                   std::span<const Suspect> suspects);
// Tasks whose call failed, and which this lease does not run by themselves: they have begun, so
// that they do not expire any more (A14), and where they are `suspected`, each runs by itself in
// later leases. At least one key.
[[nodiscard]] Fenced mark_called(db::Connection& db, const Lease& lease,
                                 std::span<const TaskKey> keys, bool suspected);

}  // namespace allot::queue
