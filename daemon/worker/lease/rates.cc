// SPDX-License-Identifier: Apache-2.0
#include "worker/lease/rates.h"

#include "worker/lease/hints.h"

namespace allot::worker {
namespace {

constexpr Nanos kLookEvery = kSecond;
// Between two looks at a queue that lets no task start: a bucket holds ten times as much.
constexpr Nanos kLeastWait = 20 * kMilli;
// A look that comes too early by the length of its trip would be one in vain.
constexpr Nanos kBehind = kMilli;

}  // namespace

bool Rates::look(Nanos now) {
  if (queues_.empty() && now < next_look_ns_) return false;
  next_look_ns_ = now + kLookEvery;
  return true;
}

std::vector<ipc::Hint> Rates::scouted(const queue::ScoutedRates& rates) {
  std::map<std::uint32_t, std::uint64_t> free;
  for (const queue::RatedQueue& queue : rates.queues) {
    learn(queue.queue_id);
    free[queue.queue_id] = queue.starts;
    if (queue.wait.count() > 0) look_again_in(static_cast<Nanos>(queue.wait.count()) * kMicro);
  }
  std::vector<ipc::Hint> hints;
  for (const queue::Partition& at : rates.found) {
    // One at least: what the first statement saw may have changed.
    std::uint64_t& left = free.try_emplace(at.queue_id, 1).first->second;
    if (left == 0) continue;
    --left;
    hints.push_back(make_hint(at.queue_id, at.partition_no) | kRatedHint);
  }
  if (!hints.empty()) look_again_in(0);
  return hints;
}

std::uint32_t Rates::asked(std::uint32_t queue_id, std::uint32_t block_size) const {
  const auto known = queues_.find(queue_id);
  const std::uint32_t size = known == queues_.end() ? 1 : known->second.size.size();
  return std::clamp(size, 1U, std::max(1U, block_size));
}

void Rates::answered(std::uint32_t queue_id, const queue::Granted& granted) {
  if (!granted.rated) {
    queues_.erase(queue_id);
    return;
  }
  queues_[queue_id].most = granted.most;
  if (granted.wait_us > 0) look_again_in(granted.wait_us * kMicro);
}

void Rates::ended(std::uint32_t queue_id, const Grant& grant) {
  const auto known = queues_.find(queue_id);
  if (known == queues_.end()) return;
  known->second.size.ended(grant, known->second.most);
}

void Rates::look_again_in(Nanos wait) {
  look_again_by(pool_, mono_ns() + std::max(wait + kBehind, kLeastWait));
}

}  // namespace allot::worker
