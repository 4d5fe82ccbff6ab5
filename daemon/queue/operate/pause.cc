// SPDX-License-Identifier: Apache-2.0
#include "queue/operate/pause.h"

#include "queue/model/audit.h"
#include "queue/model/error_text.h"
#include "queue/model/rate.h"
#include "sql/queries.h"

namespace allot::queue {

void pause(db::Connection& db, const QueueInfo& queue, std::string_view reason) {
  db::Statement statement(sql::k_pause);
  statement.set("queue_id", queue.queue_id)
      .set("reason", reason == kRatedOnly ? std::string() : error_text(reason));
  act(db, {"pause", "queue", queue.name, found_plain(queue.name)}, {&statement, 1});
}

bool resume(db::Connection& db, const QueueInfo& queue) {
  db::Statement statement(sql::k_resume);
  statement.set("queue_id", queue.queue_id).set("rated_only", kRatedOnly);
  db::Statement paused(sql::k_audit_paused);
  paused.set("of_queue", queue.name).set("queue_id", queue.queue_id);
  const auto results = act(db, {"resume", "queue", queue.name, paused}, {&statement, 1});
  return results.at(0).affected() + results.at(1).affected() > 0;
}

}  // namespace allot::queue
