// SPDX-License-Identifier: Apache-2.0
#include "worker/lease/hints.h"

#include <algorithm>

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

void look_again_by(ipc::PoolBoard& pool, std::uint64_t when_ns) {
  std::uint64_t next = pool.next_scout_ns.load();
  while (next > when_ns && !pool.next_scout_ns.compare_exchange_weak(next, when_ns)) {
  }
}

}  // namespace allot::worker
