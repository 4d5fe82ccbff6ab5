// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/connection.h"
#include "queue/model/catalog.h"

// Queues as Fireworq's programs define them, and the queue of each category (decision 0026). The
// gateway decides; this file reads and writes the rows.
namespace allot::queue {

// Maximum number of jobs of a partition that run at a time: the jobs of one lease.
inline constexpr std::uint32_t kWorkersOfPartition = 64;
inline constexpr std::size_t kMaxJobName = 255;  // bytes of a queue name or a category
[[nodiscard]] std::uint32_t partitions_for(std::uint32_t max_workers);

struct FireworqQueue {
  std::string name;  // as given: any bytes
  std::uint32_t polling_interval = 0;
  std::uint32_t max_workers = 0;
  double per_second = 0;  // 0: no rate
  std::uint32_t burst = 0;
  bool hidden = false;  // deleted: its tasks stay and do not run
  QueueInfo info{};     // set by reading: the queue in Allot

  // Compares the definitions without `info`.
  [[nodiscard]] bool says_as(const FireworqQueue& other) const;
};

// Name of the queue in Allot: the same name, or one made from its hash if the name is not valid
// here or belongs to a queue that Fireworq's programs did not make.
[[nodiscard]] std::string own_name(std::string_view name);

// Sorted by name, deleted queues included.
std::vector<FireworqQueue> list_fireworq(db::Connection& db);
std::optional<FireworqQueue> find_fireworq(db::Connection& db, std::string_view name);
// Creates, changes or restores the queue in one transaction; concurrent calls for one queue are
// safe. Equal values are not written. A pause set by an operator stays.
void put_fireworq(db::Connection& db, const FireworqQueue& wanted);
// Hides and pauses the queue, so that none of its tasks run.
void hide_fireworq(db::Connection& db, const FireworqQueue& queue);

// A category and the name of its queue, which may have been deleted since. Sorted by category.
struct Routing {
  std::string category;
  std::string queue;
};
std::vector<Routing> list_routings(db::Connection& db);
std::optional<Routing> find_routing(db::Connection& db, std::string_view category);
void put_routing(db::Connection& db, const Routing& routing);
void remove_routing(db::Connection& db, std::string_view category);

}  // namespace allot::queue
