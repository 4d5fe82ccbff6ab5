// SPDX-License-Identifier: Apache-2.0
#include "worker/lease/weights.h"

#include <algorithm>
#include <deque>
#include <map>
#include <numeric>

#include "worker/lease/hints.h"

namespace allot::worker {
namespace {

// A queue whose partitions were out of reach keeps its turns; a queue without work does not, and
// the two cannot be distinguished with certainty. The debt is therefore bounded, by this number of
// rounds.
constexpr std::int64_t kMostRounds = 2;
// In a long round, workers begin in the first part.
constexpr std::uint64_t kMostPhase = 1000;

}  // namespace

Weights::Weights(const config::Pool& pool, std::span<const ServedQueue> queues, std::uint64_t phase)
    : strict_(pool.strict) {
  if (!pool.strict && pool.weights.empty()) return;
  for (const ServedQueue& queue : queues) {
    const auto named = pool.weights.find(queue.info.name);
    queues_.push_back({queue.info.queue_id, named == pool.weights.end() ? 1 : named->second});
  }
  if (strict_ || queues_.empty()) return;
  phase %= std::min(kMostPhase, static_cast<std::uint64_t>(round()));
  for (std::uint64_t i = 0; i < phase; ++i) leased(order().front());
}

std::int64_t Weights::round() const {
  return std::accumulate(
      queues_.begin(), queues_.end(), std::int64_t{0},
      [](std::int64_t sum, const Weighted& weighted) { return sum + weighted.weight; });
}

// Indices into queues_, starting with the one whose turn it is.
std::vector<std::size_t> Weights::turns() const {
  std::vector<std::size_t> places(queues_.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  if (strict_) return places;
  std::stable_sort(places.begin(), places.end(), [this](std::size_t a, std::size_t b) {
    return queues_[a].credit + queues_[a].weight > queues_[b].credit + queues_[b].weight;
  });
  return places;
}

std::vector<std::uint32_t> Weights::order() const {
  std::vector<std::uint32_t> ids;
  for (const std::size_t place : turns()) ids.push_back(queues_[place].queue_id);
  return ids;
}

void Weights::leased(std::uint32_t queue_id) {
  const std::int64_t all = round();
  for (Weighted& weighted : queues_) {
    weighted.credit += weighted.weight - (weighted.queue_id == queue_id ? all : 0);
    weighted.credit = std::clamp(weighted.credit, -kMostRounds * all, kMostRounds * all);
  }
}

std::vector<ipc::Hint> Weights::hints(std::span<const queue::Partition> found) const {
  std::vector<ipc::Hint> hints;
  if (none()) {
    for (const queue::Partition& at : found) {
      hints.push_back(make_hint(at.queue_id, at.partition_no));
    }
    return hints;
  }
  std::map<std::uint32_t, std::deque<ipc::Hint>> left;
  for (const queue::Partition& partition : found) {
    left[partition.queue_id].push_back(make_hint(partition.queue_id, partition.partition_no));
  }
  for (Weights dealt = *this; hints.size() < ipc::kMaxHints;) {
    const auto order = dealt.order();
    const auto next = std::find_if(order.begin(), order.end(),
                                   [&](std::uint32_t queue_id) { return !left[queue_id].empty(); });
    if (next == order.end()) break;
    hints.push_back(left[*next].front());
    left[*next].pop_front();
    dealt.leased(*next);
  }
  return hints;
}

}  // namespace allot::worker
