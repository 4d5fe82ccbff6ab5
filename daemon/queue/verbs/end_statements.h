// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "db/connection.h"
#include "db/statement.h"
#include "queue/model/claim.h"
#include "queue/model/task.h"
#include "queue/verbs/block.h"
#include "queue/verbs/ending.h"

// What the verbs that take a task out for good send, each with statements of its own beside.
namespace allot::queue {

// For a write that matched nothing: kWritten where the lease is still held, because then an earlier
// try had succeeded, whose reply was lost.
[[nodiscard]] Fenced fence_holds(db::Connection& db, Partition partition, std::uint64_t epoch,
                                 std::uint64_t holder);

// Sends one transaction, whose last SQL statement says whether the fence held.
[[nodiscard]] Fenced send_fenced(db::Connection& db, const Lease& lease,
                                 std::span<const db::Statement> writes);

// Sets a bit of the flags of tasks; Begun::kYes also says that they have begun (A14).
enum class Begun { kYes, kMaybe };
db::Statement flag_statement(const Lease& lease, std::span<const TaskKey> keys, std::uint32_t flag,
                             Begun begun = Begun::kMaybe);

// How a task ended: a dead one, also one that was cancelled, gives its unique key up at once.
enum class End { kFinished, kDead };
// Stamps unique keys, named by the first keys of their tasks, so that their time begins to run out.
db::Statement stamp_statement(Partition partition, std::span<const TaskKey> first_keys, End end);

// ack.sql, behind keep_history.sql where the queue keeps one; plus ack_history.sql if a task was
// tried before, stamp_unique.sql if one has a unique key, clear_cancel.sql if one may have been
// cancelled. Empty for no tasks.
std::vector<db::Statement> ack_statements(Partition partition, std::span<const Finished> finished);

// The acknowledgement of a detached task, behind its record where its queue keeps a history.
std::vector<db::Statement> ack_detached_statements(const Claim& claim,
                                                   const std::optional<Record>& record);

// What goes behind the statements that take one task out for good; each is one SQL statement. They
// do not ask whether it has a unique key or a request to cancel it: few tasks end alone.
std::vector<db::Statement> end_statements(const Claim& claim, End end);

}  // namespace allot::queue
