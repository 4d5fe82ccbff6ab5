// SPDX-License-Identifier: Apache-2.0
#include "queue/server/account.h"

#include <algorithm>

#include "sql/queries.h"

namespace allot::queue {

void require_rights(db::Connection& db) {
  db.run({db::Statement(sql::k_require_rights)});
}

std::uint64_t connections_allowed(db::Connection& db) {
  auto results = db.run({db::Statement(sql::k_connections_allowed)});
  const db::Row row = results.front().one();
  const std::uint64_t all = row.u64(0);
  const std::uint64_t mine = row.u64(1);
  return mine == 0 ? all : std::min(all, mine);
}

}  // namespace allot::queue
