// SPDX-License-Identifier: Apache-2.0
#include "queue/task_store.h"

#include <algorithm>

#include "queue/cancel_request.h"
#include "queue/compression.h"
#include "queue/error_text.h"
#include "queue/statements.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

constexpr std::chrono::microseconds kDeferral = std::chrono::seconds(30);

db::Statement& set_key(db::Statement& statement, TaskKey key) {
  return statement.set("prio", key.prio).set("run_key", key.run_key);
}

db::Statement& set_mark(db::Statement& statement, const TaskStore::Mark& mark) {
  return statement.set("at_least", mark.at_least)
      .set("at_most", mark.at_most)
      .set("keep_flags", mark.keep_flags);
}

TaskStore::Mark charged(std::uint32_t attempt, const Verdict& verdict) {
  return {attempt, UINT32_MAX, kept_flags(verdict)};
}

TaskStore::Mark taken_back(std::uint32_t attempt, std::uint32_t keep_flags) {
  return {0, attempt - 1, keep_flags};
}

void set_verdict(db::Statement& statement, const Verdict& verdict, const Holder& holder) {
  statement.set("cause", verdict.cause)
      .set("error", error_text(verdict.error))
      .set("host", holder.host)
      .set("pid", holder.pid);
  set_usage(statement, verdict.usage);
}

db::Statement forget_statement(const Lease& lease, const Task& task, std::uint32_t attempt) {
  db::Statement forget(sql::k_forget_attempt);
  set_fence(forget, lease)
      .set("prio", task.key.prio)
      .set("first_key", task.id_key())
      .set("attempt", attempt);
  return forget;
}

db::Statement bury_statement(const Lease& lease, const Task& task, std::uint32_t attempt,
                             const Verdict& verdict) {
  db::Statement bury(sql::k_bury);
  set_key(set_fence(bury, lease), task.key)
      .set("attempt", attempt)
      .set("first_key", task.id_key())
      .set("cause", verdict.cause)
      .set("error", error_text(verdict.error));
  return bury;
}

// The statement does not ask whether the task has a unique key or a request to cancel it, because
// tasks seldom die.
db::Statement stamp_of(const Lease& lease, const Task& task) {
  const TaskKey first_key{task.key.prio, task.id_key()};
  return stamp_statement(lease.partition, {&first_key, 1}, End::kDead);
}
db::Statement clear_of(const Lease& lease, const Task& task) {
  const TaskKey first_key{task.key.prio, task.id_key()};
  return clear_cancel_statement(lease.partition, {&first_key, 1});
}

}  // namespace

db::Statement fetch_statement(Partition partition, const FetchSpec& spec) {
  db::Statement fetch(sql::k_fetch);
  set_partition(fetch, partition)
      .set("inline_limit", spec.inline_limit())
      .set("highest_seen", spec.highest_seen)
      .set("known_us", spec.time.now().count())
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
    task.flags = static_cast<std::uint32_t>(row->u64(7));
    if (const auto left = row->maybe_u64(8)) task.expires_in = std::chrono::microseconds(*left);
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
                                std::span<const Finished> finished, const Hold& hold) {
  auto statements = ack_statements(lease.partition, finished);
  statements.push_back(release_statement(lease, hold));
  return db.transact(statements).back().affected() == 1;
}

Landed TaskStore::landed(db::Connection& db, const Lease& lease, std::uint64_t matched) const {
  if (matched > 0) return Landed::kYes;
  // Nothing matched: the fence was gone, or an earlier try had succeeded and its reply was lost.
  db::Statement held(sql::k_held_lease);
  set_partition(held, lease.partition).set("holder", lease.holder);
  const auto row = db.run({held}).front().next();
  return row && row->u64(0) == lease.epoch ? Landed::kYes : Landed::kLeaseGone;
}

Landed TaskStore::send(db::Connection& db, const Lease& lease, std::vector<db::Statement> writes,
                       std::size_t deciding, Then then, const Hold& hold) const {
  if (then == Then::kRelease) writes.push_back(release_statement(lease, hold));
  return landed(db, lease, db.transact(writes)[deciding].affected());
}

db::Statement TaskStore::attempt_record(const Lease& lease, TaskKey key, std::uint32_t attempt,
                                        const Verdict& verdict) const {
  db::Statement record(sql::k_record_attempt);
  set_key(set_fence(record, lease), key).set("attempt", attempt);
  set_verdict(record, verdict, holder_);
  return record;
}

Landed TaskStore::move(db::Connection& db, const Lease& lease, const Task& task,
                       const db::Statement& record, const Mark& mark,
                       std::chrono::microseconds delay, Then then) const {
  return send_salted([&](std::uint32_t salt) {
    db::Statement move(sql::k_retry);
    set_mark(set_key(set_fence(move, lease), task.key), mark).set("salt", salt);
    set_pause(move, delay, lease.time);
    return send(db, lease, {record, move}, 2, then);
  });
}

Landed TaskStore::retry(db::Connection& db, const Lease& lease, const Task& task,
                        std::uint32_t attempt, std::chrono::microseconds delay,
                        const Verdict& verdict, Then then) const {
  return move(db, lease, task, attempt_record(lease, task.key, attempt, verdict),
              charged(attempt, verdict), delay, then);
}

Landed TaskStore::snooze(db::Connection& db, const Lease& lease, const Task& task,
                         std::uint32_t attempt, std::chrono::microseconds delay) const {
  return move(db, lease, task, forget_statement(lease, task, attempt),
              taken_back(attempt, kEndedFlags), delay, Then::kKeepLease);
}

Landed TaskStore::bury(db::Connection& db, const Lease& lease, const Task& task,
                       std::uint32_t attempt, const Verdict& verdict, Then then,
                       const std::optional<OnDead>& on_dead) const {
  return send_burial(
      db, lease, task,
      {attempt_record(lease, task.key, attempt, verdict),
       bury_statement(lease, task, attempt, verdict), stamp_of(lease, task), clear_of(lease, task)},
      3, then, death_of(on_dead, attempt, verdict));
}

Landed TaskStore::send_burial(db::Connection& db, const Lease& lease, const Task& task,
                              std::vector<db::Statement> burial, std::size_t deciding, Then then,
                              const std::optional<Death>& death) const {
  if (!death) return send(db, lease, std::move(burial), deciding, then);
  const TaskId id{lease.partition, task.key.prio, task.id_key()};
  return send_salted([&](std::uint32_t salt) {
    db::Statement hook(sql::k_hook_dead);
    set_key(set_fence(hook, lease), task.key).set("host", holder_.host);
    set_death(hook, *death, id, salt);
    std::vector<db::Statement> writes{std::move(hook)};
    writes.insert(writes.end(), burial.begin(), burial.end());
    return send(db, lease, std::move(writes), deciding + 1, then);
  });
}

Landed TaskStore::bury_spent(db::Connection& db, const Lease& lease, const Task& task,
                             const Verdict& verdict, const std::optional<OnDead>& on_dead) const {
  return send_burial(db, lease, task,
                     {bury_statement(lease, task, task.attempt, verdict), stamp_of(lease, task),
                      clear_of(lease, task)},
                     2, Then::kKeepLease, death_of(on_dead, task.attempt, verdict));
}

Landed TaskStore::charge(db::Connection& db, const Lease& lease, const Task& task,
                         std::uint32_t attempt, const Verdict& verdict, Then then,
                         std::chrono::microseconds pause) const {
  db::Statement charge(sql::k_charge);
  set_mark(set_key(set_fence(charge, lease), task.key), charged(attempt, verdict));
  return send(db, lease, {attempt_record(lease, task.key, attempt, verdict), charge}, 1, then,
              {pause, task.key});
}

Landed TaskStore::announce(db::Connection& db, const Lease& lease, const Task& task,
                           std::uint32_t attempt) const {
  return charge(db, lease, task, attempt, kLost);
}

Landed TaskStore::checkpoint(db::Connection& db, const Lease& lease, const Task& task,
                             const StoredState& state) {
  db::Statement statement(sql::k_checkpoint);
  set_state(set_key(set_fence(statement, lease), task.key), state);
  return db.run({statement}).front().affected() == 1 ? Landed::kYes : Landed::kLeaseGone;
}

Landed TaskStore::give_back(db::Connection& db, const Lease& lease, const Task& task,
                            std::uint32_t attempt) const {
  db::Statement charge(sql::k_charge);
  set_mark(set_key(set_fence(charge, lease), task.key), taken_back(attempt, kAllFlags));
  return send(db, lease, {forget_statement(lease, task, attempt), charge}, 1, Then::kKeepLease);
}

Landed TaskStore::suspect(db::Connection& db, const Lease& lease, std::span<const TaskKey> keys,
                          Then then) const {
  db::Statement suspect(sql::k_suspect);
  set_fence(suspect, lease)
      .set_raw("keys", key_condition("run_key", keys))
      .set("suspect_flag", kSuspectFlag);
  return send(db, lease, {suspect}, 0, then);
}

// As suspect(), with another bit.
Landed TaskStore::mark_unknown(db::Connection& db, const Lease& lease, TaskKey key) const {
  db::Statement mark(sql::k_suspect);
  set_fence(mark, lease)
      .set_raw("keys", key_condition("run_key", {&key, 1}))
      .set("suspect_flag", kNoHandlerFlag);
  return send(db, lease, {mark}, 0, Then::kKeepLease);
}

Landed TaskStore::defer(db::Connection& db, const Lease& lease, std::vector<TaskKey> keys) const {
  std::sort(keys.begin(), keys.end());
  std::string run_keys;
  for (const TaskKey& key : keys) {
    run_keys += (run_keys.empty() ? "" : ",") + std::to_string(key.run_key);
  }
  return send_salted([&](std::uint32_t salt) {
    db::Statement defer(sql::k_defer);
    set_fence(defer, lease)
        .set_raw("keys", key_condition("run_key", keys))
        .set_raw("run_keys", run_keys)
        .set("no_handler_flag", kNoHandlerFlag)
        .set("salt", salt);
    set_pause(defer, kDeferral, lease.time);
    return send(db, lease, {defer}, 1, Then::kKeepLease);
  });
}

bool TaskStore::suspects_left(db::Connection& db, const Lease& lease,
                              std::span<const std::uint32_t> classes) {
  if (classes.empty()) return false;
  db::Statement statement(sql::k_suspects_left);
  set_partition(statement, lease.partition)
      .set_raw("classes", id_list(classes))
      .set("suspect_to", lease.suspects ? lease.suspects->to_key : 0);
  return db.run({statement}).front().row_count() > 0;
}

Landed TaskStore::clear_suspects(db::Connection& db, const Lease& lease) const {
  db::Statement statement(sql::k_clear_suspects);
  set_fence(statement, lease);
  return landed(db, lease, db.run({statement}).front().affected());
}

}  // namespace allot::queue
