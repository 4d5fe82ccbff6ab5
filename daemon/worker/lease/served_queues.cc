// SPDX-License-Identifier: Apache-2.0
#include "worker/lease/served_queues.h"

#include <utility>

#include "peer/doorbell.h"

namespace allot::worker {
namespace {

// Limit for the age of the list, for a worker with a hint to a queue that is not on it.
constexpr Nanos kLeastAge = 50 * kMilli;

}  // namespace

ServedQueues::ServedQueues(const std::vector<ServedQueue>& queues) {
  Queues all;
  for (const ServedQueue& queue : queues) all.push_back(std::make_shared<ServedQueue>(queue));
  take(std::move(all));
}

ServedQueues::ServedQueues(Read read) : read_(std::move(read)) {
  refresh(0);
}

void ServedQueues::show_on(ipc::PoolBoard& pool) {
  pool_ = &pool;
  peer::serve(pool, ids_);
}

void ServedQueues::refresh(Nanos age) {
  const Nanos now = mono_ns();
  if (!read_ || (read_ns_ != 0 && now < read_ns_ + age)) return;
  take(read_());
  read_ns_ = now;
  if (pool_ != nullptr) peer::serve(*pool_, ids_);
}

void ServedQueues::take(Queues queues) {
  queues_ = std::move(queues);
  ids_.clear();
  for (const auto& queue : queues_) ids_.push_back(queue->info.queue_id);
}

std::shared_ptr<const ServedQueue> ServedQueues::find(std::uint32_t queue_id) const {
  for (const auto& queue : queues_) {
    if (queue->info.queue_id == queue_id) return queue;
  }
  return nullptr;
}

std::shared_ptr<const ServedQueue> ServedQueues::find_now(std::uint32_t queue_id) {
  refresh(kSecond);
  auto queue = find(queue_id);
  if (queue != nullptr) return queue;
  refresh(kLeastAge);
  return find(queue_id);
}

void ServedQueues::set_cap(std::uint32_t queue_id, std::uint32_t cap) {
  if (read_) {
    read_ns_ = 0;  // the next refresh() asks
    return;
  }
  for (auto& queue : queues_) {
    if (queue->info.queue_id != queue_id) continue;
    auto changed = std::make_shared<ServedQueue>(*queue);
    changed->info.cap = cap;
    queue = std::move(changed);
  }
}

}  // namespace allot::worker
