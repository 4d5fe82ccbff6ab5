// SPDX-License-Identifier: Apache-2.0
#include "worker/finder.h"

#include <algorithm>
#include <array>
#include <utility>

#include "db/mutation.h"
#include "log/log.h"
#include "peer/doorbell.h"
#include "worker/hints.h"
#include "worker/stop_request.h"

namespace allot::worker {
namespace {

// The polling floor: how long nobody looks, when nothing rings. Adapts to load between these.
constexpr Nanos kBusyInterval = 10 * kMilli;
constexpr Nanos kFirstIdleInterval = 50 * kMilli;
constexpr Nanos kMostInterval = 1 * kSecond;

constexpr Nanos kMinWatch = 100 * kMilli;

}  // namespace

Finder::Finder(Session& session, const queue::LeaseStore& store, LeaseKeeper& keeper,
               SlotWriter& slot, ipc::Board& board, std::uint32_t pool,
               std::vector<ServedQueue> queues)
    : session_(session),
      store_(store),
      keeper_(keeper),
      slot_(slot),
      board_(board),
      pool_(board.pools[pool]),
      queues_(std::move(queues)),
      ttl_ns_(static_cast<Nanos>(store.ttl().count()) * kMicro),
      scout_interval_ns_(kFirstIdleInterval) {
  for (const ServedQueue& queue : queues_) queue_ids_.push_back(queue.info.queue_id);
}

const ServedQueue* Finder::served(std::uint32_t queue_id) const {
  for (const ServedQueue& queue : queues_) {
    if (queue.info.queue_id == queue_id) return &queue;
  }
  return nullptr;
}

queue::FetchSpec Finder::fetch_spec(const ServedQueue& queue) const {
  return {queue.settings->block_size, highest_seen_};
}

bool Finder::claim_urgent() {
  claimed_ = take_urgent(pool_);
  return claimed_ != 0;
}

bool Finder::hints_wait() const {
  return pool_.hint_next.load(std::memory_order_relaxed) <
         pool_.hint_count.load(std::memory_order_relaxed);
}

std::optional<queue::Block> Finder::next() {
  if (auto block = follow(std::exchange(claimed_, 0))) return block;
  const std::uint32_t seen_bell = board_.bell.load();
  if (auto block = follow(take_hint(pool_))) return block;
  if (become_scout(pool_, mono_ns(), scout_interval_ns_)) {
    scout();
    if (auto block = follow(take_hint(pool_))) return block;
  }
  watch();
  if (auto block = take_over_one()) return block;
  if (!hints_wait()) sleep(seen_bell);
  return std::nullopt;
}

std::optional<queue::Block> Finder::follow(ipc::Hint hint) {
  const queue::Partition partition{hint_queue(hint), hint_partition(hint)};
  const ServedQueue* queue = served(partition.queue_id);
  if (hint == 0 || queue == nullptr) return std::nullopt;
  return take(partition, *queue,
              [&](db::Connection& db) { return store_.lease(db, partition, fetch_spec(*queue)); });
}

template <typename Verb>
std::optional<queue::Block> Finder::take(queue::Partition partition, const ServedQueue& queue,
                                         Verb&& verb) {
  slot_.begin_lease(partition, queue.info.name, queue.settings->exclusive);
  slot_.set_state(ipc::WorkerState::kLeasing);
  Nanos sent_ns = 0;
  auto block = session_.call([&](db::Connection& db) {
    sent_ns = boot_ns();
    return verb(db);
  });
  if (!block) {
    slot_.end_lease();
    slot_.set_state(ipc::WorkerState::kIdle);
    return std::nullopt;
  }
  keeper_.hold(block->lease, sent_ns);
  slot_.lease_known(block->lease.epoch, keeper_.deadline_ns());
  log::debug("lease", {{"queue", queue.info.name},
                       {"partition", partition.partition_no},
                       {"epoch", block->lease.epoch},
                       {"tasks", block->tasks.size()}});
  return block;
}

void Finder::forget_lease() {
  slot_.clear_finished();
  slot_.end_lease();
  slot_.set_state(ipc::WorkerState::kIdle);
}

void Finder::scout() {
  const auto found =
      session_.call([&](db::Connection& db) { return queue::LeaseStore::scout(db, queue_ids_); });
  std::array<ipc::Hint, ipc::kMaxHints> hints{};
  const std::size_t count = std::min(found.size(), hints.size());
  for (std::size_t i = 0; i < count; ++i) {
    hints[i] = make_hint(found[i].queue_id, found[i].partition_no);
  }
  publish_hints(pool_, hints.data(), count);
  if (count > 0) {
    scout_interval_ns_ = kBusyInterval;
    // One is for the scout itself.
    if (count > 1) peer::wake(board_, static_cast<int>(count - 1));
  } else {
    scout_interval_ns_ = std::clamp(scout_interval_ns_ * 2, kFirstIdleInterval, kMostInterval);
  }
}

void Finder::watch() {
  const Nanos now = boot_ns();
  if (now < next_watch_ns_) return;
  const auto seen =
      session_.call([&](db::Connection& db) { return queue::LeaseStore::watch(db, queue_ids_); });
  const Nanos looked = boot_ns();
  if (watched_generation_ != session_.generation()) {
    // S4: after an outage all leases look unchanged; give their holders time to come back.
    watched_generation_ = session_.generation();
    watched_.clear();
    no_takeover_until_ns_ = looked + ttl_ns_ / 2;
  }
  std::map<queue::Partition, Watched> fresh;
  Nanos next = ttl_ns_ / 6;
  for (const queue::Sighting& sighting : seen) {
    Watched entry{sighting, looked};
    const auto old = watched_.find(sighting.partition);
    if (old != watched_.end() && old->second.sighting.epoch == sighting.epoch &&
        old->second.sighting.expire_at == sighting.expire_at) {
      entry.first_seen_ns = old->second.first_seen_ns;
    }
    // Look again when it would expire, so that a takeover is not late by a whole watch interval.
    next = std::min(next, static_cast<Nanos>(sighting.remaining.count()) * kMicro);
    fresh.emplace(sighting.partition, std::move(entry));
  }
  watched_ = std::move(fresh);
  next_watch_ns_ = looked + std::max(next, std::min(kMinWatch, ttl_ns_ / 6));
}

std::optional<queue::Block> Finder::take_over_one() {
  const Nanos now = boot_ns();
  if (now < no_takeover_until_ns_) return std::nullopt;
  for (auto at = watched_.begin(); at != watched_.end(); ++at) {
    const Watched& entry = at->second;
    const Nanos unchanged = now - entry.first_seen_ns;
    const bool stale = unchanged >= ttl_ns_ + kSecond || db::without("takeover_wait");
    if (!stale && !(entry.sighting.expired && unchanged >= ttl_ns_ / 2)) continue;
    const queue::Sighting sighting = entry.sighting;
    watched_.erase(at);
    const ServedQueue* queue = served(sighting.partition.queue_id);
    auto block = take(sighting.partition, *queue, [&](db::Connection& db) {
      return store_.take_over(db, sighting, stale, fetch_spec(*queue));
    });
    if (!block) return std::nullopt;
    slot_.raw().takeovers.fetch_add(1, std::memory_order_relaxed);
    log::warn("lease.takeover", {{"queue", queue->info.name},
                                 {"partition", sighting.partition.partition_no},
                                 {"from", sighting.holder},
                                 {"epoch", block->lease.epoch}});
    return block;
  }
  return std::nullopt;
}

void Finder::sleep(std::uint32_t seen_bell) {
  if (leaving()) return;
  const SlotWriter::Guard guard(slot_);
  const Nanos now = mono_ns();
  const Nanos next_scout = pool_.next_scout_ns.load();
  Nanos wait = next_scout > now ? next_scout - now : 0;
  const Nanos boot = boot_ns();
  if (!watched_.empty()) wait = std::min(wait, next_watch_ns_ > boot ? next_watch_ns_ - boot : 0);
  if (wait > 0) peer::wait_for_ring(board_, seen_bell, std::min(wait, kMostInterval));
}

}  // namespace allot::worker
