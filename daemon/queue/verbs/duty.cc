// SPDX-License-Identifier: Apache-2.0
#include "queue/verbs/duty.h"

#include "sql/queries.h"

namespace allot::queue {

void make_duty(db::Connection& db, std::uint32_t queue_id, std::string_view duty) {
  db::Statement make(sql::k_make_duty);
  make.set("queue_id", queue_id).set("duty", duty);
  db.run({make});
}

bool take_duty(db::Connection& db, std::uint32_t queue_id, std::string_view duty,
               std::chrono::microseconds for_so_long) {
  db::Statement take(sql::k_take_duty);
  take.set("queue_id", queue_id).set("duty", duty).set("for_us", for_so_long.count());
  return db.run({take}).front().affected() == 1;
}

}  // namespace allot::queue
