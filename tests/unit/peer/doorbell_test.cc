// SPDX-License-Identifier: Apache-2.0
// Rule: S24.
#include "peer/doorbell.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>
#include <vector>

#include "base/clock.h"
#include "unit/peer/board_fixture.h"

namespace allot::peer {
namespace {

TEST_F(BoardTest, OnlyABoardOfThisVersionIsMapped) {
  const auto trouble = [](const UniqueFd& file) {
    const char* words = trouble_with_board(file.get());
    return std::string(words == nullptr ? "" : words);
  };
  EXPECT_NE(board_, nullptr);
  EXPECT_EQ(trouble(file_), "");
  ++board_->version;
  EXPECT_EQ(map_board(file_.get()), nullptr);
  EXPECT_EQ(trouble(file_).rfind("from another version of Allot; ", 0), 0U) << trouble(file_);
  --board_->version;
  board_->magic[0] = 'x';
  EXPECT_EQ(map_board(file_.get()), nullptr);
  EXPECT_EQ(trouble(file_), "") << "no board";
  std::memcpy(board_->magic, "allotbrd", sizeof board_->magic);
  EXPECT_EQ(map_board(file_.get()), nullptr);
  EXPECT_EQ(trouble(file_), "from a pre-release Allot; stop that allotd and start this one");
  const UniqueFd small(memfd_create("short", MFD_CLOEXEC));
  EXPECT_EQ(map_board(small.get()), nullptr);
  EXPECT_EQ(trouble(small), "");
}

TEST_F(BoardTest, ARingWakesAnotherProcessLongBeforeItsTimeout) {
  const std::uint32_t seen = pool().bell.rings.load();
  const pid_t child = fork();
  if (child == 0) {
    const Nanos began = mono_ns();
    wait_for_ring(pool().bell, seen, 60 * kSecond);
    _exit(mono_ns() - began < 30 * kSecond ? 0 : 1);
  }
  // The test does not wait for the child to sleep, because a ring before that must not be lost
  // either.
  Ringer(*board_).ring({{kQueue, 1}});
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

// Two processes pass a number back and forth, and each rings once per turn. If one wake-up is lost,
// a process sleeps until its timeout, and the whole takes longer than the test allows.
TEST_F(BoardTest, NoRingIsLost) {
  constexpr std::uint64_t kTurns = 5000;
  std::atomic<std::uint64_t>& turn = board_->pools[0].next_scout_ns;
  const auto play = [&](std::uint64_t mine) {
    for (std::uint64_t i = mine; i < kTurns; i += 2) {
      for (;;) {
        const std::uint32_t seen = pool().bell.rings.load();
        if (turn.load() == i) break;
        wait_for_ring(pool().bell, seen, 60 * kSecond);
      }
      turn.store(i + 1);
      wake(pool().bell, 1);
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
  EXPECT_EQ(pool().bell.waiters, 0U);
}

// With one bell for all, it might wake only a waiter that does not serve the queue.
TEST_F(BoardTest, ARingIsForThePoolsThatServeTheQueue) {
  ipc::PoolBoard& other = board_->pools[1];
  ipc::PoolBoard& both = board_->pools[2];
  const std::array<std::uint32_t, 2> queues{kQueue, kQueue + 1};
  serve(other, std::span(queues).last(1));
  serve(both, queues);
  for (ipc::PoolBoard& pool : board_->pools) pool.next_scout_ns = 99;
  const auto rung = [&] {
    std::vector<std::uint32_t> bells;
    for (int i = 0; i < 4; ++i) {
      EXPECT_EQ(board_->pools[i].next_scout_ns == 0, board_->pools[i].bell.rings > 0);
      bells.push_back(board_->pools[i].bell.rings);
    }
    return bells;
  };
  Ringer(*board_).ring({{kQueue, 1}});
  EXPECT_EQ(rung(), (std::vector<std::uint32_t>{1, 0, 1, 0}));
  Ringer(*board_).ring({{kQueue + 1, 1}});
  EXPECT_EQ(rung(), (std::vector<std::uint32_t>{1, 1, 2, 0}));
  Ringer(*board_).ring({{kQueue + 2, 1}});
  EXPECT_EQ(rung(), (std::vector<std::uint32_t>{1, 1, 2, 0})) << "no pool serves it";
  Ringer(*board_).ring({{kAnyQueue, 1}});
  EXPECT_EQ(rung(), (std::vector<std::uint32_t>{2, 2, 3, 0}));
  serve(pool(), {});
  Ringer(*board_).ring({{kQueue, 1}});
  EXPECT_EQ(rung(), (std::vector<std::uint32_t>{2, 2, 4, 0})) << "not any more";
}

TEST_F(BoardTest, AWaitEndsWithItsTimeoutOrAtOnceWhenTheBellRangBefore) {
  const Nanos began = mono_ns();
  wait_for_ring(pool().bell, pool().bell.rings.load(), 20 * kMilli);
  EXPECT_GE(mono_ns() - began, 20 * kMilli);
  const std::uint32_t seen = pool().bell.rings.load();
  Ringer(*board_).ring({{kQueue, 1}});
  wait_for_ring(pool().bell, seen, 60 * kSecond);
  EXPECT_LT(mono_ns() - began, 30 * kSecond);
}

}  // namespace
}  // namespace allot::peer
