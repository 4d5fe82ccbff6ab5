// SPDX-License-Identifier: Apache-2.0
#include "queue/operate/pause.h"

#include "queue/model/error_text.h"
#include "queue/model/rate.h"
#include "sql/queries.h"

namespace allot::queue {

void pause(db::Connection& db, const QueueInfo& queue, std::string_view reason) {
  db::Statement statement(sql::k_pause);
  statement.set("queue_id", queue.queue_id)
      .set("reason", reason == kRatedOnly ? std::string() : error_text(reason));
  db.run({statement});
}

bool resume(db::Connection& db, const QueueInfo& queue) {
  db::Statement statement(sql::k_resume);
  statement.set("queue_id", queue.queue_id).set("rated_only", kRatedOnly);
  const auto results = db.transact({&statement, 1});
  return results.at(0).affected() + results.at(1).affected() > 0;
}

}  // namespace allot::queue
