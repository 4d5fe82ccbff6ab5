// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "worker/block/block.h"

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

class RunningTasksTest : public testing::Test {
 protected:
  void start(std::initializer_list<std::uint64_t> keys) {
    for (const std::uint64_t key : keys) running_.started({1, key});
  }
  void collect(std::initializer_list<std::uint64_t> keys) {
    for (const std::uint64_t key : keys) running_.collected({1, key});
  }
  // The ones that are different.
  std::vector<std::uint64_t> others(std::initializer_list<std::uint64_t> fetched,
                                    std::size_t most = 10) {
    auto met = tasks(fetched);
    running_.keep_others(met, most);
    return keys_of(met);
  }
  using Keys = std::vector<std::uint64_t>;

  RunningTasks running_;
};

TEST_F(RunningTasksTest, AFetchMeetsThemAgain) {
  start({3, 1, 2});
  EXPECT_EQ(others({1, 2, 3, 4, 5}), (Keys{4, 5}));
  start({4, 5});
  EXPECT_EQ(others({1, 2, 3, 4, 5, 6}), (Keys{6})) << "keys of all earlier blocks";
}

TEST_F(RunningTasksTest, CollectedTaskMayReturn) {
  start({1, 2, 3});
  collect({3, 2});
  EXPECT_EQ(others({1, 2, 4}), (Keys{2, 4}));
}

TEST_F(RunningTasksTest, EndOfAnEarlierLeaseChangesNothing) {
  collect({1});
  start({2});
  collect({1, 3});
  EXPECT_EQ(running_.size(), 1U);
  EXPECT_EQ(others({1, 2}), (Keys{1}));
}

TEST_F(RunningTasksTest, ReturnedTaskThatRunsAgainIsInHand) {
  start({1, 2});
  collect({2});
  start({2});
  EXPECT_EQ(others({1, 2, 3}), (Keys{3}));
  collect({2});
  EXPECT_EQ(others({1, 2, 3}), (Keys{2, 3}));
}

TEST_F(RunningTasksTest, TogetherTheyAreNoMoreThanABlock) {
  start({1, 2, 3});
  EXPECT_EQ(others({1, 4, 5, 6, 7}, 5), (Keys{4, 5}));
  EXPECT_EQ(others({8}, 2), (Keys{})) << "already more than that";
}

TEST_F(RunningTasksTest, TheKeyOfAnotherClassIsAnotherTask) {
  start({1});
  auto met = tasks({1});
  met.front().key.prio = 2;
  running_.keep_others(met, 10);
  EXPECT_EQ(met.size(), 1U);
}

TEST_F(RunningTasksTest, NothingIsLeftOfABlockThatHasEnded) {
  start({1, 2});
  collect({2, 1});
  EXPECT_EQ(running_.size(), 0U);
  EXPECT_EQ(others({1, 2}, 1), (Keys{1, 2})) << "a block as it was fetched";
}

TEST_F(RunningTasksTest, ItTellsWhatItIs) {
  start({3, 1, 2});
  collect({1});
  EXPECT_EQ(running_.size(), 2U);
  Keys keys;
  for (const queue::TaskKey& key : running_.keys()) keys.push_back(key.run_key);
  EXPECT_EQ(keys, (Keys{2, 3}));
  auto met = tasks({2, 4});
  EXPECT_EQ(running_.keep_others(met, 10), 1U) << "of those that were fetched";
}

}  // namespace
}  // namespace allot::worker
