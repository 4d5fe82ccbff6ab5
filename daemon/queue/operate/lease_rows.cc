// SPDX-License-Identifier: Apache-2.0
#include "queue/operate/lease_rows.h"

#include "queue/model/catalog.h"
#include "queue/model/statements.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

// Limit of one call; the rest follows next time.
constexpr std::size_t kMostReleases = 500;

}  // namespace

std::vector<QueueHoles> queue_holes(db::Connection& db) {
  return db.read_all(db::Statement(sql::k_queue_holes), [](const db::Row& row) {
    return QueueHoles{row.u32(0), row.string(1), row.u64(2)};
  });
}

std::vector<QueueHoles> fill_holes(db::Connection& db) {
  auto holes = queue_holes(db);
  for (QueueHoles& hole : holes) hole.missing = make_partitions(db, hole.queue_id, 0);
  return holes;
}

std::size_t bound_releases(db::Connection& db) {
  db::Statement far(sql::k_far_releases);
  far.set("limit", kMostReleases);
  std::size_t bounded = 0;
  db.each_row(far, [&](const db::Row& row) {
    db::Statement bound(sql::k_bound_release);
    set_partition(bound, {row.u32(0), row.u32(1)});
    bounded += db.run({bound}).front().affected();
  });
  return bounded;
}

}  // namespace allot::queue
