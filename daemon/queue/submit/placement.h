// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "db/connection.h"
#include "queue/model/catalog.h"
#include "queue/model/task.h"

namespace allot::queue {

struct Submission;

// CRC-32 of a key; decides its partition in ordered and limited queues.
std::uint32_t hash_of(const std::string& partition_key);
// Partition of a key in an ordered queue, or the `nth` of its partitions in a limited one.
std::uint32_t place_of(const QueueInfo& queue, std::uint32_t key_hash, std::uint32_t nth = 0);

// Assigns a partition to each task of a batch. SQL computes the same
// (sql/procedures/allot_place.sql): CRC-32 of the key as in zlib and in MySQL's CRC32().
class Placer {
 public:
  // Reads, and if needed claims, the partitions of the keys of fair queues; sends nothing for a
  // batch without such keys. May be part of a transaction. Throws db::DbError.
  Placer(db::Connection& db, std::span<const Submission> submissions);

  // Consecutive tasks without a key go to different partitions (S18); tasks of one key in a limited
  // queue rotate over its max_running partitions. Both start at a random one.
  struct Place {
    Partition partition{};
    // The layout of an ordered or limited queue by which the task is placed; the queue may get
    // another one before the submission.
    std::optional<std::uint32_t> layout{};
  };
  Place place(const Submission& task);

  // Reads again which queue takes the tasks submitted to ordered and limited queues, and its
  // layout. In a transaction both stay until it ends. False: there are no such tasks.
  bool lock(db::Connection& db, std::span<const Submission> submissions);

 private:
  std::uint32_t partition_no(const Submission& task, const QueueInfo& queue);
  std::uint32_t next(std::uint32_t queue_id, const std::string& key);

  std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> next_;
  std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> fair_;
  // Key: the queue that the task was submitted to, and its type.
  std::map<std::pair<std::uint32_t, std::string>, QueueInfo> locked_;
};

}  // namespace allot::queue
