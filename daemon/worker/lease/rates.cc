// SPDX-License-Identifier: Apache-2.0
#include "worker/lease/rates.h"

#include "worker/lease/hints.h"

namespace allot::worker {
namespace {

constexpr Nanos kPollInterval = kSecond;
// Between two polls of a queue that lets no task start: a bucket holds ten times as much.
constexpr Nanos kLeastWait = 20 * kMilli;
// A poll that comes too early by the length of its round trip would be in vain.
constexpr Nanos kBehind = kMilli;

}  // namespace

bool Rates::closed(std::uint32_t queue_id, Nanos now) const {
  const auto known = queues_.find(queue_id);
  return known != queues_.end() && now < known->second.closed_until_ns;
}

bool Rates::look(Nanos now) {
  const Nanos next = pool_.next_rate_poll_ns.load();
  // The board is not trusted: the next poll is never further away than kPollInterval.
  if (now < next && next <= now + kPollInterval) return false;
  pool_.next_rate_poll_ns.store(now + kPollInterval);
  return true;
}

std::vector<queue::Partition> Rates::scouted(const queue::ScoutedRates& rates) {
  if (!rates.queues.empty()) pool_.next_rate_poll_ns.store(0);
  std::map<std::uint32_t, std::uint64_t> free;
  for (const queue::RatedQueue& queue : rates.queues) {
    wait_for(queues_[queue.queue_id], static_cast<std::uint64_t>(queue.wait.count()));
    free[queue.queue_id] = queue.starts;
  }
  std::vector<queue::Partition> found;
  for (const queue::Partition& at : rates.found) {
    // At least one: the result of the first statement may have changed.
    std::uint64_t& left = free.try_emplace(at.queue_id, 1).first->second;
    if (left == 0) continue;
    --left;
    found.push_back(at);
  }
  if (!found.empty()) look_again_in(0);
  return found;
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
  Known& queue = queues_[queue_id];
  queue.most = granted.max_grant;
  wait_for(queue, granted.wait_us);
}

void Rates::ended(std::uint32_t queue_id, const Grant& grant) {
  const auto known = queues_.find(queue_id);
  if (known == queues_.end()) return;
  known->second.size.ended(grant, known->second.most);
}

// A rate may change at any time, so every wait ends with a poll.
void Rates::wait_for(Known& queue, std::uint64_t wait_us) {
  const Nanos wait = std::min<Nanos>(wait_us * kMicro, kPollInterval);
  queue.closed_until_ns = mono_ns() + wait;
  if (wait > 0) look_again_in(wait);
}

void Rates::look_again_in(Nanos wait) {
  look_again_by(pool_, mono_ns() + std::max(wait + kBehind, kLeastWait));
}

}  // namespace allot::worker
