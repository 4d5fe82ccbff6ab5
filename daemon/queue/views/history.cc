// SPDX-License-Identifier: Apache-2.0
#include "queue/views/history.h"

#include <string_view>

#include "queue/model/statements.h"
#include "queue/model/task_facts.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

Done read_done(const db::Row& row, std::uint32_t queue_id) {
  Done done;
  done.id = {{queue_id, row.u32(0)}, row.u32(1), row.u64(2)};
  done.type = row.text(3);
  done.attempt = row.u32(4);
  done.ended_at = row.text(5);
  done.worker = worker_name(row, 6, 7);
  done.headers = read_headers(row.text(11));
  done.usage = {row.maybe_u64(8), row.maybe_u64(9), row.maybe_u64(10)};
  return done;
}

}  // namespace

std::optional<Done> show_done(db::Connection& db, const TaskId& id) {
  db::Statement show(sql::k_show_history);
  set_id(show, id);
  return db.read_first(show,
                       [&](const db::Row& row) { return read_done(row, id.partition.queue_id); });
}

std::vector<Done> list_done(db::Connection& db, const QueueInfo& queue, std::uint32_t most,
                            const std::optional<Done>& after) {
  const TaskId first = after ? after->id : TaskId{};
  db::Statement list(sql::k_list_history);
  set_partition(list, {queue.queue_id, first.partition.partition_no})
      .set("prio", first.prio)
      .set("first_key", first.first_key)
      .set("before", after ? moment_text(after->ended_at) : std::string(kEndOfTime))
      .set("limit", most);
  return db.read_all(list, [&](const db::Row& row) { return read_done(row, queue.queue_id); });
}

}  // namespace allot::queue
