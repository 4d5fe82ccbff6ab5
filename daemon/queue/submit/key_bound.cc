// SPDX-License-Identifier: Apache-2.0
#include "queue/submit/key_bound.h"

#include "queue/model/statements.h"
#include "sql/queries.h"

namespace allot::queue {

void bound_unique(db::Connection& db, std::uint32_t queue_id, std::span<const std::string> keys) {
  if (keys.empty()) return;
  db::Statement bound(sql::k_bound_unique);
  bound.set("queue_id", queue_id).set_raw("unique_keys", bytes_list(keys));
  db.run({bound});
}

}  // namespace allot::queue
