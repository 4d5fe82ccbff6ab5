// SPDX-License-Identifier: Apache-2.0
#include "ipc/board.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/unique_fd.h"

namespace allot::ipc {
namespace {

// A board in memory that is shared with forked processes, as the real one is.
class BoardTest : public testing::Test {
 protected:
  BoardTest() : file_(memfd_create("board", MFD_CLOEXEC)) {
    EXPECT_EQ(ftruncate(file_.get(), sizeof(Board)), 0);
    Board blank{};
    std::memcpy(blank.magic, kBoardMagic, sizeof blank.magic);
    blank.version = kBoardVersion;
    EXPECT_EQ(pwrite(file_.get(), &blank, sizeof blank, 0), static_cast<ssize_t>(sizeof blank));
    board_ = map_board(file_.get());
  }
  BoardTest(const BoardTest&) = delete;
  BoardTest& operator=(const BoardTest&) = delete;
  ~BoardTest() override { munmap(board_, sizeof(Board)); }

  UniqueFd file_;
  Board* board_ = nullptr;
};

TEST_F(BoardTest, OnlyABoardOfThisVersionIsMapped) {
  EXPECT_NE(board_, nullptr);
  ++board_->version;
  EXPECT_EQ(map_board(file_.get()), nullptr);
  --board_->version;
  board_->magic[0] = 'x';
  EXPECT_EQ(map_board(file_.get()), nullptr);
  const UniqueFd small(memfd_create("short", MFD_CLOEXEC));
  EXPECT_EQ(map_board(small.get()), nullptr);
}

TEST_F(BoardTest, ARingWakesAnotherProcessLongBeforeItsTimeout) {
  const std::uint32_t seen = board_->bell.load();
  const pid_t child = fork();
  if (child == 0) {
    const Nanos began = mono_ns();
    wait_for_ring(*board_, seen, 60 * kSecond);
    _exit(mono_ns() - began < 30 * kSecond ? 0 : 1);
  }
  // No wait for the child to sleep: a ring before it sleeps must not be slept over either.
  ring(*board_, 1);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

// Two processes hand a number to and fro, each ringing once a turn. One lost wake-up and somebody
// sleeps its timeout, so the whole takes longer than the test allows.
TEST_F(BoardTest, NoRingIsLost) {
  constexpr std::uint64_t kTurns = 5000;
  std::atomic<std::uint64_t>& turn = board_->pools[0].next_scout_ns;
  const auto play = [&](std::uint64_t mine) {
    for (std::uint64_t i = mine; i < kTurns; i += 2) {
      for (;;) {
        const std::uint32_t seen = board_->bell.load();
        if (turn.load() == i) break;
        wait_for_ring(*board_, seen, 60 * kSecond);
      }
      turn.store(i + 1);
      wake(*board_, 1);
    }
  };
  const Nanos began = mono_ns();
  const pid_t child = fork();
  if (child == 0) {
    play(1);
    _exit(0);
  }
  play(0);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_LT(mono_ns() - began, 55 * kSecond);
  EXPECT_EQ(turn, kTurns);
  EXPECT_EQ(board_->waiters, 0U);
}

TEST_F(BoardTest, AWaitEndsWithItsTimeoutOrAtOnceWhenTheBellRangBefore) {
  const Nanos began = mono_ns();
  wait_for_ring(*board_, board_->bell.load(), 20 * kMilli);
  EXPECT_GE(mono_ns() - began, 20 * kMilli);
  const std::uint32_t seen = board_->bell.load();
  ring(*board_, 1);
  wait_for_ring(*board_, seen, 60 * kSecond);
  EXPECT_LT(mono_ns() - began, 30 * kSecond);
}

TEST_F(BoardTest, EachHintIsHandedToOneProcess) {
  PoolBoard& pool = board_->pools[0];
  std::vector<Hint> hints;
  for (std::uint32_t i = 1; i <= kMaxHints; ++i) hints.push_back(make_hint(7, i));
  publish_hints(pool, hints.data(), hints.size());
  // Each tells what it took by a count at a place of its own in another pool's part of the board.
  PoolBoard& taken = board_->pools[1];
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    children.push_back(fork());
    if (children.back() != 0) continue;
    while (const Hint hint = take_hint(pool)) taken.hints[hint_partition(hint) - 1].fetch_add(1);
    _exit(0);
  }
  for (const pid_t child : children) waitpid(child, nullptr, 0);
  for (std::size_t i = 0; i < kMaxHints; ++i) EXPECT_EQ(taken.hints[i], 1U) << i;
}

TEST_F(BoardTest, MoreHintsThanPlacesAreCutToThePlaces) {
  const std::vector<Hint> hints(kMaxHints + 10, make_hint(1, 1));
  publish_hints(board_->pools[0], hints.data(), hints.size());
  std::size_t count = 0;
  while (take_hint(board_->pools[0]) != 0) ++count;
  EXPECT_EQ(count, kMaxHints);
}

TEST_F(BoardTest, ARingLetsTheNextScoutGo) {
  PoolBoard& pool = board_->pools[0];
  ASSERT_TRUE(become_scout(pool, 1000, 500));
  EXPECT_FALSE(become_scout(pool, 1400, 500));
  ring(*board_, 1);
  EXPECT_TRUE(become_scout(pool, 1400, 500));
  wake(*board_, 1);
  EXPECT_FALSE(become_scout(pool, 1800, 500)) << "waking alone starts no scout";
}

TEST_F(BoardTest, OneScoutAtATime) {
  std::atomic<int> scouts{0};
  std::vector<std::thread> threads;
  threads.reserve(8);
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] { scouts += become_scout(board_->pools[0], 1000, 500) ? 1 : 0; });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(scouts, 1);
}

TEST_F(BoardTest, EachHintIsHandedOutOnce) {
  constexpr std::size_t kCount = 400;
  std::vector<Hint> hints;
  for (std::uint32_t i = 1; i <= kCount; ++i) hints.push_back(make_hint(7, i));
  publish_hints(board_->pools[0], hints.data(), hints.size());
  std::vector<std::vector<Hint>> taken(4);
  std::vector<std::thread> threads;
  for (auto& mine : taken) {
    threads.emplace_back([&] {
      while (const Hint hint = take_hint(board_->pools[0])) mine.push_back(hint);
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::multiset<Hint> all;
  for (const auto& mine : taken) all.insert(mine.begin(), mine.end());
  EXPECT_EQ(all, std::multiset<Hint>(hints.begin(), hints.end()));
  EXPECT_EQ(take_hint(board_->pools[0]), 0U);
}

TEST_F(BoardTest, UrgentHintsComeFirstAndOnlyOnce) {
  PoolBoard& pool = board_->pools[3];
  const Hint plain = make_hint(1, 1);
  publish_hints(pool, &plain, 1);
  EXPECT_EQ(take_urgent(pool), 0U);
  push_urgent(pool, make_hint(1, 9));
  EXPECT_EQ(take_hint(pool), make_hint(1, 9));
  EXPECT_EQ(take_urgent(pool), 0U);
  EXPECT_EQ(take_hint(pool), plain);
}

TEST_F(BoardTest, MoreUrgentHintsThanPlacesAreDropped) {
  PoolBoard& pool = board_->pools[0];
  for (std::uint32_t i = 1; i <= kMaxUrgent + 3; ++i) push_urgent(pool, make_hint(1, i));
  std::size_t taken = 0;
  while (take_urgent(pool) != 0) ++taken;
  EXPECT_EQ(taken, kMaxUrgent);
}

TEST(Hint, HoldsQueueAndPartition) {
  const Hint hint = make_hint(0xfffffffe, 0xffff);
  EXPECT_EQ(hint_queue(hint), 0xfffffffeU);
  EXPECT_EQ(hint_partition(hint), 0xffffU);
}

}  // namespace
}  // namespace allot::ipc
