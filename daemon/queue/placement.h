// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "db/connection.h"
#include "queue/catalog.h"

namespace allot::queue {

struct Submission;

// Gives each task of a batch its partition. What SQL computes must be the same
// (sql/queries/submit_task.sql): CRC-32 of the key as in zlib, and in MySQL's CRC32().
class Placer {
 public:
  // Looks up, and where needed claims, the partitions of the keys of fair queues; a batch without
  // such asks the database nothing. May be part of a transaction. Throws db::DbError.
  Placer(db::Connection& db, std::span<const Submission> submissions);

  // Neighbours without a key go to different partitions (S18), and so do those of one key of a
  // limited queue, among its max_running partitions. Both begin at a random one.
  std::uint32_t partition_no(const Submission& task);

 private:
  std::uint32_t next(std::uint32_t queue_id, const std::string& key);

  std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> next_;
  std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> fair_;
};

}  // namespace allot::queue
