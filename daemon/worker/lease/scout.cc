// SPDX-License-Identifier: Apache-2.0
#include "worker/lease/scout.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/mutant.h"
#include "peer/doorbell.h"
#include "worker/lease/hints.h"
#include "worker/lease/polling.h"
#include "worker/run/run.h"

namespace allot::worker {
namespace {

// Limit for the age of the list of queues, so that each poll of an idle pool finds a new queue.
constexpr Nanos kListAge = 500 * kMilli;
// Interval of polls for deferred types; longer than a lease needs to requeue some.
constexpr Nanos kDeferredEvery = 450 * kMilli;

// S66: tasks that another worker deferred are work for a worker that has a handler for them. They
// come first: there may be more due tasks than room.
std::vector<queue::Partition> with_deferred(std::vector<queue::Partition> found,
                                            const std::set<queue::Partition>& deferred) {
  std::erase_if(found, [&](const queue::Partition& at) { return deferred.count(at) != 0; });
  found.insert(found.begin(), deferred.begin(), deferred.end());
  return found;
}

}  // namespace

Scout::Scout(process::Session& session, ipc::PoolBoard& pool, ServedQueues& queues,
             DatabaseClock& clock, Rates& rates, const Weights& weights, Knows knows)
    : session_(session),
      pool_(pool),
      queues_(queues),
      clock_(clock),
      rates_(rates),
      weights_(weights),
      knows_(std::move(knows)) {}

bool Scout::run(std::uint32_t& seen_bell) {
  asked_by_ = pool_.next_scout_ns.load();
  // If it dies during its poll, another worker becomes the scout after the polling floor.
  if (!become_scout(pool_, mono_ns(), kPollingFloor)) return false;
  queues_.refresh(kListAge);
  const Nanos now = mono_ns();
  const bool idle = pool_.scout_interval_ns.load() != kBusyInterval;
  const bool deferred = now >= next_deferred_ns_ && (!idle || ahead_.deferred);
  if (deferred) next_deferred_ns_ = now + kDeferredEvery;
  const bool rates = (!idle || ahead_.rates) && rates_.poll_due(now);
  const queue::Scouted scouted = poll(queues_.ids(), {rates, deferred, idle});
  const auto hints = hints_of(scouted);
  const std::size_t count = std::min(hints.size(), ipc::kMaxHints);
  publish_hints(pool_, hints.data(), count);
  plan_next_poll(scouted);
  // The scout itself takes one, so another one must be on standby.
  if (count > 0) {
    peer::wake(pool_.bell, count);
    ++seen_bell;
  }
  return true;
}

bool Scout::hints_wait() const {
  if (!weights_.none()) return hinted_queue(pool_, queues_.ids()) != 0;
  return pool_.hint_next.load(std::memory_order_relaxed) <
         pool_.hint_count.load(std::memory_order_relaxed);
}

// With weights, the queue whose turn it is may have no hint because its hints are used up, or
// because it had no work at the last poll. Hints of other queues may last for minutes, so the
// worker polls the queues before them, and no others.
std::optional<Offer> Scout::offer_hint() {
  if (weights_.none()) return offer_of(take_hint(pool_));
  if (const ipc::Hint urgent = take_urgent(pool_); urgent != 0) return offer_of(urgent);
  const auto order = weights_.order();
  const std::uint32_t hinted = hinted_queue(pool_, order);
  const auto before = std::find(order.begin(), order.end(), hinted);
  if (hinted != 0 && before != order.begin()) {
    add_hints(pool_, poll_before({order.begin(), before}));
  }
  return offer_of(take_hint_of(pool_, order));
}

// Skips queues whose rate lets no task start yet.
std::vector<ipc::Hint> Scout::poll_before(std::vector<std::uint32_t> queue_ids) {
  const Nanos now = mono_ns();
  std::erase_if(queue_ids, [&](std::uint32_t id) { return rates_.closed(id, now); });
  if (queue_ids.empty()) return {};
  const bool rates = std::any_of(queue_ids.begin(), queue_ids.end(),
                                 [&](std::uint32_t id) { return rates_.rated(id); });
  return hints_of(poll(queue_ids, {.rates = rates}));
}

// Free partitions with work, longest released first; with weights, separately for each queue.
queue::Scouted Scout::poll(const std::vector<std::uint32_t>& queue_ids, queue::ScoutAlso also) {
  Nanos sent_ns = 0;
  also.each = !weights_.none();
  auto scouted = session_.call([&](db::Connection& db) {
    sent_ns = boot_ns();
    const queue::HolderTime time = clock_.time(sent_ns);
    return queue::LeaseStore::scout(db, queue_ids, time, also);
  });
  clock_.saw(scouted.clock, sent_ns, boot_ns());
  const Nanos now = mono_ns();
  std::erase_if(scouted.deferred, [&](const queue::ScoutedType& one) {
    return !knows_(one.type) || rates_.closed(one.partition.queue_id, now);
  });
  return scouted;
}

// Partitions of rated queues come first: there are at most as many as tasks may start now.
std::vector<ipc::Hint> Scout::hints_of(const queue::Scouted& scouted) {
  std::vector<queue::Partition> found = rates_.scouted(scouted.rates);
  found.insert(found.end(), scouted.found.begin(), scouted.found.end());
  std::set<queue::Partition> deferred;
  for (const queue::ScoutedType& one : scouted.deferred) deferred.insert(one.partition);
  std::vector<ipc::Hint> hints = weights_.hints(with_deferred(std::move(found), deferred));
  for (ipc::Hint& hint : hints) {
    const queue::Partition at{hint_queue(hint), hint_partition(hint)};
    if (rates_.rated(at.queue_id)) hint |= kRatedHint;
    if (deferred.count(at) != 0) hint |= kDeferredHint;
  }
  return hints;
}

// S77. rates_ has already planned the next poll of a queue with a rate.
void Scout::plan_next_poll(const queue::Scouted& scouted) {
  const Nanos now = mono_ns();
  const Nanos interval = next_interval_after(scouted, now);
  pool_.scout_interval_ns.store(interval);
  Nanos next = now + interval;
  if (scouted.ahead) {
    // Work that this worker did not search for, because it did not know of it.
    const bool more =
        (scouted.ahead->rates && !ahead_.rates) || (scouted.ahead->deferred && !ahead_.deferred);
    ahead_ = *scouted.ahead;
    const Nanos due = ahead_.due_in ? now + in_nanos(*ahead_.due_in) : 0;
    pool_.next_due_ns.store(due);
    if (due != 0) next = std::min(next, due);
    if (more) next = now;
  }
  poll_by(pool_, next);
}

Nanos Scout::next_interval_after(const queue::Scouted& scouted, Nanos now) {
  const Nanos before = pool_.scout_interval_ns.load();
  const Nanos last_poll = pool_.scouted_ns.exchange(now);
  const bool rung = asked_by_ <= peer::kAnnounced;
  if (!scouted.found.empty() || !scouted.deferred.empty()) {
    // Neither left by a lease of this pool, nor seen by the poll before.
    const Nanos due = pool_.next_due_ns.load();
    const bool foreseen = due != 0 && due <= now;
    const bool left = pool_.lease_ended_ns.load() >= last_poll;
    if (!rung && !left && !foreseen && before != kBusyInterval) pool_.unrung_ns.store(now);
    return kBusyInterval;
  }
  if (asked_by_ == peer::kAnnounced && !mutant::removed("wake_trusts_log")) {
    return kAnnouncedInterval;
  }
  const Nanos unrung = pool_.unrung_ns.load();
  return next_interval(before, unrung == 0 || unrung > now ? UINT64_MAX : now - unrung);
}

}  // namespace allot::worker
