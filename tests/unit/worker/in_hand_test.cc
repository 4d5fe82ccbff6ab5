// SPDX-License-Identifier: Apache-2.0
#include "worker/block/in_hand.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <vector>

namespace allot::worker {
namespace {

std::vector<queue::Task> tasks(std::initializer_list<std::uint64_t> keys) {
  std::vector<queue::Task> made;
  for (const std::uint64_t key : keys) made.emplace_back().key = {1, key};
  return made;
}

std::vector<std::uint64_t> keys_of(const std::vector<queue::Task>& tasks) {
  std::vector<std::uint64_t> keys;
  for (const queue::Task& task : tasks) keys.push_back(task.key.run_key);
  return keys;
}

class InHandTest : public testing::Test {
 protected:
  void start(std::initializer_list<std::uint64_t> keys) {
    for (const std::uint64_t key : keys) in_hand_.started({1, key});
  }
  void collect(std::initializer_list<std::uint64_t> keys) {
    for (const std::uint64_t key : keys) in_hand_.collected({1, key});
  }
  // The ones that are different.
  std::vector<std::uint64_t> others(std::initializer_list<std::uint64_t> fetched,
                                    std::size_t most = 10) {
    auto met = tasks(fetched);
    in_hand_.keep_others(met, most);
    return keys_of(met);
  }
  using Keys = std::vector<std::uint64_t>;

  InHand in_hand_;
};

TEST_F(InHandTest, AFetchMeetsThemAgain) {
  start({3, 1, 2});
  EXPECT_EQ(others({1, 2, 3, 4, 5}), (Keys{4, 5}));
  start({4, 5});
  EXPECT_EQ(others({1, 2, 3, 4, 5, 6}), (Keys{6})) << "keys of all earlier blocks";
}

TEST_F(InHandTest, CollectedTaskMayReturn) {
  start({1, 2, 3});
  collect({3, 2});
  EXPECT_EQ(others({1, 2, 4}), (Keys{2, 4}));
}

TEST_F(InHandTest, ReturnedTaskThatRunsAgainIsInHand) {
  start({1, 2});
  collect({2});
  start({2});
  EXPECT_EQ(others({1, 2, 3}), (Keys{3}));
  collect({2});
  EXPECT_EQ(others({1, 2, 3}), (Keys{2, 3}));
}

TEST_F(InHandTest, TogetherTheyAreNoMoreThanABlock) {
  start({1, 2, 3});
  EXPECT_EQ(others({1, 4, 5, 6, 7}, 5), (Keys{4, 5}));
  EXPECT_EQ(others({8}, 2), (Keys{})) << "already more than that";
}

TEST_F(InHandTest, TheKeyOfAnotherClassIsAnotherTask) {
  start({1});
  auto met = tasks({1});
  met.front().key.prio = 2;
  in_hand_.keep_others(met, 10);
  EXPECT_EQ(met.size(), 1U);
}

TEST_F(InHandTest, NothingIsLeftOfABlockThatHasEnded) {
  start({1, 2});
  collect({2, 1});
  EXPECT_EQ(in_hand_.size(), 0U);
  EXPECT_EQ(others({1, 2}, 1), (Keys{1, 2})) << "a block as it was fetched";
}

TEST_F(InHandTest, ItTellsWhatItIs) {
  start({3, 1, 2});
  collect({1});
  EXPECT_EQ(in_hand_.size(), 2U);
  Keys keys;
  for (const queue::TaskKey& key : in_hand_.keys()) keys.push_back(key.run_key);
  EXPECT_EQ(keys, (Keys{2, 3}));
  auto met = tasks({2, 4});
  EXPECT_EQ(in_hand_.keep_others(met, 10), 1U) << "of those that were fetched";
}

}  // namespace
}  // namespace allot::worker
