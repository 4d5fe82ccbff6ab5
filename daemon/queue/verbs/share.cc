// SPDX-License-Identifier: Apache-2.0
#include "queue/verbs/share.h"

#include <algorithm>

#include "queue/model/statements.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

// Behind the columns of find_queue.sql.
constexpr std::size_t kMostRunning = 9;

}  // namespace

std::uint32_t share_of(std::uint32_t most, std::uint32_t partitions, std::uint32_t index) {
  if (index >= partitions) return std::min(most, 1U);
  return most / partitions + (index < most % partitions ? 1 : 0);
}

std::vector<CappedQueue> serve_fireworq(db::Connection& db) {
  auto results = db.run({db::Statement(sql::k_serve_fireworq)});
  std::vector<CappedQueue> queues;
  while (const auto row = results.front().next()) {
    queues.push_back({queue_in(*row), static_cast<std::uint32_t>(row->u64(kMostRunning))});
  }
  return queues;
}

Share read_share(db::Connection& db, Partition partition, std::uint32_t published) {
  db::Statement read(sql::k_read_share);
  set_partition(read, partition);
  auto results = db.run({read});
  const auto row = results.front().next();
  if (!row) return {};
  const auto most = static_cast<std::uint32_t>(row->u64(0));
  const auto first = static_cast<std::uint32_t>(row->u64(2));
  const std::uint64_t others = row->u64(3);
  const std::uint32_t share =
      share_of(most, static_cast<std::uint32_t>(row->u64(1)), partition.partition_no - first);
  const auto left = static_cast<std::uint32_t>(others < most ? most - others : 0);
  return {std::min({share, published, left}), row->u64(4) != 0, row->u64(5) != 0};
}

}  // namespace allot::queue
