// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "base/unique_fd.h"
#include "peer/doorbell.h"

namespace allot::peer {

// A board in memory shared with forked processes, like the real one.
class BoardTest : public testing::Test {
 protected:
  BoardTest() : file_(memfd_create("board", MFD_CLOEXEC)) {
    EXPECT_EQ(ftruncate(file_.get(), sizeof(ipc::Board)), 0);
    ipc::Board blank{};
    std::memcpy(blank.magic, ipc::kBoardMagic, sizeof blank.magic);
    blank.version = ipc::kBoardVersion;
    EXPECT_EQ(pwrite(file_.get(), &blank, sizeof blank, 0), static_cast<ssize_t>(sizeof blank));
    board_ = map_board(file_.get());
    serve(pool(), {&kQueue, 1});
  }
  BoardTest(const BoardTest&) = delete;
  BoardTest& operator=(const BoardTest&) = delete;
  ~BoardTest() override { munmap(board_, sizeof(ipc::Board)); }

  static constexpr std::uint32_t kQueue = 7;  // the queue that pool() serves
  [[nodiscard]] ipc::PoolBoard& pool() const { return board_->pools[0]; }

  UniqueFd file_;
  ipc::Board* board_ = nullptr;
};

}  // namespace allot::peer
