// SPDX-License-Identifier: Apache-2.0
// S22: processes that handlers start end with their worker, whatever they do to escape.
#include <gtest/gtest.h>

#include <csignal>

#include "support/eventually.h"
#include "unit/supervisor/allotd.h"

namespace allot::supervisor {
namespace {

using support::ExitStatus;

// Makes worker 0 start a process; returns its pid.
pid_t start(Allotd& daemon, const std::string& kind) {
  EXPECT_TRUE(daemon.saw("ready slot=0")) << daemon.story();
  EXPECT_TRUE(daemon.tell(0, kind)) << daemon.story();
  const pid_t pid = daemon.pid_of(kind + " pid=");
  EXPECT_GT(pid, 1) << daemon.story();
  return pid;
}

TEST(AllotdStray, AChildEndsWithItsWorker) {
  Allotd daemon;
  const pid_t child = start(daemon, "child");
  ASSERT_TRUE(daemon.tell(0, "signal 9"));
  EXPECT_TRUE(ends(child)) << daemon.story();
}

TEST(AllotdStray, AChildInItsOwnSessionEndsWithItsWorker) {
  Allotd daemon;
  const pid_t child = start(daemon, "session");
  ASSERT_TRUE(daemon.tell(0, "signal 9"));
  EXPECT_TRUE(ends(child)) << daemon.story();
  EXPECT_TRUE(daemon.logged("stray.kill pid=" + std::to_string(child))) << daemon.story();
}

TEST(AllotdStray, SoDoItsChildren) {
  Allotd daemon;
  const pid_t parent = start(daemon, "family");
  std::vector<pid_t> children;
  ASSERT_TRUE(support::eventually([&] { return !(children = children_of(parent)).empty(); }));
  ASSERT_TRUE(support::eventually([&] { return getpgid(children[0]) == children[0]; }));
  ASSERT_TRUE(daemon.tell(0, "signal 9"));
  EXPECT_TRUE(ends(parent)) << daemon.story();
  EXPECT_TRUE(ends(children[0])) << daemon.story();
}

TEST(AllotdStray, AnOrphanOfALivingWorkerIsNotTakenForOneOfADeadOne) {
  Allotd daemon("pools=main:2");
  ASSERT_TRUE(daemon.saw("ready slot=1")) << daemon.story();
  const pid_t orphan = start(daemon, "orphan");
  ASSERT_TRUE(daemon.tell(1, "task"));
  ASSERT_TRUE(daemon.tell(1, "signal 9"));
  ASSERT_TRUE(daemon.saw("settle slot=1")) << daemon.story();
  ASSERT_TRUE(daemon.saw("ready slot=", 3)) << daemon.story();
  const char state = state_of(orphan);
  EXPECT_TRUE(state == 'S' || state == 'R') << state << daemon.story();
  ASSERT_TRUE(daemon.tell(0, "signal 9"));
  EXPECT_TRUE(ends(orphan)) << daemon.story();
}

TEST(AllotdStray, NoneOutlivesAStop) {
  Allotd daemon;
  const pid_t parent = start(daemon, "family");
  std::vector<pid_t> children;
  ASSERT_TRUE(support::eventually([&] { return !(children = children_of(parent)).empty(); }));
  ASSERT_TRUE(support::eventually([&] { return getpgid(children[0]) == children[0]; }));
  EXPECT_EQ(daemon.stop(), (ExitStatus{0, 0})) << daemon.story();
  EXPECT_EQ(state_of(parent), '\0');
  EXPECT_EQ(state_of(children[0]), '\0');
}

}  // namespace
}  // namespace allot::supervisor
