// SPDX-License-Identifier: Apache-2.0
#include "worker/lease/rates.h"

#include <utility>

#include "base/mutant.h"
#include "queue/verbs/block.h"
#include "worker/lease/hints.h"

namespace allot::worker {
namespace {

constexpr Nanos kRatePollEvery = kSecond;
// Between two polls of a queue that lets no task start: a bucket holds ten times as much.
constexpr Nanos kLeastWait = 20 * kMilli;
// A poll that comes too early by the length of its round trip would be in vain.
constexpr Nanos kBehind = kMilli;

}  // namespace

bool Rates::closed(std::uint32_t queue_id, Nanos now) const {
  const auto known = queues_.find(queue_id);
  return known != queues_.end() && now < known->second.closed_until_ns;
}

bool Rates::poll_due(Nanos now) {
  const Nanos next = pool_.next_rate_poll_ns.load();
  // The board is not trusted: the next poll is never further away than kRatePollEvery.
  if (now < next && next <= now + kRatePollEvery) return false;
  pool_.next_rate_poll_ns.store(now + kRatePollEvery);
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
  if (!found.empty()) poll_in(0);
  return found;
}

std::optional<LeasedBlock> Rates::lease(db::Connection& db, const queue::LeaseStore& store,
                                        const Offer& offer, const queue::FetchSpec& spec,
                                        queue::Locked locked) {
  const std::uint32_t queue_id = offer.partition.queue_id;
  if (offer.stalled) {
    const bool frees_only = rated(queue_id);
    auto block = store.take_over(db, offer.stalled->observed, offer.stalled->stale, spec, locked,
                                 frees_only);
    if (!block) return std::nullopt;
    if (!frees_only || mutant::removed("rate_takeover")) return LeasedBlock{std::move(*block)};
    // The next holder is charged for its starts.
    block->tasks.clear();
    return LeasedBlock{std::move(*block), {{}, queue_id, boot_ns()}};
  }
  const auto deferred = offer.deferred ? queue::Deferred::kLease : queue::Deferred::kSkip;
  if (rated(queue_id)) {
    const Nanos sent_ns = boot_ns();
    auto taken = queue::lease_rated(db, store, offer.partition, spec,
                                    asked(queue_id, spec.block_size), locked, deferred);
    if (!taken) return std::nullopt;
    answered(queue_id, taken->granted);
    if (taken->block)
      return LeasedBlock{std::move(*taken->block), {taken->granted, queue_id, sent_ns}};
    if (rated(queue_id)) return std::nullopt;
  }
  auto block = store.lease(db, offer.partition, spec, locked, deferred);
  if (!block) return std::nullopt;
  return LeasedBlock{std::move(*block)};
}

// Tasks that were not started are among the fetched ones.
std::vector<queue::Task> Rates::fetch(process::Session& session, const queue::Lease& lease,
                                      std::span<const queue::Finished> finished,
                                      const queue::FetchSpec& spec, std::size_t running,
                                      Grant& grant) {
  if (!grant.limited()) {
    return session.call([&](db::Connection& db) {
      return queue::ack_and_fetch(db, lease.partition, finished, spec);
    });
  }
  const std::uint32_t queue_id = lease.partition.queue_id;
  ended(queue_id, grant);
  const auto taken = static_cast<std::uint32_t>(std::min<std::size_t>(running, spec.block_size));
  const std::uint32_t wanted = asked(queue_id, spec.block_size - taken);
  Nanos sent_ns = 0;
  auto [tasks, granted] = session.call([&](db::Connection& db) {
    sent_ns = boot_ns();
    return queue::ack_and_fetch_rated(db, lease, finished, spec, wanted);
  });
  answered(queue_id, granted);
  grant = Grant(granted, queue_id, sent_ns);
  return std::move(tasks);
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
  const Nanos wait = std::min<Nanos>(wait_us * kMicro, kRatePollEvery);
  queue.closed_until_ns = mono_ns() + wait;
  if (wait > 0) poll_in(wait);
}

void Rates::poll_in(Nanos wait) {
  poll_by(pool_, mono_ns() + std::max(wait + kBehind, kLeastWait));
}

}  // namespace allot::worker
