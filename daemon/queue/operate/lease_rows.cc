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
  auto results = db.run({db::Statement(sql::k_queue_holes)});
  std::vector<QueueHoles> holes;
  while (const auto row = results.front().next()) {
    holes.push_back(
        {static_cast<std::uint32_t>(row->u64(0)), std::string(row->text(1)), row->u64(2)});
  }
  return holes;
}

std::vector<QueueHoles> fill_holes(db::Connection& db) {
  auto holes = queue_holes(db);
  for (QueueHoles& hole : holes) hole.missing = make_partitions(db, hole.queue_id, 0);
  return holes;
}

std::size_t bound_releases(db::Connection& db) {
  db::Statement far(sql::k_far_releases);
  far.set("limit", kMostReleases);
  auto results = db.run({far});
  std::size_t bounded = 0;
  while (const auto row = results.front().next()) {
    db::Statement bound(sql::k_bound_release);
    set_partition(
        bound, {static_cast<std::uint32_t>(row->u64(0)), static_cast<std::uint32_t>(row->u64(1))});
    bounded += db.run({bound}).front().affected();
  }
  return bounded;
}

}  // namespace allot::queue
