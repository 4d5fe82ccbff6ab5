// SPDX-License-Identifier: Apache-2.0
// The file system of the runtime folder becomes full while the daemon works.
// Rule: S24.
#include <gtest/gtest.h>

#include "e2e/daemon.h"
#include "support/small_disk.h"

namespace allot::e2e::room_test {
namespace {

// Slots and board are mapped: a process that touches an unallocated page would die of SIGBUS, a
// worker inside a healthy handler, and a submitter after its commit.
TEST(Room, WithoutAnyTasksAreSubmittedAndRun) {
  const support::SmallDisk disk(4U << 20U);
  if (!disk.trouble().empty()) GTEST_SKIP() << disk.trouble();
  Daemon daemon({.workers = 2, .queue_keys = "max_attempts = 1", .start = false});
  daemon.configure(daemon.folder() + "/run", disk / "run");
  daemon.start();
  wait_ready(daemon, 2);
  disk.leave(0);
  for (const char* payload : {"a", "b", "c"}) (void)daemon.submit("test.write", payload);
  daemon.submit_many("test.write", std::vector<std::string>(100, "x"));
  EXPECT_EQ(daemon.status()["workers"].size(), 2U);
  ASSERT_TRUE(daemon.drains()) << daemon.log();
  EXPECT_EQ(daemon.written().size(), 103U) << daemon.log();
  EXPECT_EQ(daemon.count("task_dead"), 0U) << daemon.log();
  EXPECT_FALSE(daemon.logged("worker.died")) << daemon.log();
  EXPECT_EQ(daemon.stop(), (support::ExitStatus{0, 0})) << daemon.log();
}

}  // namespace
}  // namespace allot::e2e::room_test
