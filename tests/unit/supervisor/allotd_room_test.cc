// SPDX-License-Identifier: Apache-2.0
// A runtime folder with little disk space or none.
// Rule: S24.
#include <gtest/gtest.h>

#include <csignal>

#include "support/small_disk.h"
#include "unit/supervisor/allotd.h"

namespace allot::supervisor {
namespace {

using support::ExitStatus;

// For the board and three slots, and for little else.
constexpr std::size_t kEnough = 256U << 10U;

class AllotdRoom : public testing::Test {
 protected:
  void SetUp() override {
    if (!disk_.trouble().empty()) GTEST_SKIP() << disk_.trouble();
  }
  [[nodiscard]] std::string script(const std::string& rest) const {
    return "runtime_dir=" + (disk_ / "run") + " " + rest;
  }

  support::SmallDisk disk_{1U << 20U};
};

TEST_F(AllotdRoom, WithoutItItDoesNotStart) {
  disk_.leave(16U << 10U);
  Allotd daemon(script("pools=main:1"));
  EXPECT_EQ(daemon.process().wait(), (ExitStatus{73, 0})) << daemon.story();
  EXPECT_TRUE(daemon.logged("set [daemon] runtime_dir to another file system")) << daemon.story();
  EXPECT_EQ(daemon.seen("run slot="), 0U);
}

TEST_F(AllotdRoom, ForHalfOfTheWorkersIsNotEnough) {
  disk_.leave(kEnough);
  Allotd daemon(script("pools=main:2,side:3"));
  EXPECT_EQ(daemon.process().wait(), (ExitStatus{73, 0})) << daemon.story();
  EXPECT_EQ(daemon.seen("run slot="), 0U);
}

TEST_F(AllotdRoom, TheNextRunHasTheRoomOfThePrevious) {
  disk_.leave(kEnough);
  Allotd daemon(script("pools=main:2"));
  ASSERT_TRUE(daemon.logged("supervisor.ready")) << daemon.story();
  disk_.leave(4096);
  daemon.process().kill9();
  daemon.start();
  EXPECT_TRUE(daemon.logged("supervisor.ready", 2)) << daemon.story();
}

// The slots of new workers do not fit on the disk: the present workers continue.
TEST_F(AllotdRoom, AFullDiskKeepsThePoolUntilThereIsRoom) {
  Allotd daemon(script("pools=main:1"));
  ASSERT_TRUE(daemon.saw("ready slot=0")) << daemon.story();
  disk_.leave(0);
  daemon.set("pools", "main:3");
  daemon.signal(SIGHUP);
  ASSERT_TRUE(daemon.logged("instance.failed what=\"cannot be created; free space there"))
      << daemon.story();
  EXPECT_EQ(daemon.seen("hup slot="), 0U) << daemon.story();
  ASSERT_TRUE(daemon.tell(0, "task")) << "it writes pages of its slot that it never wrote before";
  ASSERT_TRUE(daemon.tell(0, "finish")) << daemon.story();
  EXPECT_EQ(daemon.logs("worker.died"), 0U) << daemon.story();
  disk_.leave(512U << 10U);
  EXPECT_TRUE(daemon.saw("ready slot=", 4)) << daemon.story();
  EXPECT_EQ(daemon.stop(), (ExitStatus{0, 0})) << daemon.story();
}

}  // namespace
}  // namespace allot::supervisor
