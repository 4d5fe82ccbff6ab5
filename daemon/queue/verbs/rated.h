// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "db/connection.h"
#include "queue/model/lease.h"
#include "queue/model/rate.h"
#include "queue/verbs/block.h"
#include "queue/verbs/lease_store.h"

namespace allot::queue {

// The verbs on a queue with a rate (A11). Each is one trip. A repeat after a lost reply charges
// again: the starts of the lost reply are lost, too (S43).

// Closed: a queue in which no task may start now.
enum class Closed { kLeftOut, kToo };
// The queues that scout() leaves out. `queues` are all that the caller serves.
ScoutedRates scout_rated(db::Connection& db, std::span<const std::uint32_t> queues,
                         const HolderTime& time, Closed closed = Closed::kLeftOut);
// The statements of scout_rated(), to send with others, and the reader of their two results.
db::Statement scout_rated_statement(std::span<const std::uint32_t> queues, const HolderTime& time,
                                    Closed closed = Closed::kLeftOut);
ScoutedRates read_scouted_rates(std::span<db::StatementResult> results);

// A lease of a rated queue, if it was taken, and how many tasks it may start.
struct RatedLease {
  std::optional<Block> block;
  Granted granted;
};
// nullopt: another session has locked the row of the lease, and nothing was read.
std::optional<RatedLease> lease_rated(db::Connection& db, const LeaseStore& store,
                                      Partition partition, const FetchSpec& spec,
                                      std::uint32_t asked, Locked locked = Locked::kWait,
                                      Deferred deferred = Deferred::kSkip);

// Result of ack_and_fetch(), and how many of the tasks may start.
struct RatedFetch {
  std::vector<Task> tasks;
  Granted granted;
};
RatedFetch ack_and_fetch_rated(db::Connection& db, const Lease& lease,
                               std::span<const Finished> finished, const FetchSpec& spec,
                               std::uint32_t asked);

// To be sent once, after a release.
db::Statement give_back_statement(const Unused& unused);

}  // namespace allot::queue
