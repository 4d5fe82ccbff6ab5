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

// What Fireworq's programs say of their queues, and which queue takes which category
// (decision 0026). The gateway decides; here is what it writes and reads.
namespace allot::queue {

// So many jobs of a partition run at a time, at most: those of one lease.
inline constexpr std::uint32_t kWorkersOfPartition = 64;
inline constexpr std::size_t kMaxJobName = 255;  // bytes of a queue's name, and of a category
[[nodiscard]] std::uint32_t partitions_for(std::uint32_t max_workers);

struct FireworqQueue {
  std::string name;  // as it was given: any bytes
  std::uint32_t polling_interval = 0;
  std::uint32_t max_workers = 0;
  double per_second = 0;  // 0: no rate
  std::uint32_t burst = 0;
  bool hidden = false;  // deleted: its tasks stay, and do not run
  QueueInfo info{};     // after it was read: the queue of ours

  // Whether both say the same, whatever their queues are.
  [[nodiscard]] bool says_as(const FireworqQueue& other) const;
};

// The name that the queue has here: the same, or one made from its hash where queues cannot have
// it, or where a queue of that name is none of Fireworq's programs'.
[[nodiscard]] std::string own_name(std::string_view name);

// By name, also those that are deleted.
std::vector<FireworqQueue> list_fireworq(db::Connection& db);
std::optional<FireworqQueue> find_fireworq(db::Connection& db, std::string_view name);
// Makes the queue, changes it or brings it back, in one transaction: several may put the same one
// at once. What is the same already is not written. A pause that an operator made stays.
void put_fireworq(db::Connection& db, const FireworqQueue& wanted);
// Hides and pauses it, so that nothing of it runs.
void hide_fireworq(db::Connection& db, const FireworqQueue& queue);

// Category and the name of its queue, which may be deleted meanwhile; by that name.
struct Routing {
  std::string category;
  std::string queue;
};
std::vector<Routing> list_routings(db::Connection& db);
std::optional<Routing> find_routing(db::Connection& db, std::string_view category);
void put_routing(db::Connection& db, const Routing& routing);
void remove_routing(db::Connection& db, std::string_view category);

}  // namespace allot::queue
