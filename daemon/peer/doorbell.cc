// SPDX-License-Identifier: Apache-2.0
#include "peer/doorbell.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <cstring>
#include <ctime>

#include "base/clock.h"
#include "base/unique_fd.h"
#include "peer/shared_file.h"

namespace allot::peer {
namespace {

long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value,
           const timespec* timeout) {
  return syscall(SYS_futex, &word, operation, value, timeout, nullptr, 0);
}

}  // namespace

ipc::Board* map_board(int fd) {
  auto* board = static_cast<ipc::Board*>(map_present(fd, 0, sizeof(ipc::Board)));
  if (board == nullptr) return nullptr;
  const bool ours = std::memcmp(board->magic, ipc::kBoardMagic, sizeof ipc::kBoardMagic) == 0 &&
                    board->version == ipc::kBoardVersion;
  if (ours) return board;
  munmap(board, sizeof(ipc::Board));
  return nullptr;
}

void ring(ipc::Board& board, int count) {
  for (ipc::PoolBoard& pool : board.pools) pool.next_scout_ns.store(0, std::memory_order_relaxed);
  wake(board, count);
}

void ring_at(const char* runtime_dir, int count) {
  const UniqueFd folder(open(runtime_dir, O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder.valid()) return;
  const UniqueFd file(openat(folder.get(), "board", O_RDWR | O_CLOEXEC));
  ipc::Board* board = file.valid() ? map_board(file.get()) : nullptr;
  if (board == nullptr) return;
  ring(*board, count);
  munmap(board, sizeof(ipc::Board));
}

void wake(ipc::Board& board, int count) {
  board.bell.fetch_add(1, std::memory_order_seq_cst);
  if (board.waiters.load(std::memory_order_seq_cst) == 0) return;
  futex(board.bell, FUTEX_WAKE, static_cast<std::uint32_t>(count), nullptr);
}

void wait_for_ring(ipc::Board& board, std::uint32_t seen, std::uint64_t timeout_ns) {
  const timespec timeout{static_cast<time_t>(timeout_ns / kSecond),
                         static_cast<long>(timeout_ns % kSecond)};
  board.waiters.fetch_add(1, std::memory_order_seq_cst);
  futex(board.bell, FUTEX_WAIT, seen, &timeout);
  board.waiters.fetch_sub(1, std::memory_order_seq_cst);
}

}  // namespace allot::peer
