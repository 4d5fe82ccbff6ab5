// SPDX-License-Identifier: Apache-2.0
#include "queue/submit/submit.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "db/transaction.h"
#include "queue/model/headers.h"
#include "queue/model/random.h"
#include "queue/model/statements.h"
#include "queue/submit/placement.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

constexpr std::size_t kMaxRows = 1000;
// Escaping may double the bytes, which must then fit into the 16 MiB that servers accept by
// default.
constexpr std::size_t kMaxStatementBytes = 7 << 20;
constexpr std::uint64_t kSalts = 4096;

struct Target {
  Partition partition;
  std::uint32_t prio = 0;
  std::chrono::microseconds delay{0};
  std::optional<Moment> run_at{};
  std::optional<std::uint32_t> layout{};  // must still be current, see placed_queue.sql
  auto operator<=>(const Target&) const = default;
};

// One multi-row INSERT: one partition, one class, one due time, bounded in rows and bytes.
struct Insert {
  Target target;
  std::vector<std::size_t> rows;  // indexes of submissions
};

// A submission with a unique key. Its reservation distinguishes it from all others with that key.
struct Unique {
  std::size_t index;
  Target target;
  std::uint64_t reservation;
};

struct Plan {
  std::vector<Insert> inserts;
  std::vector<Unique> uniques;  // sorted by queue and key
};

// The plan is sorted, so that two batches lock in the same order, and bounds each statement in rows
// and bytes. Tasks of an ordered queue all have one class and are due at once, so that the tasks of
// a partition keep their order.
Plan plan_of(Placer& placer, std::span<const Submission> submissions) {
  Plan plan;
  struct Placed {
    std::vector<Insert> inserts;
    std::size_t bytes = 0;  // in the last one
  };
  std::map<Target, Placed> placed;
  for (std::size_t i = 0; i < submissions.size(); ++i) {
    const Submission& task = submissions[i];
    const SubmitOptions& options = task.options;
    const auto [partition, layout] = placer.place(task);
    const Target target{partition, options.prio, options.delay, options.run_at, layout};
    if (options.unique_key) {
      plan.uniques.push_back({i, target, random_number<std::uint64_t>()});
      continue;
    }
    auto& [inserts, bytes] = placed[target];
    const std::size_t size = task.payload.size();
    if (inserts.empty() || inserts.back().rows.size() == kMaxRows ||
        bytes + size > kMaxStatementBytes) {
      inserts.push_back({target, {}});
      bytes = 0;
    }
    inserts.back().rows.push_back(i);
    bytes += size;
  }
  for (auto& [target, of_target] : placed) {
    std::move(of_target.inserts.begin(), of_target.inserts.end(), std::back_inserter(plan.inserts));
  }
  std::stable_sort(plan.uniques.begin(), plan.uniques.end(), [&](const Unique& a, const Unique& b) {
    return std::tie(a.target.partition.queue_id, *submissions[a.index].options.unique_key) <
           std::tie(b.target.partition.queue_id, *submissions[b.index].options.unique_key);
  });
  return plan;
}

// Microseconds since 2025; 0 for earlier moments.
std::int64_t since_2025(Moment moment) {
  constexpr Moment kFirst = std::chrono::sys_days(std::chrono::year(2025) / 1 / 1);
  return std::max(moment - kFirst, std::chrono::microseconds(0)).count();
}

std::string expires(const SubmitOptions& options) {
  if (options.expires_at) {
    db::Statement at(sql::k_expires_at);
    return at.set("expires_at_us", since_2025(*options.expires_at)).render();
  }
  if (options.expires_in.count() == 0) return "NULL";
  db::Statement in(sql::k_expires_in);
  return in.set("expires_in_us", options.expires_in.count()).render();
}

// A stored payload, and the task's flags that describe it.
struct Packed {
  const Submission& task;
  std::optional<std::string> compressed{};

  [[nodiscard]] std::string_view bytes() const { return compressed ? *compressed : task.payload; }
  [[nodiscard]] std::uint32_t flags() const {
    return compressed ? kZstdFlag : flag_of(task.options.compression);
  }
};

Packed pack(const Submission& task) {
  const SubmitOptions& options = task.options;
  const std::uint64_t above = options.compress_above.value_or(0);
  const bool small = above == 0 || task.payload.size() <= above;
  if (small || options.compression != Compression::kNone) return {task};
  return {task, compress(task.payload)};
}

std::string due(const Target& target, std::optional<std::uint64_t> last) {
  if (last) return db::Statement(sql::k_due_behind).set("last_key", *last).render();
  if (target.run_at) {
    db::Statement at(sql::k_due_at);
    return at.set("run_at_us", since_2025(*target.run_at)).render();
  }
  if (target.delay.count() == 0) return db::Statement(sql::k_due_now).render();
  db::Statement after(sql::k_due_after);
  after.set("delay_us", target.delay.count());
  return after.render();
}

std::string placed_queue(const Target& target) {
  const std::uint32_t queue_id = target.partition.queue_id;
  if (!target.layout) return std::to_string(queue_id);
  return db::Statement(sql::k_placed_queue)
      .set("queue_id", queue_id)
      .set("layout", *target.layout)
      .render();
}

// The columns of a task that do not depend on its place. `flags` are added to the flags of its
// payload.
db::Statement& set_task(db::Statement& row, const Submission& task, std::uint32_t flags = 0) {
  const SubmitOptions& options = task.options;
  const Packed packed = pack(task);
  Headers headers;
  headers.max_attempts = options.max_attempts.value_or(0);
  headers.trace = trace_of(options.traceparent, options.tracestate);
  headers.max_losses = options.max_losses.value_or(0);
  headers.label = options.label;
  headers.time_limit = options.time_limit.value_or(std::chrono::milliseconds(0));
  if (task.queue.is_keyed()) {
    row.set("key_hash", hash_of(*options.partition_key));
  } else {
    row.set_raw("key_hash", "NULL");
  }
  const std::string text = headers.text();
  return row.set_raw("expires", expires(options))
      .set("flags", flags | packed.flags())
      .set("type", task.type)
      .set_bytes("payload", packed.bytes())
      .set_bytes("headers", headers.any() ? std::optional<std::string_view>(text) : std::nullopt);
}

db::Statement& set_target(db::Statement& row, const Target& target,
                          std::optional<std::uint64_t> last = std::nullopt) {
  return row.set("partition_no", target.partition.partition_no)
      .set("prio", target.prio)
      .set_raw("due", due(target, last));
}

// The key after which tasks of an ordered queue are inserted, even if the clock was set back. Costs
// no statement for other queues.
std::optional<std::uint64_t> last_key(db::Connection& db, const Insert& insert,
                                      std::span<const Submission> submissions) {
  const QueueInfo& queue = submissions[insert.rows.front()].queue;
  if (queue.shape.placement != Placement::kOrdered) return std::nullopt;
  db::Statement last(sql::k_last_key);
  set_partition(last, insert.target.partition).set("prio", insert.target.prio);
  return db.read_first(last, [](const db::Row& row) { return row.u64(0); });
}

// Last keys that the statements of one list will have made.
using Lasts = std::map<Partition, std::uint64_t>;

std::optional<std::uint64_t> last_key(db::Connection& db, const Insert& insert,
                                      std::span<const Submission> submissions, Lasts& lasts) {
  auto last = last_key(db, insert, submissions);
  if (!last) return last;
  std::uint64_t& so_far = lasts[insert.target.partition];
  last = std::max(*last, so_far);
  so_far = *last + kSalts + insert.rows.size();
  return last;
}

db::Statement statement_of(const Insert& insert, std::span<const Submission> submissions,
                           std::optional<std::uint64_t> last, std::uint32_t offset = salt()) {
  const std::string queue_id = std::to_string(insert.target.partition.queue_id);
  std::string rows;
  for (const std::size_t i : insert.rows) {
    db::Statement row(sql::k_submit_row);
    set_target(row, insert.target, last)
        .set_raw("queue_id", rows.empty() ? placed_queue(insert.target) : queue_id)
        .set("offset", offset++);
    set_task(row, submissions[i]);
    if (!rows.empty()) rows += ",\n";
    rows += row.render();
  }
  db::Statement statement(sql::k_submit);
  statement.set_raw("rows", std::move(rows));
  return statement;
}

// Sends one INSERT, with a new salt if a key was taken, and fills in the ids of its tasks. `opens`:
// begins the transaction in the same packet.
void send(db::Connection& db, const Insert& insert, std::span<const Submission> submissions,
          std::optional<std::uint64_t> last, std::vector<Submitted>& tasks, bool opens = false) {
  send_salted([&](std::uint32_t salt) {
    const db::Statement statement = statement_of(insert, submissions, last, salt);
    auto results = opens ? db.open_transaction({&statement, 1}) : db.run({statement});
    std::uint64_t key = results.front().insert_id() - insert.rows.size();
    for (const std::size_t i : insert.rows) {
      tasks[i].id = {insert.target.partition, insert.target.prio, ++key};
    }
  });
}

// Divides the uniques into trips to the server, each for one queue.
template <typename Act>
void for_each_trip(std::span<const Unique> left, std::span<const Submission> submissions, Act act) {
  while (!left.empty()) {
    std::size_t count = 0;
    std::size_t bytes = 0;
    for (const Unique& unique : left) {
      if (unique.target.partition.queue_id != left.front().target.partition.queue_id) break;
      bytes += submissions[unique.index].payload.size();
      if (count > 0 && (count == kMaxRows || bytes > kMaxStatementBytes)) break;
      ++count;
    }
    act(left.first(count));
    left = left.subspan(count);
  }
}

// Claims the keys, makes tasks for free keys, and reads which tasks have the keys.
std::vector<db::Statement> statements_of(std::span<const Unique> uniques,
                                         std::span<const Submission> submissions) {
  const std::uint32_t queue_id = uniques.front().target.partition.queue_id;
  std::uint32_t offset = salt();
  std::string rows;
  std::vector<std::string> keys;
  std::vector<db::Statement> statements(1, db::Statement(sql::k_reserve_key));
  for (const Unique& unique : uniques) {
    const Submission& task = submissions[unique.index];
    const std::string& key = *task.options.unique_key;
    db::Statement row(sql::k_reserve_key_row);
    set_target(row, unique.target)
        .set("queue_id", queue_id)
        .set("offset", offset++)
        .set_bytes("unique_key", key)
        .set("reservation", unique.reservation)
        .set("unique_for_us", task.options.unique_for.count());
    rows += (rows.empty() ? "" : ",\n") + row.render();
    keys.push_back(key);
    set_task(statements.emplace_back(sql::k_submit_unique), task, kUniqueFlag)
        .set("queue_id", queue_id)
        .set_raw("placed_queue", placed_queue(unique.target))
        .set_bytes("unique_key", key)
        .set("reservation", unique.reservation);
  }
  statements.front().set_raw("rows", std::move(rows));
  statements.emplace_back(sql::k_read_unique)
      .set("queue_id", queue_id)
      .set_raw("unique_keys", bytes_list(keys));
  return statements;
}

void send(db::Connection& db, std::span<const Unique> uniques,
          std::span<const Submission> submissions, std::vector<Submitted>& tasks) {
  auto results = db.run(statements_of(uniques, submissions));
  struct Row {
    TaskId id;
    std::uint64_t reservation;
    bool finished;
  };
  std::map<std::string, Row, std::less<>> rows;
  const std::uint32_t queue_id = uniques.front().target.partition.queue_id;
  while (const auto row = results.back().next()) {
    const TaskId id{{queue_id, row->u32(1)}, row->u32(2), row->u64(3)};
    rows.emplace(row->text(0), Row{id, row->u64(4), row->u64(5) != 0});
  }
  for (const Unique& unique : uniques) {
    const Row& row = rows.at(*submissions[unique.index].options.unique_key);
    const Owner owner = row.finished ? Owner::kFinished : Owner::kLive;
    tasks[unique.index] = {row.id, row.reservation == unique.reservation ? Owner::kNone : owner};
  }
}

// Sends the statement that ends a submission.
template <typename Send>
void or_unknown(std::span<const Submission> submissions, const Send& send) {
  try {
    send();
  } catch (const db::DbError& error) {
    if (!error.outcome_unknown()) throw;
    const std::size_t count = submissions.size();
    const bool unique = std::all_of(submissions.begin(), submissions.end(), [](const auto& task) {
      return task.options.unique_key.has_value();
    });
    throw OutcomeUnknown(
        "the outcome of submitting " + std::to_string(count) + (count == 1 ? " task" : " tasks") +
            " is unknown, because the reply was lost: either all or none exist" +
            (unique ? ", and with their unique keys it is safe to repeat the submission" : ""),
        error.what());
  }
}

// `opens`: begins the transaction with the first INSERT; only for a plan that begins with one.
void send(db::Connection& db, const Plan& plan, std::span<const Submission> submissions,
          std::vector<Submitted>& tasks, bool opens = false) {
  for_each_trip(plan.uniques, submissions,
                [&](std::span<const Unique> uniques) { send(db, uniques, submissions, tasks); });
  for (const Insert& insert : plan.inserts) {
    send(db, insert, submissions, last_key(db, insert, submissions), tasks, opens);
    opens = false;
  }
}

// Whether no read is needed before the first INSERT.
bool begins_with_an_insert(const Plan& plan, std::span<const Submission> submissions) {
  if (!plan.uniques.empty() || plan.inserts.empty()) return false;
  const Submission& first = submissions[plan.inserts.front().rows.front()];
  return first.queue.shape.placement != Placement::kOrdered;
}

std::vector<Submitted> submit_many(db::Connection& db, const Plan& plan,
                                   std::span<const Submission> submissions,
                                   const ExtraStatements& extra) {
  std::vector<Submitted> tasks(submissions.size());
  std::vector<db::Statement> more;
  const bool opens = begins_with_an_insert(plan, submissions);
  if (!opens) db.execute("BEGIN");
  db::or_roll_back(db, [&] {
    send(db, plan, submissions, tasks, opens);
    if (extra.statements) more = extra.statements(tasks);
  });
  or_unknown(submissions, [&] {
    auto results = db.close_transaction(more);
    if (extra.answered) extra.answered(results);
  });
  return tasks;
}

}  // namespace

std::vector<db::Statement> submit_statements(db::Connection& db,
                                             std::span<const Submission> submissions) {
  Placer placer(db, submissions);
  placer.lock(db, submissions);
  const Plan plan = plan_of(placer, submissions);
  std::vector<db::Statement> statements;
  for_each_trip(plan.uniques, submissions, [&](std::span<const Unique> uniques) {
    for (db::Statement& statement : statements_of(uniques, submissions)) {
      statements.push_back(std::move(statement));
    }
  });
  Lasts lasts;
  for (const Insert& insert : plan.inserts) {
    statements.push_back(
        statement_of(insert, submissions, last_key(db, insert, submissions, lasts)));
  }
  return statements;
}

std::vector<PlannedTask> plan_each(db::Connection& db, std::span<const Submission> submissions) {
  Placer placer(db, submissions);
  placer.lock(db, submissions);
  std::vector<PlannedTask> tasks;
  Lasts lasts;
  for (const Submission& submission : submissions) {
    const std::span<const Submission> one(&submission, 1);
    const Plan plan = plan_of(placer, one);
    PlannedTask& task = tasks.emplace_back();
    const Target& target =
        plan.uniques.empty() ? plan.inserts.front().target : plan.uniques.front().target;
    task.partition = target.partition;
    task.prio = target.prio;
    if (plan.uniques.empty()) {
      const Insert& insert = plan.inserts.front();
      task.statements.push_back(statement_of(insert, one, last_key(db, insert, one, lasts)));
    } else {
      task.reservation = plan.uniques.front().reservation;
      task.statements = statements_of(plan.uniques, one);
    }
  }
  return tasks;
}

std::vector<Submitted> submit_within(db::Connection& db, Placer placer,
                                     std::span<const Submission> submissions) {
  std::vector<Submitted> tasks(submissions.size());
  placer.lock(db, submissions);
  send(db, plan_of(placer, submissions), submissions, tasks);
  return tasks;
}

std::vector<Submitted> submit(db::Connection& db, std::span<const Submission> submissions,
                              const ExtraStatements& extra) {
  if (submissions.empty()) return {};
  Placer placer(db, submissions);
  Plan plan = plan_of(placer, submissions);
  for (int tries = 1;; ++tries) {
    try {
      if (plan.uniques.empty() && plan.inserts.size() == 1 && !extra.statements) {
        const Insert& insert = plan.inserts.front();
        std::vector<Submitted> tasks(submissions.size());
        const auto last = last_key(db, insert, submissions);
        or_unknown(submissions, [&] { send(db, insert, submissions, last, tasks); });
        return tasks;
      }
      return submit_many(db, plan, submissions, extra);
    } catch (const db::DbError& error) {
      // A deadlock has rolled the transaction back, and so has a reservation that met another
      // task's key: only these are sent again.
      const bool again =
          error.error_class() == db::ErrorClass::kRetryable ||
          (error.error_class() == db::ErrorClass::kDuplicate && !plan.uniques.empty());
      const bool resized = error.number() == kOutOfRange;  // placed_queue.sql
      if ((!again && !resized) || tries == kSaltTries) throw;
      if (resized && !placer.lock(db, submissions)) throw;
      if (resized) plan = plan_of(placer, submissions);
    }
  }
}

}  // namespace allot::queue
