// SPDX-License-Identifier: Apache-2.0
// Rule: S13.
#include "worker/lease/hints.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>
#include <thread>
#include <vector>

#include "peer/doorbell.h"
#include "unit/peer/board_fixture.h"

namespace allot::worker {
namespace {

using HintsTest = peer::BoardTest;

TEST_F(HintsTest, EachHintIsHandedToOneProcess) {
  ipc::PoolBoard& pool = board_->pools[0];
  std::vector<ipc::Hint> hints;
  for (std::uint32_t i = 1; i <= ipc::kMaxHints; ++i) hints.push_back(make_hint(7, i));
  publish_hints(pool, hints.data(), hints.size());
  // Each process reports what it took by a count at its own place in another pool's part of the
  // board.
  ipc::PoolBoard& taken = board_->pools[1];
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    children.push_back(fork());
    if (children.back() != 0) continue;
    while (const ipc::Hint hint = take_hint(pool))
      taken.hints[hint_partition(hint) - 1].fetch_add(1);
    _exit(0);
  }
  for (const pid_t child : children) waitpid(child, nullptr, 0);
  for (std::size_t i = 0; i < ipc::kMaxHints; ++i) EXPECT_EQ(taken.hints[i], 1U) << i;
}

TEST_F(HintsTest, MoreHintsThanPlacesAreCutToThePlaces) {
  const std::vector<ipc::Hint> hints(ipc::kMaxHints + 10, make_hint(1, 1));
  publish_hints(board_->pools[0], hints.data(), hints.size());
  std::size_t count = 0;
  while (take_hint(board_->pools[0]) != 0) ++count;
  EXPECT_EQ(count, ipc::kMaxHints);
}

TEST_F(HintsTest, ARingLetsTheNextScoutGo) {
  ipc::PoolBoard& pool = board_->pools[0];
  ASSERT_TRUE(become_scout(pool, 1000, 500));
  EXPECT_FALSE(become_scout(pool, 1400, 500));
  peer::Ringer(*board_).ring({{kQueue, 1}});
  EXPECT_TRUE(become_scout(pool, 1400, 500));
  peer::wake(pool.bell, 1);
  EXPECT_FALSE(become_scout(pool, 1800, 500)) << "waking alone starts no scout";
}

// A found task suggests more: the next poll comes before a whole idle interval has passed.
TEST_F(HintsTest, TheNextLookCanBeBroughtForward) {
  ipc::PoolBoard& pool = board_->pools[0];
  ASSERT_TRUE(become_scout(pool, 1000, 500));
  poll_by(pool, 1200);
  EXPECT_FALSE(become_scout(pool, 1199, 500));
  EXPECT_TRUE(become_scout(pool, 1200, 100));
  poll_by(pool, 9000);
  EXPECT_TRUE(become_scout(pool, 1300, 500)) << "never put off";
}

// S77: of hundreds of idle workers, one wakes for the next poll.
TEST_F(HintsTest, OneStandsByForTheNextLook) {
  ipc::PoolBoard& pool = board_->pools[0];
  std::uint64_t one = 0;
  std::uint64_t other = 0;
  ASSERT_TRUE(become_scout(pool, 1000, 500));
  EXPECT_TRUE(stand_by(pool, 1100, one));
  EXPECT_FALSE(stand_by(pool, 1200, other));
  EXPECT_TRUE(stand_by(pool, 1300, one)) << "woken in between it stays the one";
  EXPECT_TRUE(stand_by(pool, 1501, other)) << "it did not come";
  ASSERT_TRUE(become_scout(pool, 1501, 500));
  EXPECT_TRUE(stand_by(pool, 1600, one));
  poll_by(pool, 1700);
  EXPECT_TRUE(stand_by(pool, 1650, other)) << "the first one sleeps for too long";
  EXPECT_FALSE(stand_by(pool, 1660, one));
}

TEST_F(HintsTest, OneThatFindsOtherWorkGivesItsPlaceToAnother) {
  ipc::PoolBoard& pool = board_->pools[0];
  std::uint64_t one = 0;
  std::uint64_t other = 0;
  ASSERT_TRUE(become_scout(pool, 1000, 500));
  ASSERT_TRUE(stand_by(pool, 1100, one));
  EXPECT_FALSE(stand_down(pool, other)) << "it is not on standby";
  const std::uint32_t bell = pool.bell.rings.load();
  EXPECT_TRUE(stand_down(pool, one));
  EXPECT_NE(pool.bell.rings.load(), bell);
  EXPECT_TRUE(stand_by(pool, 1200, other));
  EXPECT_FALSE(stand_down(pool, one)) << "only once";
}

TEST_F(HintsTest, OneScoutAtATime) {
  std::atomic<int> scouts{0};
  std::vector<std::thread> threads;
  threads.reserve(8);
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] { scouts += become_scout(board_->pools[0], 1000, 500) ? 1 : 0; });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(scouts, 1);
}

TEST_F(HintsTest, EachHintIsHandedOutOnce) {
  constexpr std::size_t kCount = 400;
  std::vector<ipc::Hint> hints;
  for (std::uint32_t i = 1; i <= kCount; ++i) hints.push_back(make_hint(7, i));
  publish_hints(board_->pools[0], hints.data(), hints.size());
  std::vector<std::vector<ipc::Hint>> taken(4);
  std::vector<std::thread> threads;
  for (auto& mine : taken) {
    threads.emplace_back([&] {
      while (const ipc::Hint hint = take_hint(board_->pools[0])) mine.push_back(hint);
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::multiset<ipc::Hint> all;
  for (const auto& mine : taken) all.insert(mine.begin(), mine.end());
  EXPECT_EQ(all, std::multiset<ipc::Hint>(hints.begin(), hints.end()));
  EXPECT_EQ(take_hint(board_->pools[0]), 0U);
}

TEST_F(HintsTest, TheFirstQueueThatHasAHintIsTaken) {
  ipc::PoolBoard& pool = board_->pools[0];
  const std::vector<ipc::Hint> hints{make_hint(2, 1), make_hint(3, 1), make_hint(2, 2),
                                     make_hint(1, 1), make_hint(9, 1)};
  publish_hints(pool, hints.data(), hints.size());
  const std::vector<std::uint32_t> order{1, 2};
  EXPECT_EQ(hinted_queue(pool, order), 1U);
  EXPECT_EQ(take_hint_of(pool, order), make_hint(1, 1));
  EXPECT_EQ(hinted_queue(pool, order), 2U);
  EXPECT_EQ(take_hint_of(pool, order), make_hint(2, 1)) << "the oldest of them";
  EXPECT_EQ(take_hint_of(pool, order), make_hint(2, 2));
  EXPECT_EQ(hinted_queue(pool, order), 0U) << "others are not ours";
  EXPECT_EQ(take_hint_of(pool, order), 0U);
  EXPECT_EQ(take_hint_of(pool, {}), 0U);
}

TEST_F(HintsTest, HintsAreAddedAsFarAsThereIsRoom) {
  ipc::PoolBoard& pool = board_->pools[0];
  std::vector<ipc::Hint> hints;
  for (std::uint32_t i = 1; i < ipc::kMaxHints; ++i) hints.push_back(make_hint(1, i));
  publish_hints(pool, hints.data(), hints.size());
  const std::vector<std::uint32_t> first{1};
  ASSERT_EQ(take_hint_of(pool, first), make_hint(1, 1));
  const std::vector<ipc::Hint> more{make_hint(2, 1), make_hint(2, 2), make_hint(2, 3)};
  add_hints(pool, more);
  const std::vector<std::uint32_t> order{2, 1};
  EXPECT_EQ(take_hint_of(pool, order), make_hint(2, 1));
  EXPECT_EQ(take_hint_of(pool, order), make_hint(2, 2)) << "behind the last one";
  EXPECT_EQ(take_hint_of(pool, order), make_hint(1, 2)) << "there was room for two";
}

TEST_F(HintsTest, AHintOfAQueueIsHandedOutOnce) {
  constexpr std::uint32_t kCount = 400;
  std::vector<ipc::Hint> hints;
  for (std::uint32_t i = 1; i <= kCount; ++i) hints.push_back(make_hint(1 + i % 2, i));
  publish_hints(board_->pools[0], hints.data(), hints.size());
  const std::vector<std::uint32_t> order{2, 1};
  std::vector<std::vector<ipc::Hint>> taken(4);
  std::vector<std::thread> threads;
  for (auto& mine : taken) {
    threads.emplace_back([&] {
      while (const ipc::Hint hint = take_hint_of(board_->pools[0], order)) mine.push_back(hint);
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::multiset<ipc::Hint> all;
  for (const auto& mine : taken) all.insert(mine.begin(), mine.end());
  EXPECT_EQ(all, std::multiset<ipc::Hint>(hints.begin(), hints.end()));
}

TEST_F(HintsTest, UrgentHintsComeFirstAndOnlyOnce) {
  ipc::PoolBoard& pool = board_->pools[3];
  const ipc::Hint plain = make_hint(1, 1);
  publish_hints(pool, &plain, 1);
  EXPECT_EQ(take_urgent(pool), 0U);
  push_urgent(pool, make_hint(1, 9));
  EXPECT_EQ(take_hint(pool), make_hint(1, 9));
  EXPECT_EQ(take_urgent(pool), 0U);
  EXPECT_EQ(take_hint(pool), plain);
}

TEST_F(HintsTest, MoreUrgentHintsThanPlacesAreDropped) {
  ipc::PoolBoard& pool = board_->pools[0];
  for (std::uint32_t i = 1; i <= ipc::kMaxUrgent + 3; ++i) push_urgent(pool, make_hint(1, i));
  std::size_t taken = 0;
  while (take_urgent(pool) != 0) ++taken;
  EXPECT_EQ(taken, ipc::kMaxUrgent);
}

TEST(HintTest, HoldsQueueAndPartition) {
  const ipc::Hint hint = make_hint(0xfffffffe, 0xffff);
  EXPECT_EQ(hint_queue(hint), 0xfffffffeU);
  EXPECT_EQ(hint_partition(hint), 0xffffU);
}

}  // namespace
}  // namespace allot::worker
