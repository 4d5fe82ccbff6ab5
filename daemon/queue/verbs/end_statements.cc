// SPDX-License-Identifier: Apache-2.0
#include "queue/verbs/end_statements.h"

#include <string>
#include <utility>

#include "queue/model/statements.h"
#include "queue/verbs/cancel_request.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

// Format that keep_history.sql reads: unknown values at the end are left out.
std::string element_of(TaskKey key, const Record& record) {
  std::string text = "[" + std::to_string(key.prio) + "," + std::to_string(key.run_key) + "," +
                     std::to_string(record.attempt);
  for (const auto& used :
       {record.usage.runtime_us, record.usage.cpu_us, record.usage.max_rss_kib}) {
    if (!used) break;
    text += "," + std::to_string(*used);
  }
  return text + "]";
}

// Keeps tasks that have a record. nullopt: none has one.
std::optional<db::Statement> keep_statement(Partition partition,
                                            std::span<const Finished> finished) {
  const Record* any = nullptr;
  std::string list;
  for (const Finished& task : finished) {
    if (!task.record) continue;
    any = &*task.record;
    list += (list.empty() ? "" : ",") + element_of(task.key, *any);
  }
  if (any == nullptr) return std::nullopt;
  db::Statement keep(sql::k_keep_history);
  set_partition(keep, partition)
      .set("done", "[" + list + "]")
      .set("host", any->host)  // same for all: one worker, or one dead worker
      .set("pid", any->pid);
  return keep;
}

}  // namespace

db::Statement stamp_statement(Partition partition, std::span<const TaskKey> first_keys, End end) {
  db::Statement stamp(sql::k_stamp_unique);
  set_partition(stamp, partition)
      .set_raw("first_keys", key_condition("first_key", first_keys))
      .set("finished", end == End::kFinished);
  return stamp;
}

std::vector<db::Statement> ack_statements(Partition partition, std::span<const Finished> finished) {
  std::vector<db::Statement> statements;
  if (finished.empty()) return statements;
  if (auto keep = keep_statement(partition, finished)) statements.push_back(std::move(*keep));
  std::vector<TaskKey> keys;
  std::vector<TaskKey> first_keys;
  std::vector<TaskKey> unique;
  std::vector<TaskKey> cancel_watched;
  for (const Finished& task : finished) {
    keys.push_back(task.key);
    if (task.first_key) first_keys.push_back({task.key.prio, *task.first_key});
    const TaskKey first_key{task.key.prio, task.first_key.value_or(task.key.run_key)};
    if (task.unique) unique.push_back(first_key);
    if (task.cancel_watched) cancel_watched.push_back(first_key);
  }
  db::Statement& ack = statements.emplace_back(sql::k_ack);
  set_partition(ack, partition).set_raw("keys", key_condition("run_key", keys));
  if (!first_keys.empty()) {
    db::Statement& history = statements.emplace_back(sql::k_ack_history);
    set_partition(history, partition).set_raw("first_keys", key_condition("first_key", first_keys));
  }
  if (!unique.empty()) statements.push_back(stamp_statement(partition, unique, End::kFinished));
  if (!cancel_watched.empty()) {
    statements.push_back(clear_cancel_statement(partition, cancel_watched));
  }
  return statements;
}

std::vector<db::Statement> end_statements(const Fence& fence, End end) {
  const TaskKey first_key{fence.id.prio, fence.id.first_key};
  return {stamp_statement(fence.id.partition, {&first_key, 1}, end),
          clear_cancel_statement(fence.id.partition, {&first_key, 1})};
}

Fenced fence_holds(db::Connection& db, const Lease& lease) {
  db::Statement held(sql::k_held_lease);
  set_partition(held, lease.partition).set("holder", lease.holder);
  const auto row = db.run({held}).front().next();
  return row && row->u64(0) == lease.epoch ? Fenced::kWritten : Fenced::kLost;
}

Fenced send_fenced(db::Connection& db, const Lease& lease, std::span<const db::Statement> writes) {
  if (db.transact(writes).back().affected() > 0) return Fenced::kWritten;
  return fence_holds(db, lease);
}

db::Statement flag_statement(const Lease& lease, std::span<const TaskKey> keys, std::uint32_t flag,
                             Begun begun) {
  db::Statement statement(sql::k_suspect);
  set_fence(statement, lease)
      .set_raw("keys", key_condition("run_key", keys))
      .set("suspect_flag", flag)
      .set("begun", begun == Begun::kYes);
  return statement;
}

std::vector<db::Statement> ack_detached_statements(const Fence& fence,
                                                   const std::optional<Record>& record) {
  std::vector<db::Statement> statements;
  if (record) {
    set_usage(set_row(statements.emplace_back(sql::k_keep_detached), fence), record->usage);
  }
  set_row(statements.emplace_back(sql::k_ack_detached), fence);
  return statements;
}

}  // namespace allot::queue
