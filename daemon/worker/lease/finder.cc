// SPDX-License-Identifier: Apache-2.0
#include "worker/lease/finder.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "base/mutant.h"
#include "log/log.h"
#include "meter/record.h"
#include "peer/doorbell.h"
#include "process/stop_request.h"
#include "queue/verbs/block.h"
#include "queue/verbs/cap_part.h"
#include "worker/lease/hints.h"
#include "worker/lease/polling.h"

namespace allot::worker {
namespace {

// Limits for the age of the list of queues: for a scout, so that each poll of an idle pool finds a
// new queue; and for a worker with a hint to a queue that is not on the list.
constexpr Nanos kScoutAge = 500 * kMilli;
constexpr Nanos kLeastAge = 50 * kMilli;
// Interval of polls for deferred types; longer than a lease needs to requeue some.
constexpr Nanos kDeferredEvery = 450 * kMilli;
// A capped queue had no room for another lease: its other leases are older than the change of the
// cap.
constexpr Nanos kFull = 50 * kMilli;

// Number of tasks that a lease fetches at a time. In a capped queue this is the number that it may
// run at a time, which its row shows to the other leases.
std::uint32_t block_size_of(const ServedQueue& queue, queue::Partition partition) {
  const std::uint32_t most = queue.settings->block_size;
  if (!queue.capped()) return most;
  return std::min(most, queue::share_of(queue.info.cap, queue.info.partitions(),
                                        partition.partition_no - queue.info.first_partition));
}

}  // namespace

Finder::Finder(Session& session, const queue::LeaseStore& store, LeaseKeeper& keeper,
               SlotWriter& slot, ipc::Board& board, std::uint32_t pool, ServedQueues queues,
               Knows knows, Shares shares)
    : session_(session),
      store_(store),
      keeper_(keeper),
      slot_(slot),
      pool_(board.pools[pool]),
      queues_(std::move(queues)),
      knows_(std::move(knows)),
      rates_(board, pool),
      shares_(std::move(shares)),
      watched_(session, static_cast<Nanos>(store.ttl().count()) * kMicro) {
  peer::serve(pool_, queues_.ids());
}

void Finder::look_at_queues(Nanos age) {
  if (queues_.refresh(age)) peer::serve(pool_, queues_.ids());
}

// Another worker may have scouted a queue that this one does not know yet.
std::shared_ptr<const ServedQueue> Finder::find_served(std::uint32_t queue_id) {
  look_at_queues(kSecond);
  auto queue = queues_.find(queue_id);
  if (queue != nullptr) return queue;
  look_at_queues(kLeastAge);
  return queues_.find(queue_id);
}

queue::FetchSpec Finder::fetch_spec(std::uint32_t block_size) const {
  return {block_size, highest_seen_, clock_.time(boot_ns()), {}};
}

bool Finder::claim_urgent() {
  claimed_ = take_urgent(pool_);
  return claimed_ != 0;
}

bool Finder::same_again(queue::Partition partition, std::uint32_t share, bool rated) {
  const auto queue = find_served(partition.queue_id);
  if (queue == nullptr || !queue->capped()) return false;
  const queue::CapPart now = session_.call([&](db::Connection& db) {
    return queue::read_cap_part(db, partition, block_size_of(*queue, partition));
  });
  // A cap that grew is larger than the limit of this lease shows.
  return now.cap == queue->info.cap && now.most == share && !now.paused && now.rated == rated;
}

bool Finder::others_wait() {
  watch();
  if (becomes_scout()) scout();
  return pool_.urgent_count.load() != 0 || hints_wait() || watched_.any();
}

bool Finder::hints_wait() const {
  if (!shares_.none()) return hinted_queue(pool_, queues_.ids()) != 0;
  return pool_.hint_next.load(std::memory_order_relaxed) <
         pool_.hint_count.load(std::memory_order_relaxed);
}

std::optional<Finder::Found> Finder::next() {
  if (slot_.may_start_none()) {
    wait_for_the_end();
    return std::nullopt;
  }
  auto found = find();
  if (found) {
    if (stand_down(pool_, stands_by_until_ns_)) ++seen_bell_;  // its own ring carries no news
  } else if (!hints_wait()) {
    sleep();
  }
  return found;
}

std::optional<Finder::Found> Finder::find() {
  seen_bell_ = pool_.bell.rings.load();
  if (claimed_ != 0 || claim_urgent()) {
    if (auto found = follow(std::exchange(claimed_, 0))) return found;
  }
  // This comes before the hints: with endless work the hints would never run out (S13).
  watch();
  if (auto found = take_over_one()) return found;
  if (auto found = follow(next_hint())) return found;
  if (!becomes_scout()) return std::nullopt;
  scout();
  return follow(next_hint());
}

// With weights, the queue whose turn it is may have no hint because its hints are used up, or
// because it had no work at the last poll. Hints of other queues may last for minutes, so the
// worker polls the queues before them, and no others.
ipc::Hint Finder::next_hint() {
  if (shares_.none()) return take_hint(pool_);
  if (const ipc::Hint urgent = take_urgent(pool_); urgent != 0) return urgent;
  const auto order = shares_.order();
  const std::uint32_t hinted = hinted_queue(pool_, order);
  const auto before = std::find(order.begin(), order.end(), hinted);
  if (hinted != 0 && before != order.begin()) {
    add_hints(pool_, look_before({order.begin(), before}));
  }
  return take_hint_of(pool_, order);
}

// Skips queues whose rate lets no task start yet.
std::vector<ipc::Hint> Finder::look_before(std::vector<std::uint32_t> queue_ids) {
  const Nanos now = mono_ns();
  std::erase_if(queue_ids, [&](std::uint32_t id) { return rates_.closed(id, now); });
  if (queue_ids.empty()) return {};
  const bool rates = std::any_of(queue_ids.begin(), queue_ids.end(),
                                 [&](std::uint32_t id) { return rates_.rated(id); });
  return hints_of(look(queue_ids, {.rates = rates}));
}

std::optional<Finder::Found> Finder::follow(ipc::Hint hint) {
  const queue::Partition partition{hint_queue(hint), hint_partition(hint)};
  if (hint == 0) return std::nullopt;
  const auto queue = find_served(partition.queue_id);
  if (queue == nullptr) return std::nullopt;
  if ((hint & kRatedHint) != 0) rates_.learn(partition.queue_id);
  const bool deferred = (hint & kDeferredHint) != 0;
  const queue::Held held = deferred ? queue::Held::kKnown : queue::Held::kWaits;
  if (rates_.rated(partition.queue_id)) {
    auto found = follow_rated(partition, *queue, held);
    if (found) found->deferred = deferred;
    if (found || rates_.rated(partition.queue_id)) return found;
  }
  auto block = take(partition, *queue, [&](db::Connection& db, queue::Locked locked) {
    return store_.lease(db, partition, fetch_spec(block_size_of(*queue, partition)), locked, held);
  });
  if (!block) return std::nullopt;
  return Found{std::move(*block), {}, share_, deferred};
}

// S42: a worker that knows of the queue's rate leases it by the statement that charges for it.
std::optional<Finder::Found> Finder::follow_rated(queue::Partition partition,
                                                  const ServedQueue& queue, queue::Held held) {
  const std::uint32_t block_size = block_size_of(queue, partition);
  const std::uint32_t asked = rates_.asked(partition.queue_id, block_size);
  std::optional<queue::Granted> granted;
  Nanos sent_ns = 0;
  auto block = take(partition, queue, [&](db::Connection& db, queue::Locked locked) {
    sent_ns = boot_ns();
    auto taken =
        queue::lease_rated(db, store_, partition, fetch_spec(block_size), asked, locked, held);
    if (!taken) return std::optional<queue::Block>();
    granted = taken->granted;
    grant_ = Grant(*granted, partition.queue_id, sent_ns);
    return std::move(taken->block);
  });
  if (granted) rates_.answered(partition.queue_id, *granted);
  if (!block) return std::nullopt;
  return Found{std::move(*block), grant_, share_};
}

// S51: a lease of a capped queue reads the shares of the others, once they can see it. Without room
// it is given back at once, with its charge (S43): the next try is charged again.
template <typename Verb>
std::optional<queue::Block> Finder::take_share(db::Connection& db, queue::Partition partition,
                                               const ServedQueue& queue, Verb&& verb) {
  grant_ = {};
  std::optional<queue::Block> block = verb(db);
  share_ = 0;
  if (!block) return block;
  if (block->cap != queue.info.cap) queues_.set_cap(partition.queue_id, block->cap);
  if (block->cap == 0 && !queue.capped()) return block;
  // The lease was taken with old information about the cap: the next one has the new cap.
  const bool known = block->cap != 0 && queue.capped();
  const std::uint32_t published = block_size_of(queue, partition);
  if (known) {
    share_ = mutant::removed("share_of_others")
                 ? published
                 : queue::read_cap_part(db, partition, published).most;
  }
  if (share_ > 0) return block;
  queue::ack_and_release(db, block->lease, {}, {}, grant_.unused(boot_ns()));
  if (known) full_until_ns_[partition.queue_id] = mono_ns() + kFull;
  return std::nullopt;
}

template <typename Verb>
std::optional<queue::Block> Finder::take(queue::Partition partition, const ServedQueue& queue,
                                         Verb&& verb) {
  const auto full = full_until_ns_.find(partition.queue_id);
  if (full != full_until_ns_.end()) {
    if (mono_ns() < full->second) return std::nullopt;
    full_until_ns_.erase(full);
  }
  slot_.begin_lease(partition, queue.info.name, queue.exclusive());
  slot_.set_state(ipc::WorkerState::kLeasing);
  Nanos sent_ns = 0;
  queue::Locked locked = queue::Locked::kSkip;
  auto block = session_.call([&](db::Connection& db) {
    sent_ns = boot_ns();
    return take_share(db, partition, queue, [&](db::Connection& on) {
      return verb(on, std::exchange(locked, queue::Locked::kWait));
    });
  });
  if (!block) {
    slot_.end_lease();
    slot_.set_state(ipc::WorkerState::kIdle);
    return std::nullopt;
  }
  clock_.saw(block->clock, sent_ns, boot_ns());
  block->lease.time = clock_.time(boot_ns());
  keeper_.hold(block->lease, sent_ns);
  shares_.leased(partition.queue_id);
  slot_.lease_known(block->lease.epoch, keeper_.deadline_ns());
  log::debug("lease", {{"queue", queue.info.name},
                       {"partition", partition.partition_no},
                       {"epoch", block->lease.epoch},
                       {"tasks", block->tasks.size()}});
  return block;
}

void Finder::forget_lease() {
  pool_.lease_ended_ns.store(mono_ns());
  slot_.clear_finished();
  slot_.end_lease();
  slot_.set_state(ipc::WorkerState::kIdle);
}

// Free partitions with work, longest released first; with weights, separately for each queue.
queue::Scouted Finder::look(const std::vector<std::uint32_t>& queue_ids, queue::ScoutAlso also) {
  Nanos sent_ns = 0;
  auto scouted = session_.call([&](db::Connection& db) {
    sent_ns = boot_ns();
    const queue::HolderTime time = clock_.time(sent_ns);
    return shares_.none() ? queue::LeaseStore::scout(db, queue_ids, time, also)
                          : queue::LeaseStore::scout_each(db, queue_ids, time, also);
  });
  clock_.saw(scouted.clock, sent_ns, boot_ns());
  const Nanos now = mono_ns();
  std::erase_if(scouted.deferred, [&](const queue::ScoutedType& one) {
    return !knows_(one.type) || rates_.closed(one.partition.queue_id, now);
  });
  return scouted;
}

namespace {

// S66: tasks that another worker deferred are work for a worker that has a handler for them. They
// come first: there may be more due tasks than room.
std::vector<queue::Partition> with_deferred(std::vector<queue::Partition> found,
                                            const std::set<queue::Partition>& deferred) {
  std::erase_if(found, [&](const queue::Partition& at) { return deferred.count(at) != 0; });
  found.insert(found.begin(), deferred.begin(), deferred.end());
  return found;
}

}  // namespace

// Partitions of rated queues come first: there are at most as many as tasks may start now.
std::vector<ipc::Hint> Finder::hints_of(const queue::Scouted& scouted) {
  std::vector<queue::Partition> found = rates_.scouted(scouted.rates);
  found.insert(found.end(), scouted.found.begin(), scouted.found.end());
  std::set<queue::Partition> deferred;
  for (const queue::ScoutedType& one : scouted.deferred) deferred.insert(one.partition);
  found = with_deferred(std::move(found), deferred);
  std::vector<ipc::Hint> hints;
  if (!shares_.none()) {
    hints = shares_.hints(found);
  } else {
    for (const queue::Partition& at : found)
      hints.push_back(make_hint(at.queue_id, at.partition_no));
  }
  for (ipc::Hint& hint : hints) {
    const queue::Partition at{hint_queue(hint), hint_partition(hint)};
    if (rates_.rated(at.queue_id)) hint |= kRatedHint;
    if (deferred.count(at) != 0) hint |= kDeferredHint;
  }
  return hints;
}

// If it dies during its poll, another worker becomes the scout after the polling floor.
bool Finder::becomes_scout() {
  asked_by_ = pool_.next_scout_ns.load();
  return become_scout(pool_, mono_ns(), kPollingFloor);
}

void Finder::scout() {
  look_at_queues(kScoutAge);
  const Nanos now = mono_ns();
  const bool idle = pool_.scout_interval_ns.load() != kBusyInterval;
  const bool deferred = now >= next_deferred_ns_ && (!idle || ahead_.deferred);
  if (deferred) next_deferred_ns_ = now + kDeferredEvery;
  const bool rates = (!idle || ahead_.rates) && rates_.look(now);
  const queue::Scouted scouted = look(queues_.ids(), {rates, deferred, idle});
  const auto hints = hints_of(scouted);
  const std::size_t count = std::min(hints.size(), ipc::kMaxHints);
  publish_hints(pool_, hints.data(), count);
  plan_next_poll(scouted);
  if (count == 0) return;
  // The scout itself takes one, so another one must be on standby. Its own ring carries no news.
  peer::wake(pool_.bell, count);
  ++seen_bell_;
}

// S77. rates_ has already planned the next poll of a queue with a rate.
void Finder::plan_next_poll(const queue::Scouted& scouted) {
  const Nanos now = mono_ns();
  const Nanos before = pool_.scout_interval_ns.load();
  const Nanos last_look = pool_.scouted_ns.exchange(now);
  const bool rung = asked_by_ <= peer::kAnnounced;
  Nanos interval = kBusyInterval;
  if (!scouted.found.empty() || !scouted.deferred.empty()) {
    // Neither left by a lease of this pool, nor seen by the poll before.
    const Nanos due = pool_.next_due_ns.load();
    const bool foreseen = due != 0 && due <= now;
    const bool left = pool_.lease_ended_ns.load() >= last_look;
    if (!rung && !left && !foreseen && before != kBusyInterval) pool_.unrung_ns.store(now);
  } else if (asked_by_ == peer::kAnnounced && !mutant::removed("wake_trusts_log")) {
    interval = kAnnouncedInterval;
  } else {
    const Nanos unrung = pool_.unrung_ns.load();
    interval = next_interval(before, unrung == 0 || unrung > now ? UINT64_MAX : now - unrung);
  }
  pool_.scout_interval_ns.store(interval);
  Nanos next = now + interval;
  if (scouted.ahead) {
    // Work that this worker did not search for, because it did not know of it.
    const bool more =
        (scouted.ahead->rates && !ahead_.rates) || (scouted.ahead->deferred && !ahead_.deferred);
    ahead_ = *scouted.ahead;
    const Nanos due = ahead_.due_in ? now + static_cast<Nanos>(ahead_.due_in->count()) * kMicro : 0;
    pool_.next_due_ns.store(due);
    if (due != 0) next = std::min(next, due);
    if (more) next = now;
  }
  look_again_by(pool_, next);
}

void Finder::watch() {
  watched_.look(
      [](const peer::StandingLease& one) -> std::optional<queue::Partition> {
        if ((one.flags & peer::StandingLease::kDetached) != 0) return std::nullopt;
        return queue::Partition{one.queue_id, one.partition_no};
      },
      [this](queue::Partition partition) { return served(partition.queue_id) != nullptr; },
      [this] {
        look_at_queues(kSecond);
        std::vector<std::pair<queue::Partition, queue::Observation>> seen;
        for (queue::Observation& observed : session_.call(
                 [&](db::Connection& db) { return queue::LeaseStore::watch(db, queues_.ids()); })) {
          seen.emplace_back(observed.partition, std::move(observed));
        }
        return seen;
      });
}

std::optional<Finder::Found> Finder::take_over_one() {
  const auto still = watched_.take();
  if (!still) return std::nullopt;
  const queue::Observation& observed = still->observed;
  const auto queue = served(observed.partition.queue_id);
  if (queue == nullptr) return std::nullopt;
  const bool rated = rates_.rated(observed.partition.queue_id);
  auto block = take(observed.partition, *queue, [&](db::Connection& db, queue::Locked locked) {
    const auto spec = fetch_spec(block_size_of(*queue, observed.partition));
    return store_.take_over(db, observed, still->stale, spec, locked, rated);
  });
  if (!block) return std::nullopt;
  slot_.count(meter::Event::kTakeovers);
  log::warn("lease.takeover", {{"queue", queue->info.name},
                               {"partition", observed.partition.partition_no},
                               {"from", observed.holder},
                               {"epoch", block->lease.epoch}});
  if (!rated || mutant::removed("rate_takeover")) return Found{std::move(*block), {}, share_};
  // It only frees the partition. The next holder is charged for its starts.
  block->tasks.clear();
  return Found{std::move(*block), Grant({}, observed.partition.queue_id, boot_ns()), share_};
}

// A drain has reached its limit of starts: `allot drain` sees it, and ends this worker.
void Finder::wait_for_the_end() {
  const std::uint32_t seen_bell = pool_.bell.rings.load();
  if (leaving()) return;
  const SlotWriter::Guard guard(slot_);
  peer::wait_for_ring(pool_.bell, seen_bell, kPollingFloor);
}

void Finder::sleep() {
  if (leaving()) return;
  const SlotWriter::Guard guard(slot_);
  const Nanos now = mono_ns();
  const Nanos next_scout = pool_.next_scout_ns.load();
  // The board is not trusted, so the floor bounds it.
  Nanos wait = next_scout > now ? std::min(next_scout - now, kPollingFloor) : 0;
  if (wait > 0 && !stand_by(pool_, now, stands_by_until_ns_)) {
    wait = watched_.by_steward() ? deep_sleep(slot_.raw().index, pool_.bell.waiters.load())
                                 : kPollingFloor;
  }
  if (const auto next_watch = watched_.next_poll_ns()) {
    const Nanos boot = boot_ns();
    wait = std::min(wait, *next_watch > boot ? *next_watch - boot : 0);
  }
  if (wait > 0) peer::wait_for_ring(pool_.bell, seen_bell_, wait);
}

}  // namespace allot::worker
