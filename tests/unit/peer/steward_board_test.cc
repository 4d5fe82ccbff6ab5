// SPDX-License-Identifier: Apache-2.0
// Messages from workers to the steward of their host.
#include "peer/steward_board.h"

#include <sys/wait.h>

#include <set>
#include <string>
#include <vector>

#include "unit/peer/board_fixture.h"

namespace allot::peer {
namespace {

using StewardBoardTest = BoardTest;

TEST_F(StewardBoardTest, AnUnknownTaskIsTakenOnce) {
  note_unknown(*board_, {4'000'000'000U, 65'535, 3, 1ULL << 63U}, "mail.send");
  const auto tasks = take_unknown(*board_);
  ASSERT_EQ(tasks.size(), 1U);
  EXPECT_EQ(tasks[0].queue_id, 4'000'000'000U);
  EXPECT_EQ(tasks[0].partition_no, 65'535U);
  EXPECT_EQ(tasks[0].prio, 3U);
  EXPECT_EQ(tasks[0].first_key, 1ULL << 63U);
  EXPECT_TRUE(take_unknown(*board_).empty());
}

TEST_F(StewardBoardTest, OldestOfATypeInAQueueIsKept) {
  note_unknown(*board_, {7, 1, 1, 20}, "mail.send");
  note_unknown(*board_, {7, 2, 1, 10}, "mail.send");
  note_unknown(*board_, {7, 3, 1, 30}, "mail.send");
  note_unknown(*board_, {8, 4, 1, 5}, "mail.send");
  note_unknown(*board_, {7, 5, 1, 6}, "mail.other");
  std::set<std::uint64_t> keys;
  for (const UnknownTask& task : take_unknown(*board_)) {
    keys.insert(task.first_key);
    EXPECT_TRUE(task.first_key != 10 || task.partition_no == 2);
  }
  EXPECT_EQ(keys, (std::set<std::uint64_t>{5, 6, 10}));
}

TEST_F(StewardBoardTest, MoreTypesThanPlacesHarmNothing) {
  for (std::uint64_t i = 1; i <= 1'000; ++i) {
    note_unknown(*board_, {7, 0, 1, i}, "type." + std::to_string(i));
  }
  const auto tasks = take_unknown(*board_);
  EXPECT_GE(tasks.size(), 100U);
  EXPECT_LT(tasks.size(), 1'000U);
  EXPECT_TRUE(take_unknown(*board_).empty());
  note_unknown(*board_, {7, 0, 1, 9}, "type.1");
  EXPECT_EQ(take_unknown(*board_).size(), 1U) << "there is room again";
}

// It belongs to no pool: it is not rung for a queue.
TEST_F(StewardBoardTest, ItIsOfNoPool) {
  Ringer(*board_).ring({{kAnyQueue, 1}});
  EXPECT_EQ(board_->steward.bell.rings.load(), 0U);
  EXPECT_NE(pool().bell.rings.load(), 0U);
}

TEST_F(StewardBoardTest, WorkersMaySayItAllAtOnce) {
  std::vector<pid_t> children;
  for (int child = 0; child < 4; ++child) {
    children.push_back(fork());
    if (children.back() != 0) continue;
    for (std::uint64_t i = 500; i > 0; --i) {
      note_unknown(*board_, {7, 0, 1, i}, "type." + std::to_string(i % 20));
    }
    _exit(0);
  }
  for (const pid_t child : children) waitpid(child, nullptr, 0);
  const auto tasks = take_unknown(*board_);
  EXPECT_EQ(tasks.size(), 20U);
  for (const UnknownTask& task : tasks) EXPECT_LE(task.first_key, 500U);
}

}  // namespace
}  // namespace allot::peer
