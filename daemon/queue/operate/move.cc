// SPDX-License-Identifier: Apache-2.0
#include "queue/operate/move.h"

#include <array>
#include <vector>

#include "queue/model/audit.h"
#include "queue/model/random.h"
#include "queue/model/statements.h"
#include "queue/verbs/ending.h"
#include "queue/verbs/lease_store.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

constexpr std::uint32_t kWaitingPage = 1000;
constexpr std::chrono::microseconds kTtl = std::chrono::seconds(30);  // in case this process dies
const Deferral kStays{.stays = true};

void read_waiting(const db::Row& row, Waiting& task) {
  row.read(0, task.partition.partition_no, task.key.prio, task.key.run_key, task.id_key, task.type);
  task.unique = (row.u64(5) & kUniqueFlag) != 0;
}

}  // namespace

void each_waiting(db::Connection& db, const QueueInfo& queue,
                  const std::function<bool(const Waiting&)>& visit, const Waiting& after) {
  Waiting last = after;  // keys begin after 0
  last.partition.queue_id = queue.queue_id;
  for (;;) {
    db::Statement statement(sql::k_page_waiting);
    set_partition(statement, last.partition)
        .set("prio", last.key.prio)
        .set("run_key", last.key.run_key)
        .set("limit", kWaitingPage);
    auto results = db.run({statement});
    while (const auto row = results.front().next()) {
      read_waiting(*row, last);
      if (!visit(last)) return;
    }
    if (results.front().row_count() < kWaitingPage) return;
  }
}

Mover::Mover(Holder holder, const QueueInfo& from)
    : holder_(std::move(holder)), subject_("queue"), name_(from.name) {}

Mover::Mover(Holder holder, const TaskId& task)
    : holder_(std::move(holder)), subject_("task"), name_(task.text()) {}

std::optional<Lease> Mover::lease(db::Connection& db, Partition partition) const {
  db::Statement statement(sql::k_lease_to_move);
  set_holder(set_partition(statement, partition), holder_).set("ttl_us", kTtl);
  auto results = db.try_transact({&statement, 1});
  if (!results) return std::nullopt;
  const auto row = results->back().next();
  if (!row) return std::nullopt;
  return Lease{partition, row->u64(0), holder_.id, std::nullopt, {}};
}

// One audit entry for all moved tasks.
Action Mover::action_of(const Lease& held, std::span<const TaskKey> keys, Partition to) const {
  db::Statement found(sql::k_audit_move);
  set_fence(found, held)
      .set("to_queue_id", to.queue_id)
      .set_raw("keys", key_condition("run_key", keys));
  return {"move", subject_, name_, found, {}, number_, true};
}

std::optional<std::uint64_t> Mover::move(db::Connection& db, std::span<const Waiting> tasks,
                                         Partition to) const {
  if (tasks.empty()) return 0;
  const auto held = lease(db, tasks.front().partition);
  if (!held) return std::nullopt;
  std::vector<TaskKey> keys;
  std::vector<TaskKey> first_keys;
  for (const Waiting& task : tasks) {
    keys.push_back(task.key);
    first_keys.push_back({task.key.prio, task.id_key});
  }
  const std::string run_keys =
      db::joined(keys, [](const TaskKey& key) { return std::to_string(key.run_key); });
  const auto send = [&](std::uint32_t salt) {
    db::Statement move(sql::k_move);
    set_fence(move, *held)
        .set("to_queue_id", to.queue_id)
        .set("to_partition_no", to.partition_no)
        .set("salt", salt)
        .set("no_handler_flag", kNoHandlerFlag)
        .set("cancel_watched_flag", kCancelWatchedFlag)
        .set_raw("keys", key_condition("run_key", keys))
        .set_raw("first_keys", key_condition("first_key", first_keys))
        .set_raw("run_keys", run_keys);
    const std::array<db::Statement, 2> statements{move, release_statement(*held, kStays)};
    const auto results = act(db, action_of(*held, keys, to), statements);
    return results.at(results.size() - 2).affected();
  };
  try {
    return send_salted(send);
  } catch (const db::DbError& error) {
    // Nothing was moved. If the database is gone, the lease expires.
    if (error.error_class() != db::ErrorClass::kGone) db.run({release_statement(*held, kStays)});
    throw;
  }
}

}  // namespace allot::queue
