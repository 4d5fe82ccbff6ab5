// SPDX-License-Identifier: Apache-2.0
#include "worker/lease/finder.h"

#include "log/log.h"
#include "meter/record.h"
#include "peer/doorbell.h"
#include "process/stop_request.h"
#include "worker/lease/hints.h"
#include "worker/lease/polling.h"

namespace allot::worker {

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
      caps_(queues_),
      takeovers_(session, queues_, static_cast<Nanos>(store.ttl().count()) * kMicro),
      scout_(session, pool_, queues_, clock_, rates_, weights_, std::move(knows)),
      sources_{[this] { return offer_urgent(); },
               [this] {
                 takeovers_.poll();
                 return takeovers_.offer();
               },
               [this] { return scout_.offer_hint(); }, [this] { return offer_scouted(); }} {
  queues_.show_on(pool_);
}

std::optional<LeasedBlock> Finder::next() {
  if (slot_.may_start_none()) {
    wait_for_the_end();
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
  for (const Source& source : sources_) {
    const auto offer = source();
    if (!offer) continue;
    if (auto found = lease(*offer)) return found;
  }
  return std::nullopt;
}

bool Finder::reserve_urgent() {
  if (urgent_ == 0) urgent_ = take_urgent(pool_);
  return urgent_ != 0;
}

std::optional<Offer> Finder::offer_urgent() {
  static_cast<void>(reserve_urgent());
  return offer_of(std::exchange(urgent_, 0));
}

std::optional<Offer> Finder::offer_scouted() {
  return run_scout() ? scout_.offer_hint() : std::nullopt;
}

// False: another worker is the scout.
bool Finder::run_scout() {
  if (!scout_.becomes_scout()) return false;
  if (scout_.run()) ++seen_bell_;  // as in next()
  return true;
}

std::optional<LeasedBlock> Finder::lease(const Offer& offer) {
  const std::uint32_t queue_id = offer.partition.queue_id;
  const auto queue = queues_.find_now(queue_id);
  if (queue == nullptr) return std::nullopt;
  if (offer.rated) rates_.learn(queue_id);
  if (caps_.full(queue_id)) return std::nullopt;
  slot_.begin_lease(offer.partition, queue->info.name, queue->exclusive());
  slot_.set_state(ipc::WorkerState::kLeasing);
  Nanos sent_ns = 0;
  queue::Locked locked = queue::Locked::kSkip;
  auto found = session_.call([&](db::Connection& db) {
    sent_ns = boot_ns();
    auto taken = take(db, offer, *queue, std::exchange(locked, queue::Locked::kWait));
    return caps_.fit(db, *queue, std::move(taken));
  });
  if (!found) {
    slot_.end_lease();
    slot_.set_state(ipc::WorkerState::kIdle);
    return std::nullopt;
  }
  leased(*found, *queue, sent_ns);
  if (offer.stalled) {
    slot_.count(meter::Event::kTakeovers);
    log::warn("lease.takeover", {{"queue", queue->info.name},
                                 {"partition", offer.partition.partition_no},
                                 {"from", offer.stalled->observed.holder},
                                 {"epoch", found->block.lease.epoch}});
  }
  found->deferred = offer.deferred;
  return found;
}

std::optional<LeasedBlock> Finder::take(db::Connection& db, const Offer& offer,
                                        const ServedQueue& queue, queue::Locked locked) {
  const queue::FetchSpec spec = fetch_spec(Caps::block_size(queue, offer.partition));
  if (offer.stalled) {
    return rates_.take_over(db, store_, offer.stalled->observed, offer.stalled->stale, spec,
                            locked);
  }
  const queue::Deferred deferred =
      offer.deferred ? queue::Deferred::kLease : queue::Deferred::kSkip;
  return rates_.lease(db, store_, offer.partition, spec, locked, deferred);
}

void Finder::leased(LeasedBlock& found, const ServedQueue& queue, Nanos sent_ns) {
  queue::Lease& lease = found.block.lease;
  clock_.saw(found.block.clock, sent_ns, boot_ns());
  lease.time = clock_.time(boot_ns());
  keeper_.keep(lease, sent_ns);
  weights_.leased(lease.partition.queue_id);
  slot_.lease_known(lease.epoch, keeper_.deadline_ns());
  log::debug("lease", {{"queue", queue.info.name},
                       {"partition", lease.partition.partition_no},
                       {"epoch", lease.epoch},
                       {"tasks", found.block.tasks.size()}});
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
  return session_.call(
      [&](db::Connection& db) { return Caps::unchanged(db, *queue, partition, cap_part, rated); });
}

bool Finder::has_other_work() {
  takeovers_.poll();
  static_cast<void>(run_scout());
  return pool_.urgent_count.load() != 0 || scout_.hints_wait() || takeovers_.any();
}

// A drain has reached its limit of starts: `allot drain` sees it, and ends this worker.
void Finder::wait_for_the_end() {
  const std::uint32_t seen_bell = pool_.bell.rings.load();
  if (process::leaving()) return;
  const process::SlotWriter::Guard guard(slot_);
  peer::wait_for_ring(pool_.bell, seen_bell, kPollingFloor);
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
