// SPDX-License-Identifier: Apache-2.0
// Mappings without disk space: a file that only looks large enough kills its first writer by
// SIGBUS.
// Rule: S24.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "ipc/slot.h"
#include "peer/drain_budget.h"
#include "support/small_disk.h"
#include "unit/peer/board_fixture.h"

namespace allot::peer {
namespace {

using RoomTest = BoardTest;

TEST_F(RoomTest, ABoardThatLacksItIsNotMapped) {
  const support::SmallDisk disk(1U << 20U);
  if (!disk.trouble().empty()) GTEST_SKIP() << disk.trouble();
  const std::string path = disk / "board";
  const UniqueFd file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_EQ(pwrite(file.get(), board_, ipc::kPage, 0), static_cast<ssize_t>(ipc::kPage));
  ASSERT_EQ(ftruncate(file.get(), sizeof(ipc::Board)), 0);
  disk.leave(0);
  EXPECT_EQ(map_board(file.get()), nullptr);
  Ringer(disk / "").ring({{kQueue, 1}});
  disk.leave(sizeof(ipc::Board) + ipc::kPage);
  ipc::Board* board = map_board(file.get());
  ASSERT_NE(board, nullptr) << "it takes its room where there is any";
  disk.leave(0);
  Ringer(disk / "").ring({{kQueue, 1}});
  EXPECT_EQ(board->pools[0].bell.rings, 1U);
  munmap(board, sizeof(ipc::Board));
}

TEST_F(RoomTest, ABudgetThatLacksItIsNotMade) {
  const support::SmallDisk disk(1U << 20U);
  if (!disk.trouble().empty()) GTEST_SKIP() << disk.trouble();
  disk.leave(0);
  EXPECT_EQ(make_drain_budget(disk / "budget", 5), nullptr);
  EXPECT_EQ(errno, ENOSPC);
  disk.leave(ipc::kPage);
  EXPECT_NE(make_drain_budget(disk / "budget", 5), nullptr);
}

}  // namespace
}  // namespace allot::peer
