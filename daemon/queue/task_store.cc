// SPDX-License-Identifier: Apache-2.0
#include "queue/task_store.h"

#include <sys/random.h>

#include <algorithm>
#include <map>

#include "queue/error_text.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

constexpr int kSaltTries = 8;
// Keys end in 2167, and a sum beyond that wraps around silently.
constexpr std::chrono::microseconds kMaxDelay = std::chrono::hours(24 * 365 * 100);

// Distinguishes keys of the same microsecond; a new one for each statement.
std::uint32_t salt() {
  std::uint16_t value = 0;
  if (getrandom(&value, sizeof value, 0) != static_cast<ssize_t>(sizeof value)) value = 0;
  return value & 4095U;
}

db::Statement& set_partition(db::Statement& statement, Partition partition) {
  return statement.set("queue_id", partition.queue_id).set("partition_no", partition.partition_no);
}

db::Statement& set_fence(db::Statement& statement, const Lease& lease) {
  return set_partition(statement, lease.partition)
      .set("epoch", lease.epoch)
      .set("holder", lease.holder);
}

db::Statement& set_key(db::Statement& statement, TaskKey key) {
  return statement.set("prio", key.prio).set("run_key", key.run_key);
}

// "prio = 0 AND run_key IN (1,2) OR prio = 1 AND run_key IN (3)". Not a list of pairs: the server
// reads the whole partition when such a list holds a single pair.
std::string key_condition(std::string_view key, std::span<const TaskKey> keys) {
  std::map<std::uint32_t, std::string> lists;
  for (const TaskKey& at : keys) {
    std::string& list = lists[at.prio];
    list += (list.empty() ? "" : ",") + std::to_string(at.run_key);
  }
  std::string condition;
  for (const auto& [prio_class, list] : lists) {
    if (!condition.empty()) condition += " OR ";
    condition.append("prio = ").append(std::to_string(prio_class)).append(" AND ");
    condition.append(key).append(" IN (").append(list).append(")");
  }
  return condition.empty() ? "FALSE" : condition;
}

std::vector<db::Statement> ack_statements(Partition partition, std::span<const Finished> finished) {
  std::vector<db::Statement> statements;
  if (finished.empty()) return statements;
  std::vector<TaskKey> keys;
  std::vector<TaskKey> first_keys;
  for (const Finished& task : finished) {
    keys.push_back(task.key);
    if (task.first_key) first_keys.push_back({task.key.prio, *task.first_key});
  }
  db::Statement& ack = statements.emplace_back(sql::k_ack);
  set_partition(ack, partition).set_raw("keys", key_condition("run_key", keys));
  if (first_keys.empty()) return statements;
  db::Statement& history = statements.emplace_back(sql::k_ack_history);
  set_partition(history, partition).set_raw("first_keys", key_condition("first_key", first_keys));
  return statements;
}

void set_verdict(db::Statement& statement, const Verdict& verdict, const Holder& holder) {
  statement.set("cause", verdict.cause)
      .set("error", error_text(verdict.error))
      .set("host", holder.host)
      .set("pid", holder.pid);
}

}  // namespace

db::Statement fetch_statement(Partition partition, const FetchSpec& spec) {
  db::Statement fetch(sql::k_fetch);
  set_partition(fetch, partition)
      .set("inline_limit", spec.inline_limit())
      .set("highest_seen", spec.highest_seen)
      .set("block_size", spec.block_size);
  return fetch;
}

std::vector<Task> read_tasks(db::StatementResult& rows) {
  std::vector<Task> tasks;
  tasks.reserve(rows.row_count());
  while (const auto row = rows.next()) {
    Task& task = tasks.emplace_back();
    task.key = {static_cast<std::uint32_t>(row->u64(0)), row->u64(1)};
    task.first_key = row->maybe_u64(2);
    task.attempt = static_cast<std::uint32_t>(row->u64(3));
    task.type = row->text(4);
    task.payload_size = row->u64(5);
    if (!row->is_null(6)) task.payload = row->text(6);
  }
  return tasks;
}

std::vector<Task> TaskStore::fetch(db::Connection& db, Partition partition, const FetchSpec& spec) {
  auto results = db.run({fetch_statement(partition, spec)});
  return read_tasks(results.front());
}

std::optional<std::string> TaskStore::fetch_payload(db::Connection& db, Partition partition,
                                                    TaskKey key) {
  db::Statement statement(sql::k_fetch_payload);
  set_key(set_partition(statement, partition), key);
  auto results = db.run({statement});
  const auto row = results.front().next();
  if (!row) return std::nullopt;
  return std::string(row->text(0));
}

void TaskStore::ack(db::Connection& db, Partition partition, std::span<const Finished> finished) {
  const auto statements = ack_statements(partition, finished);
  if (statements.size() == 1) db.run(statements);
  if (statements.size() > 1) db.transact(statements);
}

std::vector<Task> TaskStore::ack_and_fetch(db::Connection& db, Partition partition,
                                           std::span<const Finished> finished,
                                           const FetchSpec& spec) {
  auto statements = ack_statements(partition, finished);
  const bool several_writes = statements.size() > 1;
  statements.push_back(fetch_statement(partition, spec));
  auto results = several_writes ? db.transact(statements) : db.run(statements);
  return read_tasks(results.back());
}

bool TaskStore::ack_and_release(db::Connection& db, const Lease& lease,
                                std::span<const Finished> finished) {
  auto statements = ack_statements(lease.partition, finished);
  statements.push_back(release_statement(lease));
  return db.transact(statements).back().affected() == 1;
}

Landed TaskStore::landed(db::Connection& db, const Lease& lease, std::uint64_t matched) const {
  if (matched > 0) return Landed::kYes;
  // Nothing matched: the fence was gone, or an earlier try had landed and its reply was lost.
  db::Statement held(sql::k_held_lease);
  set_partition(held, lease.partition).set("holder", lease.holder);
  const auto row = db.run({held}).front().next();
  return row && row->u64(0) == lease.epoch ? Landed::kYes : Landed::kLeaseGone;
}

Landed TaskStore::send(db::Connection& db, const Lease& lease, std::vector<db::Statement> writes,
                       std::size_t deciding, Then then) const {
  if (then == Then::kRelease) writes.push_back(release_statement(lease));
  return landed(db, lease, db.transact(writes)[deciding].affected());
}

db::Statement TaskStore::attempt_record(const Lease& lease, TaskKey key, std::uint32_t attempt,
                                        const Verdict& verdict) const {
  db::Statement record(sql::k_record_attempt);
  set_key(set_fence(record, lease), key).set("attempt", attempt);
  set_verdict(record, verdict, holder_);
  return record;
}

Landed TaskStore::retry(db::Connection& db, const Lease& lease, const Task& task,
                        std::uint32_t attempt, std::chrono::microseconds delay,
                        const Verdict& verdict, Then then) const {
  for (int tries = 1;; ++tries) {
    db::Statement move(sql::k_retry);
    set_key(set_fence(move, lease), task.key)
        .set("attempt", attempt)
        .set("delay_us", std::clamp(delay, std::chrono::microseconds(0), kMaxDelay).count())
        .set("salt", salt());
    try {
      return send(db, lease, {attempt_record(lease, task.key, attempt, verdict), move}, 2, then);
    } catch (const db::DbError& error) {
      if (error.error_class() != db::ErrorClass::kDuplicate || tries == kSaltTries) throw;
    }
  }
}

Landed TaskStore::bury(db::Connection& db, const Lease& lease, const Task& task,
                       std::uint32_t attempt, const Verdict& verdict, Then then) const {
  db::Statement bury(sql::k_bury);
  set_key(set_fence(bury, lease), task.key)
      .set("attempt", attempt)
      .set("first_key", task.id_key())
      .set("cause", verdict.cause)
      .set("error", error_text(verdict.error));
  return send(db, lease, {attempt_record(lease, task.key, attempt, verdict), bury}, 3, then);
}

Landed TaskStore::charge(db::Connection& db, const Lease& lease, const Task& task,
                         std::uint32_t attempt, const Verdict& verdict, Then then) const {
  db::Statement charge(sql::k_charge);
  set_key(set_fence(charge, lease), task.key).set("attempt", attempt);
  return send(db, lease, {attempt_record(lease, task.key, attempt, verdict), charge}, 1, then);
}

Landed TaskStore::announce(db::Connection& db, const Lease& lease, const Task& task,
                           std::uint32_t attempt) const {
  db::Statement charge(sql::k_charge);
  set_key(set_fence(charge, lease), task.key).set("attempt", attempt);
  return landed(db, lease, db.run({charge}).front().affected());
}

Landed TaskStore::defer(db::Connection& db, const Lease& lease, std::vector<TaskKey> keys) const {
  std::sort(keys.begin(), keys.end());
  for (int tries = 1;; ++tries) {
    std::vector<db::Statement> writes;
    std::uint32_t next_salt = salt();
    for (const TaskKey& key : keys) {
      set_key(set_fence(writes.emplace_back(sql::k_defer), lease), key).set("salt", next_salt++);
    }
    try {
      return send(db, lease, std::move(writes), 1, Then::kKeepLease);
    } catch (const db::DbError& error) {
      if (error.error_class() != db::ErrorClass::kDuplicate || tries == kSaltTries) throw;
    }
  }
}

bool TaskStore::suspects_left(db::Connection& db, const Lease& lease,
                              std::span<const std::uint32_t> classes) {
  if (classes.empty()) return false;
  std::string list;
  for (const std::uint32_t prio : classes) list += (list.empty() ? "" : ",") + std::to_string(prio);
  db::Statement statement(sql::k_suspects_left);
  set_partition(statement, lease.partition)
      .set_raw("classes", list)
      .set("suspect_to", lease.suspects ? lease.suspects->to_key : 0);
  return db.run({statement}).front().row_count() > 0;
}

Landed TaskStore::clear_suspects(db::Connection& db, const Lease& lease) const {
  db::Statement statement(sql::k_clear_suspects);
  set_fence(statement, lease);
  return landed(db, lease, db.run({statement}).front().affected());
}

}  // namespace allot::queue
