// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "db/connection.h"
#include "db/statement.h"
#include "queue/model/fence.h"
#include "queue/model/task.h"
#include "queue/verbs/block.h"
#include "queue/verbs/ending.h"

// Shared statements of the verbs that remove a task permanently.
namespace allot::queue {

// Result of a write that matched nothing: kWritten if the lease is still held, because then an
// earlier try, whose reply was lost, had succeeded.
[[nodiscard]] Fenced fence_holds(db::Connection& db, const Lease& lease);

// Sends one transaction. Its last SQL statement shows whether the fence held.
[[nodiscard]] Fenced send_fenced(db::Connection& db, const Lease& lease,
                                 std::span<const db::Statement> writes);

// Sets a bit of the flags of tasks; Begun::kYes also records that they have started (A14).
enum class Begun { kYes, kMaybe };
db::Statement flag_statement(const Lease& lease, std::span<const TaskKey> keys, std::uint32_t flag,
                             Begun begun = Begun::kMaybe);

// End of a task: a dead one, also by cancellation, releases its unique key at once.
enum class End { kFinished, kDead };
// Stamps unique keys, named by the first keys of their tasks, so that their reservation starts to
// run out.
db::Statement stamp_statement(Partition partition, std::span<const TaskKey> first_keys, End end);

// keep_history.sql if the queue has a history, then ack.sql; plus ack_history.sql if a task was
// tried before, stamp_unique.sql if one has a unique key, clear_cancel.sql if one may have been
// cancelled. Empty for no tasks.
std::vector<db::Statement> ack_statements(Partition partition, std::span<const Finished> finished);

// The acknowledgement of a detached task, after its record if its queue has a history.
std::vector<db::Statement> ack_detached_statements(const Fence& fence,
                                                   const std::optional<Record>& record);

// Statements that follow the removal of one task; each is one SQL statement. They are sent even
// without a unique key or a cancel request: few tasks end this way.
std::vector<db::Statement> end_statements(const Fence& fence, End end);

}  // namespace allot::queue
