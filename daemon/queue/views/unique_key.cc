// SPDX-License-Identifier: Apache-2.0
#include "queue/views/unique_key.h"

#include "queue/model/statements.h"
#include "sql/queries.h"

namespace allot::queue {

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
  auto results = db.run({statement});
  const auto row = results.front().next();
  if (!row) return std::nullopt;
  KeyOwner owner;
  owner.id = {{queue_id, row->u32(0)}, row->u32(1), row->u64(2)};
  owner.free_at = row->text(3);
  const auto due = row->maybe_u64(4);
  owner.due = due.value_or(0) != 0;
  owner.leased = row->maybe_u64(5).value_or(0) != 0;
  const bool running = !row->is_null(6);
  const bool dead = !row->is_null(7);
  using State = KeyOwner::State;
  owner.state = due       ? State::kWaiting
                : running ? State::kRunning
                : dead    ? State::kDead
                          : State::kDone;
  return owner;
}

}  // namespace allot::queue
