// SPDX-License-Identifier: Apache-2.0
#include "queue/operate/cap.h"

#include <string>

#include "base/error.h"
#include "base/exit_codes.h"
#include "sql/queries.h"

namespace allot::queue {

void set_cap(db::Connection& db, const QueueInfo& queue, std::uint32_t cap) {
  if (queue.shape.placement != Placement::kSpread) {
    throw Error("queue " + queue.name + " is " + std::string(name_of(queue.shape.placement)) +
                    ": only a spread queue has a cap",
                kExitBadInput);
  }
  db.run({set_cap_statement(queue, cap)});
}

db::Statement set_cap_statement(const QueueInfo& queue, std::uint32_t cap) {
  db::Statement set(sql::k_set_cap);
  return set.set("queue_id", queue.queue_id).set("cap", cap);
}

}  // namespace allot::queue
