// SPDX-License-Identifier: Apache-2.0
#include "queue/verbs/deferred.h"

#include <algorithm>
#include <chrono>

#include "queue/model/statements.h"
#include "queue/verbs/end_statements.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

constexpr std::chrono::microseconds kDeferral = std::chrono::seconds(30);
// How much later than the note the new keys may be computed: longer than a lock wait.
constexpr std::chrono::microseconds kSlack = std::chrono::seconds(6);

db::Statement note_statement(const Lease& lease, std::span<const TaskKey> keys) {
  db::Statement note(sql::k_note_deferred);
  set_fence(note, lease).set_raw("keys", key_condition("run_key", keys)).set("slack_us", kSlack);
  return set_delay(note, kDeferral, lease.time);
}

std::string sorted_list(std::vector<std::uint64_t> numbers) {
  std::sort(numbers.begin(), numbers.end());
  return number_list(numbers);
}

std::vector<db::Statement> with_note(const Lease& lease, std::span<const TaskKey> keys,
                                     db::Statement write) {
  return {note_statement(lease, keys), std::move(write)};
}

db::Statement& set_type(db::Statement& statement, const DeferredType& type) {
  return statement.set("prio", type.prio).set("type", type.type);
}

}  // namespace

Fenced defer(db::Connection& db, const Lease& lease, std::vector<TaskKey> keys) {
  std::vector<std::uint64_t> run_keys;
  for (const TaskKey& key : keys) run_keys.push_back(key.run_key);
  const std::string order = sorted_list(std::move(run_keys));
  return send_salted([&](std::uint32_t salt) {
    db::Statement defer(sql::k_defer);
    set_fence(defer, lease)
        .set_raw("keys", key_condition("run_key", keys))
        .set_raw("run_keys", order)
        .set("no_handler_flag", kNoHandlerFlag)
        .set("salt", salt);
    set_delay(defer, kDeferral, lease.time);
    return send_fenced(db, lease, with_note(lease, keys, std::move(defer)));
  });
}

// Like marking a suspect, with another bit.
Fenced mark_unknown(db::Connection& db, const Lease& lease, TaskKey key) {
  const std::span<const TaskKey> keys{&key, 1};
  return send_fenced(db, lease,
                     with_note(lease, keys, flag_statement(lease, keys, kNoHandlerFlag)));
}

std::vector<DeferredType> deferred_types(db::Connection& db, Partition partition) {
  db::Statement statement(sql::k_deferred_types);
  set_partition(statement, partition);
  return db.read_all(statement, [](const db::Row& row) {
    return DeferredType{row.u32(0), row.string(1), row.u64(2), row.u64(3)};
  });
}

std::vector<DeferredTask> find_deferred(db::Connection& db, const Lease& lease,
                                        const DeferredType& type, std::uint32_t most) {
  db::Statement find(sql::k_find_deferred);
  set_type(set_partition(find, lease.partition), type)
      .set("from_key", type.from_key)
      .set("to_key", type.to_key)
      .set("known_us", lease.time.now())
      .set("no_handler_flag", kNoHandlerFlag)
      .set("limit", most);
  return db.read_all(find, [&](const db::Row& row) {
    return DeferredTask{{type.prio, row.u64(0)}, row.u64(1)};
  });
}

Fenced call_forward(db::Connection& db, const Lease& lease, const DeferredType& type,
                    std::span<const DeferredTask> tasks, bool more) {
  std::vector<TaskKey> keys;
  std::vector<std::uint64_t> first_keys;
  for (const DeferredTask& task : tasks) {
    keys.push_back(task.key);
    first_keys.push_back(task.first_key);
  }
  db::Statement rest(more ? sql::k_advance_deferred : sql::k_forget_deferred);
  set_type(set_fence(rest, lease), type);
  if (more) rest.set("from_key", keys.back().run_key + 1);
  if (tasks.empty()) return send_fenced(db, lease, {&rest, 1});
  const std::string order = sorted_list(std::move(first_keys));
  const auto send = [&](std::uint32_t salt) {
    db::Statement forward(sql::k_call_forward);
    set_fence(forward, lease)
        .set_raw("keys", key_condition("run_key", keys))
        .set_raw("first_keys", order)
        .set("no_handler_flag", kNoHandlerFlag)
        .set("known_us", lease.time.now())
        .set("salt", salt);
    return send_fenced(db, lease, std::vector{rest, std::move(forward)});
  };
  try {
    return send(0);
  } catch (const db::DbError& error) {
    if (error.error_class() != db::ErrorClass::kDuplicate) throw;
  }
  return send_salted(send);  // another task has one of these places
}

db::Statement scout_deferred_statement(std::span<const std::uint32_t> queues,
                                       const HolderTime& time) {
  db::Statement scout(sql::k_scout_deferred);
  scout.set_raw("queue_ids", id_list(queues)).set("known_us", time.now());
  return scout;
}

std::vector<ScoutedType> read_scouted_types(db::StatementResult& rows) {
  std::vector<ScoutedType> types;
  while (const auto row = rows.next()) {
    types.push_back({{row->u32(0), row->u32(1)}, row->string(2)});
  }
  return types;
}

bool purge_deferred(db::Connection& db) {
  constexpr std::uint64_t kBatch = 1000;
  db::Statement purge(sql::k_purge_deferred);
  purge.set("limit", kBatch);
  return db.run({purge}).front().affected() == kBatch;
}

}  // namespace allot::queue
