// SPDX-License-Identifier: Apache-2.0
#include "ipc/board.h"

#include <linux/futex.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <ctime>

#include "base/clock.h"
#include "base/posix.h"

namespace allot::ipc {
namespace {

long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value,
           const timespec* timeout) {
  return syscall(SYS_futex, &word, operation, value, timeout, nullptr, 0);
}

}  // namespace

Board* map_board(int fd) {
  struct stat status {};
  if (fstat(fd, &status) != 0 || static_cast<std::size_t>(status.st_size) < sizeof(Board)) {
    return nullptr;
  }
  auto* board = static_cast<Board*>(map_shared(fd, 0, sizeof(Board), true));
  if (board == nullptr) return nullptr;
  const bool ours = std::memcmp(board->magic, kBoardMagic, sizeof kBoardMagic) == 0 &&
                    board->version == kBoardVersion;
  return ours ? board : nullptr;
}

void ring(Board& board, int count) {
  for (PoolBoard& pool : board.pools) pool.next_scout_ns.store(0, std::memory_order_relaxed);
  wake(board, count);
}

void wake(Board& board, int count) {
  board.bell.fetch_add(1, std::memory_order_seq_cst);
  if (board.waiters.load(std::memory_order_seq_cst) == 0) return;
  futex(board.bell, FUTEX_WAKE, static_cast<std::uint32_t>(count), nullptr);
}

void wait_for_ring(Board& board, std::uint32_t seen, std::uint64_t timeout_ns) {
  const timespec timeout{static_cast<time_t>(timeout_ns / kSecond),
                         static_cast<long>(timeout_ns % kSecond)};
  board.waiters.fetch_add(1, std::memory_order_seq_cst);
  futex(board.bell, FUTEX_WAIT, seen, &timeout);
  board.waiters.fetch_sub(1, std::memory_order_seq_cst);
}

Hint take_urgent(PoolBoard& pool) {
  if (pool.urgent_count.load(std::memory_order_relaxed) == 0) return 0;
  for (auto& urgent : pool.urgent) {
    const Hint hint = urgent.exchange(0);
    if (hint == 0) continue;
    pool.urgent_count.fetch_sub(1);
    return hint;
  }
  return 0;
}

Hint take_hint(PoolBoard& pool) {
  if (const Hint urgent = take_urgent(pool); urgent != 0) return urgent;
  const std::uint32_t count = std::min<std::uint32_t>(pool.hint_count.load(), kMaxHints);
  if (pool.hint_next.load() >= count) return 0;
  const std::uint32_t at = pool.hint_next.fetch_add(1);
  return at < count ? pool.hints[at].exchange(0) : 0;
}

void publish_hints(PoolBoard& pool, const Hint* hints, std::size_t count) {
  count = std::min(count, kMaxHints);
  pool.hint_count.store(0);
  for (std::size_t i = 0; i < count; ++i) pool.hints[i].store(hints[i]);
  pool.hint_next.store(0);
  pool.hint_count.store(static_cast<std::uint32_t>(count));
}

void push_urgent(PoolBoard& pool, Hint hint) {
  for (auto& urgent : pool.urgent) {
    Hint none = 0;
    if (!urgent.compare_exchange_strong(none, hint)) continue;
    pool.urgent_count.fetch_add(1);
    return;
  }
}

bool become_scout(PoolBoard& pool, std::uint64_t now_ns, std::uint64_t interval_ns) {
  std::uint64_t next = pool.next_scout_ns.load();
  if (now_ns < next) return false;
  return pool.next_scout_ns.compare_exchange_strong(next, now_ns + interval_ns);
}

}  // namespace allot::ipc
