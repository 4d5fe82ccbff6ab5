// SPDX-License-Identifier: Apache-2.0
#include "queue/operate/cap.h"

#include <string>

#include "queue/model/audit.h"
#include "sql/queries.h"

namespace allot::queue {

void set_cap(db::Connection& db, const QueueInfo& queue, std::uint32_t cap) {
  if (queue.shape.placement != Placement::kSpread) {
    throw Error("queue " + queue.name + " is " + std::string(name_of(queue.shape.placement)) +
                    ": only a spread queue can have a cap",
                kExitBadInput);
  }
  const db::Statement set = set_cap_statement(queue, cap);
  const bool any = cap == 0;
  act(db,
      {any ? "remove_cap" : "set_cap", "queue", queue.name, found_plain(queue.name),
       any ? "" : std::to_string(cap)},
      {&set, 1});
}

db::Statement set_cap_statement(const QueueInfo& queue, std::uint32_t cap) {
  db::Statement set(sql::k_set_cap);
  return set.set("queue_id", queue.queue_id).set("cap", cap);
}

}  // namespace allot::queue
