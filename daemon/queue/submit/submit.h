// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "db/connection.h"
#include "db/statement.h"
#include "queue/model/catalog.h"
#include "queue/model/compression.h"
#include "queue/model/submit_options.h"
#include "queue/model/task.h"
#include "queue/model/task_facts.h"
#include "queue/submit/placement.h"

namespace allot::queue {

// Keys end in 2167; retries of the last tasks need some years more.
inline constexpr Moment kLastRunAt = std::chrono::sys_days(std::chrono::year(2150) / 1 / 1);
inline constexpr std::chrono::hours kMaxDelay{24 * 365 * 100};
inline constexpr std::size_t kMaxUniqueKey = 255;
inline constexpr std::size_t kMaxPartitionKey = 255;
// max_allowed_packet with which any task can be submitted: escaping may double each byte of the
// payload, to 32 MiB - 2, and the rest of the statement needs more than the 2 bytes left.
inline constexpr std::uint64_t kWantedPacket = std::uint64_t{33} << 20;

struct Submission {
  QueueInfo queue;  // found by Submitter::prepare(), or by the caller
  std::string type;
  std::string payload;
  SubmitOptions options{};
  std::string named{};  // name of the queue it was submitted to; empty: a route chooses the queue
};

// The reply to a submission was lost: all of its tasks exist, or none; which one is unknown.
class OutcomeUnknown : public Error {
 public:
  // `cause` is the message of the database, and may name accounts, hosts and statements.
  OutcomeUnknown(const std::string& outcome, const std::string& cause)
      : Error(outcome + " (" + cause + ")", kExitOutcomeUnknown), outcome_(outcome) {}
  [[nodiscard]] const std::string& outcome() const { return outcome_; }

 private:
  std::string outcome_;
};

struct Submitted {
  TaskId id;
  Owner owner = Owner::kNone;
  // Its unique key was taken: the id is of the task that has it.
  [[nodiscard]] bool existed() const { return owner != Owner::kNone; }
};

// The text in quotes, for a one-line message.
[[nodiscard]] std::string one_line(std::string_view text);

// These throw Error(kExitBadInput) that names the field.
void check_fields(const Submission& submission);
// S16: refuses options that would break the order of the queue, or that mean nothing without one.
void check_placement(const Submission& submission);
void validate(const Submission& submission);  // both

// Statements of a submission within the transaction of `db`; placed as by submit(), and already
// validated. Each call uses new salts.
std::vector<db::Statement> submit_statements(db::Connection& db,
                                             std::span<const Submission> submissions);

// Statements of one task, for a packet with others of a transaction. Directly after them
// inserted_key.sql returns the task's key or, for a task with a unique key, reserved_key.sql if the
// reservation is ours; their last one is read_unique.sql.
struct PlannedTask {
  Partition partition;
  std::uint32_t prio = 0;
  std::optional<std::uint64_t> reservation{};
  std::vector<db::Statement> statements{};
};
// Like submit_statements(), but for each task separately, to be sent in this order.
std::vector<PlannedTask> plan_each(db::Connection& db, std::span<const Submission> submissions);

// Submits in the transaction that is open on `db`. Only sends: after an error the earlier
// statements stay in the transaction. The caller may repeat an error of class kDuplicate after
// undoing them. `submissions` are validated and `placer` belongs to them; if it used another
// connection, no reservation waits for the end of this transaction.
std::vector<Submitted> submit_within(db::Connection& db, Placer placer,
                                     std::span<const Submission> submissions);

// Additions to the transaction of new tasks: the statements, in one packet with COMMIT, and the
// reader of their results. Requested again if the transaction is sent again.
struct ExtraStatements {
  std::function<std::vector<db::Statement>(std::span<const Submitted> made)> statements{};
  std::function<void(std::span<db::StatementResult> results)> answered{};
};

// Submits validated tasks, all or none, each to its partition, or spread over the partitions of its
// queue (S18). Results are in the order of `submissions`; the second of two with the same unique
// key existed. Throws OutcomeUnknown if the reply was lost, another Error if nothing was submitted.
// A batch with an unknown outcome is never sent again. `extra` adds statements to the transaction.
std::vector<Submitted> submit(db::Connection& db, std::span<const Submission> submissions,
                              const ExtraStatements& extra = {});

}  // namespace allot::queue
