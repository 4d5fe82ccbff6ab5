// SPDX-License-Identifier: Apache-2.0
#include "queue/submit.h"

#include <sys/random.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "sql/queries.h"

namespace allot::queue {
namespace {

constexpr std::size_t kMaxRows = 1000;
// Escaping may double them, and then they must fit into the 16 MiB that servers accept by default.
constexpr std::size_t kMaxStatementBytes = 7 << 20;
constexpr int kTries = 8;

using Indexes = std::vector<std::size_t>;

std::uint32_t random_number() {
  std::uint32_t value = 0;
  if (getrandom(&value, sizeof value, 0) != static_cast<ssize_t>(sizeof value)) value = 0;
  return value;
}

struct Target {
  Partition partition;
  std::uint32_t prio = 0;
  std::chrono::microseconds delay{0};
  std::optional<Moment> run_at{};
  auto operator<=>(const Target&) const = default;
};

// One multi-row INSERT: one partition, one class, one due time, bounded in rows and bytes.
struct Insert {
  Target target;
  Indexes rows;
};

// S18: neighbours go to different partitions, so that four workers share even 500 slow tasks; the
// start is random, so that single submissions spread too. Sorted: two batches lock in one order.
std::vector<Insert> place(std::span<const Submission> submissions) {
  std::map<Target, Indexes> placed;
  std::map<std::uint32_t, std::uint32_t> next;
  for (std::size_t i = 0; i < submissions.size(); ++i) {
    const Submission& task = submissions[i];
    auto [at, is_new] = next.try_emplace(task.queue.queue_id, 0U);
    if (is_new) at->second = random_number();
    const std::uint32_t partition_no = at->second++ % task.queue.partitions;
    const SubmitOptions& options = task.options;
    const Partition partition{task.queue.queue_id, partition_no};
    placed[{partition, options.prio, options.delay, options.run_at}].push_back(i);
  }
  std::vector<Insert> inserts;
  for (const auto& [target, rows] : placed) {
    std::size_t bytes = 0;
    inserts.push_back({target, {}});
    for (const std::size_t row : rows) {
      const std::size_t size = submissions[row].payload.size();
      Indexes* open = &inserts.back().rows;
      if (!open->empty() && (open->size() == kMaxRows || bytes + size > kMaxStatementBytes)) {
        open = &inserts.emplace_back(Insert{target, {}}).rows;
        bytes = 0;
      }
      open->push_back(row);
      bytes += size;
    }
  }
  return inserts;
}

db::Statement row_of(const Target& target) {
  if (target.run_at) {
    constexpr Moment kFirst = std::chrono::sys_days(std::chrono::year(2025) / 1 / 1);
    db::Statement row(sql::k_submit_row_at);
    row.set("run_at_us", std::max(*target.run_at - kFirst, std::chrono::microseconds(0)).count());
    return row;
  }
  if (target.delay.count() == 0) return db::Statement(sql::k_submit_row);
  db::Statement row(sql::k_submit_row_after);
  row.set("delay_us", target.delay.count());
  return row;
}

db::Statement statement_of(const Insert& insert, std::span<const Submission> submissions) {
  std::uint32_t offset = random_number() & 4095U;
  std::string rows;
  for (const std::size_t i : insert.rows) {
    db::Statement row = row_of(insert.target);
    row.set("queue_id", insert.target.partition.queue_id)
        .set("partition_no", insert.target.partition.partition_no)
        .set("prio", insert.target.prio)
        .set("offset", offset++)
        .set("type", submissions[i].type)
        .set_bytes("payload", submissions[i].payload);
    if (!rows.empty()) rows += ",\n";
    rows += row.render();
  }
  db::Statement statement(sql::k_submit);
  statement.set_raw("rows", std::move(rows));
  return statement;
}

// Sends one INSERT, with a new salt when a key was taken, and fills in the ids of its tasks.
void send(db::Connection& db, const Insert& insert, std::span<const Submission> submissions,
          std::vector<TaskId>& ids) {
  for (int tries = 1;; ++tries) {
    try {
      auto results = db.run({statement_of(insert, submissions)});
      std::uint64_t key = results.front().insert_id() - insert.rows.size();
      for (const std::size_t i : insert.rows) {
        ids[i] = {insert.target.partition, insert.target.prio, ++key};
      }
      return;
    } catch (const db::DbError& error) {
      if (error.error_class() != db::ErrorClass::kDuplicate || tries == kTries) throw;
    }
  }
}

[[noreturn]] void outcome_unknown(std::size_t count, const db::DbError& error) {
  throw OutcomeUnknown(
      "the outcome of submitting " + std::to_string(count) + (count == 1 ? " task" : " tasks") +
      " is unknown, because the reply was lost: they exist all or none (" + error.what() + ")");
}

std::vector<TaskId> submit_one(db::Connection& db, const Insert& insert,
                               std::span<const Submission> submissions) {
  std::vector<TaskId> ids(submissions.size());
  try {
    send(db, insert, submissions, ids);
  } catch (const db::DbError& error) {
    if (error.error_class() == db::ErrorClass::kGone) outcome_unknown(submissions.size(), error);
    throw;
  }
  return ids;
}

std::vector<TaskId> submit_many(db::Connection& db, std::span<const Insert> inserts,
                                std::span<const Submission> submissions) {
  std::vector<TaskId> ids(submissions.size());
  db.execute("BEGIN");
  try {
    for (const Insert& insert : inserts) send(db, insert, submissions, ids);
  } catch (const db::DbError& error) {
    if (error.error_class() != db::ErrorClass::kGone) db.execute("ROLLBACK");
    throw;
  }
  try {
    db.execute("COMMIT");
  } catch (const db::DbError& error) {
    if (error.error_class() == db::ErrorClass::kGone) outcome_unknown(submissions.size(), error);
    throw;
  }
  return ids;
}

}  // namespace

void validate(const SubmitOptions& options) {
  if (options.prio >= kPrioClasses) {
    throw Error("prio " + std::to_string(options.prio) + ": 0 (first) to 3 are allowed",
                kExitBadInput);
  }
  if (options.delay.count() < 0 || options.delay > kMaxDelay) {
    throw Error("delay of " + std::to_string(options.delay.count()) +
                    " microseconds: 0 to a century are allowed",
                kExitBadInput);
  }
  if (options.run_at && options.delay.count() != 0) {
    throw Error("delay and run_at together: a task has one of them", kExitBadInput);
  }
  if (options.run_at && *options.run_at >= kLastRunAt) {
    throw Error("run_at: the year 2150 or later; the last day is 2149-12-31", kExitBadInput);
  }
}

void validate(const Submission& submission) {
  if (!is_name(submission.type)) {
    throw Error("type '" + submission.type + "': 1 to 63 of A-Z a-z 0-9 . _ - are allowed",
                kExitBadInput);
  }
  if (submission.payload.size() > kMaxPayload) {
    throw Error("payload of " + std::to_string(submission.payload.size()) +
                    " bytes: the most is 16 MiB - 1 (" + std::to_string(kMaxPayload) +
                    "); put the data elsewhere and submit its name",
                kExitBadInput);
  }
  validate(submission.options);
}

std::vector<TaskId> submit(db::Connection& db, std::span<const Submission> submissions) {
  for (const Submission& submission : submissions) validate(submission);
  const std::vector<Insert> inserts = place(submissions);
  if (inserts.empty()) return {};
  for (int tries = 1;; ++tries) {
    try {
      if (inserts.size() == 1) return submit_one(db, inserts.front(), submissions);
      return submit_many(db, inserts, submissions);
    } catch (const db::DbError& error) {
      // A deadlock's transaction is rolled back for certain: the one case that is sent again.
      if (error.error_class() != db::ErrorClass::kRetryable || tries == kTries) throw;
    }
  }
}

}  // namespace allot::queue
