// SPDX-License-Identifier: Apache-2.0
#include "queue/verbs/cap_part.h"

#include <algorithm>

#include "queue/model/statements.h"
#include "sql/queries.h"

namespace allot::queue {
std::uint32_t share_of(std::uint32_t cap, std::uint32_t partitions, std::uint32_t index) {
  const std::uint32_t least = std::min(cap, 1U);
  if (index >= partitions) return least;
  return std::max(least, cap / partitions + (index < cap % partitions ? 1 : 0));
}

CapPart read_cap_part(db::Connection& db, Partition partition, std::uint32_t published) {
  db::Statement read(sql::k_read_cap_part);
  set_partition(read, partition);
  auto results = db.run({read});
  const auto row = results.front().next();
  if (!row) return {};
  const auto cap = row->u32(0);
  const auto first = row->u32(2);
  const std::uint64_t others = row->u64(3);
  const std::uint32_t share = share_of(cap, row->u32(1), partition.partition_no - first);
  const auto left = static_cast<std::uint32_t>(others < cap ? cap - others : 0);
  return {std::min({share, published, left}), row->u64(4) != 0, row->u64(5) != 0, cap};
}

}  // namespace allot::queue
