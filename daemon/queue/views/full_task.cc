// SPDX-License-Identifier: Apache-2.0
#include "queue/views/full_task.h"

#include "base/error.h"
#include "queue/model/catalog.h"
#include "queue/model/compression.h"
#include "queue/model/statements.h"
#include "queue/verbs/block.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

// Decompresses the payload; a damaged one remains as stored.
void decompress_payload(FullTask& full) {
  try {
    full.task->payload = decompress(full.task->flags, full.task->payload);
  } catch (const Error& error) {
    full.damage = error.what();
  }
}

// Careful mode records an attempt as lost before it runs (S7): while its worker has the lease, the
// attempt is running.
void mark_running(const TaskView& task, std::vector<AttemptView>& attempts) {
  if (attempts.empty() || attempts.back().retries_since > 0) return;
  AttemptView& last = attempts.back();
  if (task.holder != last.worker) return;
  if (last.cause != kUnreported.cause) return;
  last.cause = "running";
  last.error = "or lost, when its worker is no longer there";
}

}  // namespace

std::optional<FullTask> full_task(db::Connection& db, const TaskId& id) {
  FullTask full;
  full.task = show(db, id);
  if (full.task) {
    decompress_payload(full);
  } else {
    full.done = show_done(db, id);
    if (!full.done) return std::nullopt;
  }
  full.queue = queue_name(db, id.partition.queue_id);
  full.attempts = list_attempts(db, id, true);
  if (full.task) {
    mark_running(*full.task, full.attempts);
    full.cancel = find_cancel(db, id);
  }
  full.unique = show_unique(db, id);
  return full;
}

std::optional<UniqueKey> show_unique(db::Connection& db, const TaskId& id) {
  db::Statement statement(sql::k_show_unique);
  set_id(statement, id);
  return db.read_first(statement, [](const db::Row& row) {
    return UniqueKey{row.string(0), row.string(1)};
  });
}

std::optional<KeyOwner> find_unique(db::Connection& db, std::uint32_t queue_id,
                                    std::string_view unique_key) {
  db::Statement statement(sql::k_find_unique);
  statement.set("queue_id", queue_id).set_bytes("unique_key", unique_key);
  return db.read_first<KeyOwner>(statement, [&](const db::Row& row, KeyOwner& owner) {
    TaskId& id = owner.id;
    id.partition.queue_id = queue_id;
    row.read(0, id.partition.partition_no, id.prio, id.first_key, owner.free_at, owner.due,
             owner.leased);
    owner.state = !row.is_null(4)   ? Owner::kWaiting
                  : !row.is_null(6) ? Owner::kRunning
                  : !row.is_null(7) ? Owner::kDead
                                    : Owner::kFinished;
  });
}

}  // namespace allot::queue
