// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "allot/submit_options.h"
#include "db/connection.h"
#include "db/statement.h"
#include "queue/model/catalog.h"
#include "queue/model/compression.h"
#include "queue/model/task.h"
#include "queue/submit/placement.h"

namespace allot::queue {

using allot::Moment;
using allot::SubmitOptions;

// Keys end in 2167; retries of the last tasks still need some years.
inline constexpr Moment kLastRunAt = std::chrono::sys_days(std::chrono::year(2150) / 1 / 1);
inline constexpr std::chrono::hours kMaxDelay{24 * 365 * 100};
inline constexpr std::size_t kMaxUniqueKey = 255;
inline constexpr std::size_t kMaxPartitionKey = 255;
// The max_allowed_packet with which any task can be submitted: escaping may double each byte of its
// payload, which makes 32 MiB - 2, and the statement around it has more than the two that are left.
inline constexpr std::uint64_t kWantedPacket = std::uint64_t{33} << 20;

struct Submission {
  QueueInfo queue;
  std::string type;
  std::string payload;
  SubmitOptions options{};
};

// The reply to a submission was lost: all of its tasks exist, or none, and nobody here knows.
class OutcomeUnknown : public Error {
 public:
  // `cause` is what the database said, and may name accounts, hosts and statements.
  OutcomeUnknown(const std::string& outcome, const std::string& cause)
      : Error(outcome + " (" + cause + ")", kExitOutcomeUnknown), outcome_(outcome) {}
  [[nodiscard]] const std::string& outcome() const { return outcome_; }

 private:
  std::string outcome_;
};

struct Submitted {
  TaskId id;
  bool existed = false;   // its unique key was taken: this is the task that has it
  bool finished = false;  // that task has, and its key is not free yet
};

// How many tasks of a submission are new, by the id of their queue: these are to be rung for.
std::map<std::uint32_t, std::size_t> new_tasks(std::span<const Submitted> made);

// Throws Error(kExitBadInput) that names the field. The second one knows the queue, and checks
// whether it takes such a task.
void validate(std::string_view type, std::string_view payload, const SubmitOptions& options);
void validate(const Submission& submission);

// The statements of a submission that is part of the transaction of `db`; placed as by submit(),
// and validated before. Each call has new salts.
std::vector<db::Statement> submit_statements(db::Connection& db,
                                             std::span<const Submission> submissions);

// The statements of one task, for a packet with others of a transaction. Right behind them
// inserted_key.sql has the task's key or, of a task with a unique key, claimed_key.sql, if its
// claim is ours; the last one of those is read_unique.sql.
struct PlannedTask {
  Partition partition;
  std::uint32_t prio = 0;
  std::optional<std::uint64_t> claim{};
  std::vector<db::Statement> statements{};
};
// Like submit_statements(), for each task alone, to be sent in this order.
std::vector<PlannedTask> plan_each(db::Connection& db, std::span<const Submission> submissions);

// Submits in the transaction that is open on `db`. It only sends: after an error the earlier
// statements stay in the transaction. The caller may repeat an error of class kDuplicate, once it
// has undone them. `submissions` are validated and `placer` belongs to them; if it asked over
// another connection, no claim waits for the end of this transaction.
std::vector<Submitted> submit_within(db::Connection& db, Placer placer,
                                     std::span<const Submission> submissions);

// What belongs to new tasks and goes into their transaction: the statements, in one packet with
// COMMIT, and what reads the answers. Asked for again where the transaction is sent again.
struct Beside {
  std::function<std::vector<db::Statement>(std::span<const Submitted> made)> statements{};
  std::function<void(std::span<db::StatementResult> results)> answered{};
};

// Submits all or none, each to its partition, or spread over the partitions of their queues (S18).
// The results are in the order of `submissions`; of two with the same unique key the second one
// existed. Throws OutcomeUnknown when the reply was lost, any other Error when nothing was
// submitted. Never sends a batch again whose outcome is unknown.
// `beside` adds to the transaction what belongs to its tasks.
std::vector<Submitted> submit(db::Connection& db, std::span<const Submission> submissions,
                              const Beside& beside = {});

}  // namespace allot::queue
