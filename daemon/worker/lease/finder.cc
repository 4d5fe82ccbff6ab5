// SPDX-License-Identifier: Apache-2.0
#include "worker/lease/finder.h"

#include <algorithm>

#include "base/mutant.h"
#include "log/log.h"
#include "meter/record.h"
#include "peer/doorbell.h"
#include "process/stop_request.h"
#include "queue/verbs/block.h"
#include "queue/verbs/lease_store.h"
#include "worker/lease/hints.h"
#include "worker/lease/polling.h"
#include "worker/run/run.h"

namespace allot::worker {
namespace {

// A capped queue had no room for another lease: its other leases are older than the change of the
// cap.
constexpr Nanos kFull = 50 * kMilli;

}  // namespace

Finder::Finder(process::Session& session, const queue::LeaseStore& store, LeaseKeeper& keeper,
               process::SlotWriter& slot, ipc::Board& board, std::uint32_t pool,
               ServedQueues queues, Knows knows, Weights weights)
    : session_(session),
      store_(store),
      keeper_(keeper),
      slot_(slot),
      pool_(board.pools[pool]),
      queues_(std::move(queues)),
      rates_(board, pool),
      weights_(std::move(weights)),
      takeovers_(session, in_nanos(store.ttl())),
      scout_(session, pool_, queues_, clock_, rates_, weights_, std::move(knows)) {
  queues_.show_on(pool_);
}

std::optional<LeasedBlock> Finder::next() {
  // A drain has reached its limit of starts: `allot drain` sees it, and ends this worker.
  if (slot_.may_start_none()) {
    const std::uint32_t seen_bell = pool_.bell.rings.load();
    const process::SlotWriter::Guard guard(slot_);
    if (!process::leaving()) peer::wait_for_ring(pool_.bell, seen_bell, kPollingFloor);
    return std::nullopt;
  }
  auto found = find();
  if (found) {
    if (stand_down(pool_, stands_by_until_ns_)) ++seen_bell_;  // its own ring carries no news
  } else if (!scout_.hints_wait()) {
    sleep();
  }
  return found;
}

std::optional<LeasedBlock> Finder::find() {
  seen_bell_ = pool_.bell.rings.load();
  static_cast<void>(reserve_urgent());
  if (auto found = lease(offer_of(std::exchange(urgent_, 0)))) return found;
  poll_takeovers();
  if (auto still = takeovers_.take()) {
    Offer offer{still->observed.partition};
    offer.stalled = std::move(*still);
    if (auto found = lease(offer)) return found;
  }
  if (auto found = lease(scout_.offer_hint())) return found;
  return scout_.run(seen_bell_) ? lease(scout_.offer_hint()) : std::nullopt;
}

bool Finder::reserve_urgent() {
  if (urgent_ == 0) urgent_ = take_urgent(pool_);
  return urgent_ != 0;
}

std::optional<LeasedBlock> Finder::lease(const std::optional<Offer>& offer) {
  if (!offer) return std::nullopt;
  const auto [queue_id, partition_no] = offer->partition;
  const auto queue = queues_.find_now(queue_id);
  if (queue == nullptr) return std::nullopt;
  if (offer->rated) rates_.learn(queue_id);
  if (is_full(queue_id)) return std::nullopt;
  slot_.begin_lease(offer->partition, queue->info.name, queue->exclusive());
  slot_.set_state(ipc::WorkerState::kLeasing);
  Nanos sent_ns = 0;
  queue::Locked locked = queue::Locked::kSkip;
  auto found = session_.call([&](db::Connection& db) {
    sent_ns = boot_ns();
    const queue::FetchSpec spec = fetch_spec(block_size(*queue, offer->partition));
    auto taken =
        rates_.lease(db, store_, *offer, spec, std::exchange(locked, queue::Locked::kWait));
    return fit(db, *queue, std::move(taken));
  });
  if (!found) {
    slot_.end_lease();
    slot_.set_state(ipc::WorkerState::kIdle);
    return std::nullopt;
  }
  queue::Lease& lease = found->block.lease;
  clock_.saw(found->block.clock, sent_ns, boot_ns());
  lease.time = clock_.time(boot_ns());
  keeper_.keep(lease, sent_ns);
  weights_.leased(queue_id);
  slot_.lease_known(lease.epoch, keeper_.deadline_ns());
  log::debug("lease", {{"queue", queue->info.name},
                       {"partition", partition_no},
                       {"epoch", lease.epoch},
                       {"tasks", found->block.tasks.size()}});
  if (offer->stalled) {
    slot_.count(meter::Event::kTakeovers);
    log::warn("lease.takeover", {{"queue", queue->info.name},
                                 {"partition", partition_no},
                                 {"from", offer->stalled->observed.holder},
                                 {"epoch", lease.epoch}});
  }
  found->deferred = offer->deferred;
  return found;
}

std::uint32_t Finder::block_size(const ServedQueue& queue, queue::Partition partition) {
  const std::uint32_t most = queue.settings->block_size;
  if (!queue.capped()) return most;
  return std::min(most, queue::share_of(queue.info.cap, queue.info.partitions(),
                                        partition.partition_no - queue.info.first_partition));
}

bool Finder::is_full(std::uint32_t queue_id) {
  const auto full = full_until_ns_.find(queue_id);
  if (full == full_until_ns_.end()) return false;
  if (mono_ns() < full->second) return true;
  full_until_ns_.erase(full);
  return false;
}

std::optional<LeasedBlock> Finder::fit(db::Connection& db, const ServedQueue& queue,
                                       std::optional<LeasedBlock> found) {
  if (!found) return found;
  const queue::Partition partition = found->block.lease.partition;
  const std::uint32_t cap = found->block.cap;
  if (cap != queue.info.cap) queues_.set_cap(partition.queue_id, cap);
  if (cap == 0 && !queue.capped()) return found;
  // The lease was taken with old information about the cap: the next one has the new cap.
  const bool known = cap != 0 && queue.capped();
  const std::uint32_t published = block_size(queue, partition);
  if (known) {
    found->cap_part = mutant::removed("share_of_others")
                          ? published
                          : queue::read_cap_part(db, partition, published).most;
  }
  if (found->cap_part > 0) return found;
  queue::ack_and_release(db, found->block.lease, {}, {}, found->grant.unused(boot_ns()));
  if (known) full_until_ns_[partition.queue_id] = mono_ns() + kFull;
  return std::nullopt;
}

void Finder::poll_takeovers() {
  takeovers_.poll(
      [](const peer::StandingLease& one) -> std::optional<queue::Partition> {
        if ((one.flags & peer::StandingLease::kDetached) != 0) return std::nullopt;
        return queue::Partition{one.queue_id, one.partition_no};
      },
      [this](queue::Partition partition) { return queues_.find(partition.queue_id) != nullptr; },
      [this] {
        queues_.refresh(kSecond);
        return session_.call(
            [&](db::Connection& db) { return queue::LeaseStore::watch(db, queues_.ids()); });
      });
}

void Finder::drop_lease() {
  pool_.lease_ended_ns.store(mono_ns());
  slot_.clear_finished();
  slot_.end_lease();
  slot_.set_state(ipc::WorkerState::kIdle);
}

queue::FetchSpec Finder::fetch_spec(std::uint32_t block_size) const {
  return {block_size, highest_seen_, clock_.time(boot_ns()), {}};
}

bool Finder::lease_unchanged(queue::Partition partition, std::uint32_t cap_part, bool rated) {
  const auto queue = queues_.find_now(partition.queue_id);
  if (queue == nullptr || !queue->capped()) return false;
  const queue::CapPart now = session_.call([&](db::Connection& db) {
    return queue::read_cap_part(db, partition, block_size(*queue, partition));
  });
  // A cap that grew is larger than the limit of this lease shows.
  return now.cap == queue->info.cap && now.most == cap_part && !now.paused && now.rated == rated;
}

bool Finder::has_other_work() {
  poll_takeovers();
  static_cast<void>(scout_.run(seen_bell_));
  return pool_.urgent_count.load() != 0 || scout_.hints_wait() || takeovers_.any();
}

void Finder::sleep() {
  if (process::leaving()) return;
  const process::SlotWriter::Guard guard(slot_);
  const Nanos now = mono_ns();
  const Nanos next_scout = pool_.next_scout_ns.load();
  // The board is not trusted, so the floor bounds it.
  Nanos wait = next_scout > now ? std::min(next_scout - now, kPollingFloor) : 0;
  if (wait > 0 && !stand_by(pool_, now, stands_by_until_ns_)) {
    wait = takeovers_.by_steward() ? deep_sleep(slot_.raw().index, pool_.bell.waiters.load())
                                   : kPollingFloor;
  }
  if (const auto next_poll = takeovers_.next_poll_ns()) {
    const Nanos boot = boot_ns();
    wait = std::min(wait, *next_poll > boot ? *next_poll - boot : 0);
  }
  if (wait > 0) peer::wait_for_ring(pool_.bell, seen_bell_, wait);
}

}  // namespace allot::worker
