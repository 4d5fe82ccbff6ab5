// SPDX-License-Identifier: Apache-2.0
#include "worker/lease/hints.h"

#include <algorithm>
#include <utility>

#include "peer/doorbell.h"

namespace allot::worker {

ipc::Hint take_urgent(ipc::PoolBoard& pool) {
  if (pool.urgent_count.load(std::memory_order_relaxed) == 0) return 0;
  for (auto& urgent : pool.urgent) {
    const ipc::Hint hint = urgent.exchange(0);
    if (hint == 0) continue;
    pool.urgent_count.fetch_sub(1);
    return hint;
  }
  return 0;
}

ipc::Hint take_hint(ipc::PoolBoard& pool) {
  if (const ipc::Hint urgent = take_urgent(pool); urgent != 0) return urgent;
  const std::uint32_t count = std::min<std::uint32_t>(pool.hint_count.load(), ipc::kMaxHints);
  if (pool.hint_next.load() >= count) return 0;
  const std::uint32_t at = pool.hint_next.fetch_add(1);
  return at < count ? pool.hints[at].exchange(0) : 0;
}

namespace {

struct HintPlace {
  std::size_t at = 0;
  ipc::Hint hint = 0;  // 0: there is none
};

// The oldest hint of the first of these queues that has one.
HintPlace find_hint(const ipc::PoolBoard& pool, std::span<const std::uint32_t> queue_ids) {
  const std::size_t count = std::min<std::size_t>(pool.hint_count.load(), ipc::kMaxHints);
  HintPlace best;
  for (std::size_t at = 0; at < count && !queue_ids.empty(); ++at) {
    const ipc::Hint hint = pool.hints[at].load();
    const auto found = std::find(queue_ids.begin(), queue_ids.end(), hint_queue(hint));
    if (hint == 0 || found == queue_ids.end()) continue;
    best = {at, hint};
    // Only a hint of an earlier queue is better.
    queue_ids = queue_ids.first(static_cast<std::size_t>(found - queue_ids.begin()));
  }
  return best;
}

}  // namespace

ipc::Hint take_hint_of(ipc::PoolBoard& pool, std::span<const std::uint32_t> queue_ids) {
  for (;;) {
    HintPlace place = find_hint(pool, queue_ids);
    if (place.hint == 0) return 0;
    // Another worker may take it first, or a scout may have replaced it.
    if (pool.hints[place.at].compare_exchange_strong(place.hint, 0)) return place.hint;
  }
}

std::uint32_t hinted_queue(const ipc::PoolBoard& pool, std::span<const std::uint32_t> queue_ids) {
  return hint_queue(find_hint(pool, queue_ids).hint);
}

void add_hints(ipc::PoolBoard& pool, std::span<const ipc::Hint> hints) {
  std::size_t at = 0;
  for (const ipc::Hint hint : hints) {
    for (;; ++at) {
      std::uint32_t count = pool.hint_count.load();
      if (at >= ipc::kMaxHints) return;
      if (at < count) {
        ipc::Hint none = 0;
        if (pool.hints[at].compare_exchange_strong(none, hint)) break;
        continue;
      }
      // Hints of earlier scouts are after the last one.
      pool.hints[count].store(hint);
      if (pool.hint_count.compare_exchange_strong(count, count + 1)) break;
    }
    ++at;
  }
}

void publish_hints(ipc::PoolBoard& pool, const ipc::Hint* hints, std::size_t count) {
  count = std::min(count, ipc::kMaxHints);
  pool.hint_count.store(0);
  for (std::size_t i = 0; i < count; ++i) pool.hints[i].store(hints[i]);
  pool.hint_next.store(0);
  pool.hint_count.store(static_cast<std::uint32_t>(count));
}

void push_urgent(ipc::PoolBoard& pool, ipc::Hint hint) {
  for (auto& urgent : pool.urgent) {
    ipc::Hint none = 0;
    if (!urgent.compare_exchange_strong(none, hint)) continue;
    pool.urgent_count.fetch_add(1);
    return;
  }
}

bool become_scout(ipc::PoolBoard& pool, std::uint64_t now_ns, std::uint64_t interval_ns) {
  std::uint64_t next = pool.next_scout_ns.load();
  if (now_ns < next) return false;
  return pool.next_scout_ns.compare_exchange_strong(next, now_ns + interval_ns);
}

bool stand_by(ipc::PoolBoard& pool, std::uint64_t now_ns, std::uint64_t& until_ns) {
  const std::uint64_t next = std::max(pool.next_scout_ns.load(), now_ns);
  std::uint64_t until = pool.standby_until_ns.load();
  // The stand-by of another worker does not help if the next poll was moved to an earlier time.
  if (until > now_ns && until <= next) return until == until_ns;
  if (!pool.standby_until_ns.compare_exchange_strong(until, next)) return false;
  until_ns = next;
  return true;
}

bool stand_down(ipc::PoolBoard& pool, std::uint64_t& until_ns) {
  std::uint64_t until = std::exchange(until_ns, 0);
  if (until == 0 || !pool.standby_until_ns.compare_exchange_strong(until, 0)) return false;
  peer::wake(pool.bell, 1);
  return true;
}

void poll_by(ipc::PoolBoard& pool, std::uint64_t when_ns) {
  std::uint64_t next = pool.next_scout_ns.load();
  while (next > when_ns && !pool.next_scout_ns.compare_exchange_weak(next, when_ns)) {
  }
}

}  // namespace allot::worker
