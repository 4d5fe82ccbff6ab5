// SPDX-License-Identifier: Apache-2.0
#include "peer/doorbell.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <iterator>

#include "base/unique_fd.h"
#include "peer/lock_bell.h"
#include "peer/shared_file.h"
#include "peer/slot_file.h"

namespace allot::peer {
namespace {

constexpr std::uint32_t kWordBits = 64;
constexpr char kPreReleaseMagic[8] = {'a', 'l', 'l', 'o', 't', 'b', 'r', 'd'};

bool has_magic(const char (&magic)[8], const char (&wanted)[8]) {
  return std::memcmp(magic, wanted, sizeof magic) == 0;
}

std::size_t word_of(std::uint32_t queue_id) {
  return queue_id / kWordBits % ipc::kQueueWords;
}

std::uint64_t bit_of(std::uint32_t queue_id) {
  return std::uint64_t{1} << (queue_id % kWordBits);
}

// An unused place of the board serves no queue.
bool serves(const ipc::PoolBoard& pool, std::uint32_t queue_id) {
  if (queue_id != kAnyQueue) return (pool.queues[word_of(queue_id)] & bit_of(queue_id)) != 0;
  return std::any_of(std::begin(pool.queues), std::end(pool.queues),
                     [](const auto& word) { return word.load() != 0; });
}

void ring_as(std::uint64_t how, ipc::Board& board, const Ringer::Tasks& tasks) {
  for (const auto& [queue_id, count] : tasks) {
    for (ipc::PoolBoard& pool : board.pools) {
      if (!serves(pool, queue_id)) continue;
      pool.next_scout_ns.store(how, std::memory_order_relaxed);
      wake(pool.bell, count);
    }
  }
}

}  // namespace

ipc::Board* map_board(int fd) {
  auto* board = static_cast<ipc::Board*>(map_present(fd, 0, sizeof(ipc::Board)));
  if (board == nullptr) return nullptr;
  if (has_magic(board->magic, ipc::kBoardMagic) && board->version == ipc::kBoardVersion)
    return board;
  munmap(board, sizeof(ipc::Board));
  return nullptr;
}

const char* trouble_with_board(int fd) {
  struct {
    char magic[sizeof ipc::kBoardMagic];
    std::uint32_t version;
  } head = {};
  static_assert(offsetof(ipc::Board, version) == sizeof head.magic);
  if (pread(fd, &head, sizeof head, 0) != static_cast<ssize_t>(sizeof head)) return nullptr;
  if (has_magic(head.magic, kPreReleaseMagic)) return kPreRelease;
  if (!has_magic(head.magic, ipc::kBoardMagic) || head.version == ipc::kBoardVersion)
    return nullptr;
  return kOtherVersion;
}

void serve(ipc::PoolBoard& pool, std::span<const std::uint32_t> queue_ids) {
  std::uint64_t words[ipc::kQueueWords] = {};
  for (const std::uint32_t id : queue_ids) words[word_of(id)] |= bit_of(id);
  for (std::size_t i = 0; i < ipc::kQueueWords; ++i) pool.queues[i].store(words[i]);
}

bool waits_for(const ipc::Board& board, std::uint32_t queue_id) {
  return std::any_of(std::begin(board.pools), std::end(board.pools), [&](const auto& pool) {
    return pool.bell.waiters.load(std::memory_order_relaxed) > 0 && serves(pool, queue_id);
  });
}

template <typename Use>
void Ringer::with_board(Use&& use) const {
  if (board_ != nullptr) return use(*board_);
  const UniqueFd folder(open(runtime_dir_.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder.valid()) return;
  const UniqueFd file(openat(folder.get(), "board", O_RDWR | O_NOFOLLOW | O_CLOEXEC));
  ipc::Board* board = file.valid() ? map_board(file.get()) : nullptr;
  if (board == nullptr) return;
  use(*board);
  munmap(board, sizeof(ipc::Board));
}

void Ringer::ring(const Tasks& tasks) const {
  if (tasks.empty()) return;
  with_board([&](ipc::Board& board) { ring_as(0, board, tasks); });
}

void Ringer::announce(const Tasks& tasks) const {
  with_board([&](ipc::Board& board) { ring_as(kAnnounced, board, tasks); });
}

void Ringer::ring_steward() const {
  with_board([](ipc::Board& board) { wake(board.steward.bell, 1); });
}

void Ringer::ring_lock(const std::string& name) const {
  LockBell(runtime_dir_, name).ring();
}

void wake(ipc::Bell& bell, std::size_t count) {
  bell.rings.fetch_add(1, std::memory_order_seq_cst);
  if (bell.waiters.load(std::memory_order_seq_cst) == 0) return;
  syscall(SYS_futex, &bell.rings, FUTEX_WAKE, std::min<std::size_t>(count, INT_MAX));
}

void wait_for_ring(ipc::Bell& bell, std::uint32_t seen, Nanos timeout) {
  const timespec time{static_cast<time_t>(timeout / kSecond), static_cast<long>(timeout % kSecond)};
  bell.waiters.fetch_add(1, std::memory_order_seq_cst);
  syscall(SYS_futex, &bell.rings, FUTEX_WAIT, seen, &time);
  bell.waiters.fetch_sub(1, std::memory_order_seq_cst);
}

}  // namespace allot::peer
