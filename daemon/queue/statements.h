// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "db/error.h"
#include "db/statement.h"
#include "queue/block.h"
#include "queue/claim.h"
#include "queue/compression.h"
#include "queue/ending.h"
#include "queue/task.h"

// Helpers with which the stores of this folder fill their statements. No other folder includes
// this.
namespace allot::queue {

inline db::Statement& set_partition(db::Statement& statement, Partition partition) {
  return statement.set("queue_id", partition.queue_id).set("partition_no", partition.partition_no);
}

inline db::Statement& set_id(db::Statement& statement, const TaskId& id) {
  return set_partition(statement, id.partition).set("prio", id.prio).set("first_key", id.first_key);
}

inline db::Statement& set_fence(db::Statement& statement, const Lease& lease) {
  return set_partition(statement, lease.partition)
      .set("epoch", lease.epoch)
      .set("holder", lease.holder);
}

inline db::Statement& set_fence(db::Statement& statement, const Claim& claim) {
  return set_partition(statement, claim.id.partition)
      .set("epoch", claim.epoch)
      .set("holder", claim.holder);
}

// The fence, and the name of the row in the place where the task is.
inline db::Statement& set_row(db::Statement& statement, const Claim& claim) {
  set_fence(statement, claim).set("prio", claim.id.prio);
  return claim.detached() ? statement.set("first_key", claim.id.first_key)
                          : statement.set("run_key", claim.run_key);
}

// For a write that matched nothing: kWritten where the lease is still held, because then an earlier
// try had succeeded, whose reply was lost.
[[nodiscard]] Fenced fence_holds(db::Connection& db, Partition partition, std::uint64_t epoch,
                                 std::uint64_t holder);

inline db::Statement& set_state(db::Statement& statement, const StoredState& state) {
  return statement.set_bytes("payload", state.bytes())
      .set("stored_flags", state.flags())
      .set("compressed_flags", kCompressedFlags | kCompressibleFlag);
}

db::Statement& set_usage(db::Statement& statement, const Usage& usage);

// "1,2,3", or NULL for none.
std::string id_list(std::span<const std::uint32_t> ids);

// "prio = 0 AND run_key IN (1,2) OR prio = 1 AND run_key IN (3)"; run_key is the name `key`.
std::string key_condition(std::string_view key, std::span<const TaskKey> keys);

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

// A burial that a hook reports.
struct Death {
  const OnDead& hook;
  std::uint32_t attempt;
  const Verdict& verdict;
};
// Fills the placeholders of hook_dead.sql and hook_detached.sql except the fence.
void set_death(db::Statement& hook, const Death& death, const TaskId& id, std::uint32_t salt);

// A pause that begins now, by the time of the holder.
db::Statement& set_pause(db::Statement& statement, std::chrono::microseconds pause,
                         const HolderTime& time);

// Microseconds, from 0 to a century.
std::int64_t bounded_us(std::chrono::microseconds delay);

// The bits of Task::flags that outlast an attempt: its end clears the task of suspicion, unless
// nobody knows how it ended, or it took its worker with it. An attempt also shows that some handler
// knows the type.
inline constexpr std::uint32_t kAllFlags = 0xff & ~kNoHandlerFlag;
inline constexpr std::uint32_t kEndedFlags = kAllFlags & ~kSuspectFlag;
std::uint32_t kept_flags(const Verdict& verdict);

// The error of require_task.sql, require_detached.sql and placed_queue.sql.
inline constexpr unsigned kOutOfRange = 1690;

inline constexpr int kSaltTries = 8;

// Distinguishes keys of the same microsecond; new for each statement.
std::uint32_t salt();

// Sends statements that give a new key, with another salt as long as the key is taken.
template <typename Send>
Fenced send_salted(Send&& send) {
  for (int tries = 1;; ++tries) {
    try {
      return send(salt());
    } catch (const db::DbError& error) {
      if (error.error_class() != db::ErrorClass::kDuplicate || tries == kSaltTries) throw;
    }
  }
}

}  // namespace allot::queue
