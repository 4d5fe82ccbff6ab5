// SPDX-License-Identifier: Apache-2.0
// Ways to end allotd: requested, hurried, forced.
// Rule: S8.
#include <gtest/gtest.h>

#include <csignal>

#include "support/eventually.h"
#include "unit/supervisor/allotd.h"

namespace allot::supervisor {
namespace {

using support::ExitStatus;

TEST(AllotdStop, TermAsksEveryWorkerAndWaits) {
  Allotd daemon("pools=main:3");
  ASSERT_TRUE(daemon.saw("ready slot=", 3)) << daemon.story();
  EXPECT_EQ(daemon.stop(SIGTERM), (ExitStatus{0, 0})) << daemon.story();
  EXPECT_EQ(daemon.seen("term slot="), 3U) << daemon.story();
  EXPECT_EQ(daemon.seen("leave slot="), 3U);
  EXPECT_EQ(daemon.seen("settle"), 0U) << "they left nothing behind";
  EXPECT_EQ(daemon.logs("worker.kill"), 0U);
  EXPECT_EQ(daemon.logs("worker.left"), 3U) << daemon.story();
  EXPECT_EQ(daemon.logs("worker.died"), 0U) << daemon.story();
}

TEST(AllotdStop, IntIsTheSame) {
  Allotd daemon;
  ASSERT_TRUE(daemon.saw("ready slot=0")) << daemon.story();
  EXPECT_EQ(daemon.stop(SIGINT), (ExitStatus{0, 0})) << daemon.story();
  EXPECT_EQ(daemon.seen("term slot=0"), 1U);
}

TEST(AllotdStop, AWorkerThatDoesNotLeaveIsKilledAndSettled) {
  Allotd daemon("stop_ms=200");
  start_busy(daemon);
  ASSERT_TRUE(daemon.tell(0, "deaf"));
  EXPECT_EQ(daemon.stop(SIGTERM), (ExitStatus{0, 0})) << daemon.story();
  EXPECT_EQ(daemon.logs("reason=\"did not stop in time\""), 1U) << daemon.story();
  EXPECT_EQ(daemon.seen("settle slot=0 status=9\n"), 1U) << daemon.story();
}

TEST(AllotdStop, ASecondTermKillsAtOnce) {
  Allotd daemon;  // waits for a minute
  start_busy(daemon);
  ASSERT_TRUE(daemon.tell(0, "deaf"));
  daemon.signal(SIGTERM);
  ASSERT_TRUE(daemon.logged("phase=stopping")) << daemon.story();
  EXPECT_TRUE(daemon.process().running());
  EXPECT_EQ(daemon.stop(SIGTERM), (ExitStatus{0, 0})) << daemon.story();
  EXPECT_EQ(daemon.seen("settle slot=0 status=9\n"), 1U) << daemon.story();
}

TEST(AllotdStop, QuitKillsAtOnce) {
  Allotd daemon;
  const pid_t worker = start_busy(daemon);
  EXPECT_EQ(daemon.stop(SIGQUIT), (ExitStatus{0, 0})) << daemon.story();
  EXPECT_EQ(daemon.seen("term slot=0"), 0U);
  EXPECT_EQ(daemon.seen("settle slot=0 status=9\n"), 1U) << daemon.story();
  EXPECT_EQ(state_of(worker), '\0');
}

TEST(AllotdStop, NoWorkerStartsWhileItStops) {
  Allotd daemon("pools=main:2");
  ASSERT_TRUE(daemon.saw("ready slot=", 2)) << daemon.story();
  ASSERT_TRUE(daemon.tell(0, "deaf"));
  daemon.signal(SIGTERM);
  ASSERT_TRUE(daemon.saw("leave slot=1")) << daemon.story();
  ASSERT_TRUE(daemon.tell(0, "exit 1"));
  EXPECT_EQ(daemon.process().wait(), (ExitStatus{0, 0})) << daemon.story();
  EXPECT_EQ(daemon.logs("worker.start"), 2U);
}

TEST(AllotdStop, ASettlerIsAwaited) {
  Allotd daemon("settle_gate=settle");
  start_busy(daemon);
  daemon.signal(SIGQUIT);
  ASSERT_TRUE(daemon.saw("settle slot=0")) << daemon.story();
  EXPECT_TRUE(daemon.process().running());
  daemon.open("settle");
  EXPECT_EQ(daemon.process().wait(), (ExitStatus{0, 0})) << daemon.story();
}

TEST(AllotdStop, ASettlerWithoutEndIsNotAwaitedForEver) {
  Allotd daemon("settle_gate=never stop_ms=100");
  start_busy(daemon);
  daemon.signal(SIGQUIT);
  EXPECT_EQ(daemon.process().wait(std::chrono::seconds(60)), (ExitStatus{0, 0})) << daemon.story();
  EXPECT_EQ(daemon.seen("settle slot=0"), 1U);
  EXPECT_EQ(daemon.logs("supervisor.unsettled slots=1"), 1U) << daemon.story();
}

TEST(AllotdStop, NowDoesNotWaitForThePatienceOfAGracefulStop) {
  Allotd daemon("settle_exit=1");  // a graceful stop would wait for a minute
  start_busy(daemon);
  EXPECT_EQ(daemon.stop(SIGQUIT), (ExitStatus{0, 0})) << daemon.story();
  EXPECT_EQ(daemon.logs("supervisor.unsettled slots=1"), 1U) << daemon.story();
}

// The command line has few options; each has its test here.
TEST(AllotdStop, OptionsAreRefusedWithTheirUsage) {
  const auto unknown = support::run_program({ALLOT_ALLOTD, "--nonsense"});
  EXPECT_EQ(unknown.status, (ExitStatus{64, 0}));
  EXPECT_NE(unknown.err.find("usage: allotd"), std::string::npos);
  const auto extra = support::run_program({ALLOT_ALLOTD, "start"});
  EXPECT_EQ(extra.status, (ExitStatus{64, 0}));
  EXPECT_NE(extra.err.find("unexpected argument 'start'"), std::string::npos);
  const auto version = support::run_program({ALLOT_ALLOTD, "--version"});
  EXPECT_EQ(version.status, (ExitStatus{0, 0}));
  EXPECT_EQ(version.out.find("allot version "), 0U);
}

}  // namespace
}  // namespace allot::supervisor
