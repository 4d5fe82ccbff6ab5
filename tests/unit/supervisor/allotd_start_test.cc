// SPDX-License-Identifier: Apache-2.0
// allotd from its start to its readiness, and obstacles to it.
// Rules: S21, S26.
#include <gtest/gtest.h>

#include <csignal>

#include "support/eventually.h"
#include "unit/supervisor/allotd.h"
#include "unit/supervisor/listener.h"

namespace allot::supervisor {
namespace {

using support::ExitStatus;

TEST(AllotdStart, ChecksThenLocksThenRuns) {
  Allotd daemon("pools=main:2,side:1");
  ASSERT_TRUE(daemon.logged("supervisor.ready instance=test")) << daemon.story();
  ASSERT_TRUE(daemon.saw("ready slot=", 3)) << daemon.story();
  EXPECT_EQ(daemon.seen("check config\n"), 1U);
  EXPECT_EQ(daemon.seen("check database reclaim\n"), 1U);
  ASSERT_TRUE(daemon.logged("worker.start", 3)) << daemon.story();
  EXPECT_EQ(daemon.logs("worker.start"), 3U);
  EXPECT_EQ(daemon.logs("pool=side"), 1U);
  EXPECT_EQ(daemon.stop(), (ExitStatus{0, 0})) << daemon.story();
  EXPECT_EQ(daemon.seen("leave slot="), 3U) << daemon.story();
}

TEST(AllotdStart, TellsSystemdWhatItDoes) {
  const support::TempDir dir;
  Listener systemd(dir / "n");
  Allotd daemon("pools=main:2", {"NOTIFY_SOCKET=" + (dir / "n")});
  EXPECT_EQ(systemd.receive_until("READY=1"), "READY=1") << daemon.story();
  EXPECT_NE(systemd.receive_until("STATUS=running: 2 workers ready, 0 starting"), "nothing")
      << daemon.story();
  daemon.signal(SIGHUP);
  EXPECT_NE(systemd.receive_until("RELOADING=1\nMONOTONIC_USEC="), "nothing") << daemon.story();
  EXPECT_EQ(systemd.receive_until("READY=1"), "READY=1");
  daemon.signal(SIGTERM);
  EXPECT_NE(systemd.receive_until("STOPPING=1\nEXTEND_TIMEOUT_USEC="), "nothing") << daemon.story();
  EXPECT_EQ(daemon.process().wait(), (ExitStatus{0, 0}));
}

TEST(AllotdStart, WaitsForADatabaseThatIsAway) {
  const support::TempDir dir;
  Listener systemd(dir / "n");
  Allotd daemon("check_database_exit=69", {"NOTIFY_SOCKET=" + (dir / "n")});
  ASSERT_TRUE(daemon.saw("check database reclaim", 2)) << daemon.story();
  EXPECT_NE(systemd.receive_until("waiting for the database"), "nothing") << daemon.story();
  EXPECT_TRUE(daemon.process().running());
  EXPECT_EQ(daemon.seen("run slot="), 0U);
  daemon.set("check_database_exit", "0");
  EXPECT_EQ(systemd.receive_until("READY=1"), "READY=1") << daemon.story();
}

TEST(AllotdStart, IsStoppedWhileItWaits) {
  Allotd daemon("check_database_exit=69");
  ASSERT_TRUE(daemon.logged("database.away")) << daemon.story();
  EXPECT_EQ(daemon.stop(), (ExitStatus{0, 0})) << daemon.story();
}

TEST(AllotdStart, EndsWithTheCodeOfARefusedConfiguration) {
  Allotd daemon("check_config_exit=78");
  EXPECT_EQ(daemon.process().wait(), (ExitStatus{78, 0})) << daemon.story();
  EXPECT_TRUE(daemon.logged("check.failed step=config code=78"));
  EXPECT_EQ(daemon.seen("run slot="), 0U);
}

// If the log format is not known yet, the check reports the format that it used.
TEST(AllotdStart, SaysWhyItIsRefusedInTheFormOfTheLog) {
  Allotd daemon("check_config_exit=78 log_format=2 problem=mistake");
  EXPECT_EQ(daemon.process().wait(), (ExitStatus{78, 0})) << daemon.story();
  EXPECT_TRUE(daemon.logged("\n<3>supervisor check.failed step=config code=78 reason=mistake\n"))
      << daemon.story();
}

TEST(AllotdStart, TellsSystemdThatTheDatabaseIsAway) {
  const support::TempDir dir;
  Listener systemd(dir / "n");
  Allotd daemon("pools=main:2", {"NOTIFY_SOCKET=" + (dir / "n")});
  ASSERT_TRUE(daemon.saw("ready slot=", 2)) << daemon.story();
  ASSERT_TRUE(daemon.tell(1, "away 1"));
  EXPECT_NE(systemd.receive_until("2 workers ready, 0 starting, 0 leaving, 0 being settled; the "
                                  "database is away"),
            "nothing")
      << daemon.story();
  ASSERT_TRUE(daemon.tell(1, "away 0"));
  EXPECT_TRUE(systemd.receive_until("STATUS=running: 2 workers ready").ends_with("being settled"))
      << daemon.story();
}

TEST(AllotdStart, EndsWithTheCodeOfARefusedDatabase) {
  Allotd daemon("check_database_exit=78");
  EXPECT_EQ(daemon.process().wait(), (ExitStatus{78, 0})) << daemon.story();
  EXPECT_TRUE(daemon.logged("check.failed step=database code=78"));
}

// A launcher that does not reap passes SIGCHLD on as ignored; children would then vanish unseen.
TEST(AllotdStart, AnIgnoredSigchldIsNotInherited) {
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  Allotd daemon;
  std::signal(SIGCHLD, before);
  EXPECT_TRUE(daemon.logged("supervisor.ready")) << daemon.story();
}

TEST(AllotdStart, SaysWhichSignalEndedACheck) {
  Allotd daemon("check_config_signal=9");
  EXPECT_EQ(daemon.process().wait(), (ExitStatus{70, 0})) << daemon.story();
  EXPECT_TRUE(daemon.logged("check.died signal=9")) << daemon.story();
}

TEST(AllotdStart, RefusesHalfAnAnswer) {
  Allotd daemon("answer_bytes=100");
  EXPECT_EQ(daemon.process().wait(), (ExitStatus{78, 0})) << daemon.story();
}

TEST(AllotdStart, SaysWhichProgramIsMissing) {
  Allotd daemon("check_config_exit=78");
  ASSERT_TRUE(daemon.process().wait()) << daemon.story();
  daemon.install("allot-worker", "/nonexistent/allot-worker");
  daemon.start();
  EXPECT_EQ(daemon.process().wait(), (ExitStatus{78, 0})) << daemon.story();
  EXPECT_TRUE(daemon.logged("program.missing")) << daemon.story();
  EXPECT_TRUE(daemon.logged("/bin/allot-worker")) << daemon.story();
}

TEST(AllotdStart, SaysWhichProgramCannotBeRun) {
  Allotd daemon("check_config_exit=78");
  ASSERT_TRUE(daemon.process().wait()) << daemon.story();
  daemon.install("allot-worker", daemon.folder() / "script");
  daemon.start();
  EXPECT_EQ(daemon.process().wait(), (ExitStatus{78, 0})) << daemon.story();
  EXPECT_TRUE(daemon.logged("program.not_started program=allot-worker")) << daemon.story();
}

TEST(AllotdStart, ASecondOneOfTheSameInstanceIsRefusedAtOnce) {
  Allotd daemon;
  ASSERT_TRUE(daemon.logged("supervisor.ready")) << daemon.story();
  const auto second = daemon.another();
  EXPECT_EQ(second->wait(), (ExitStatus{73, 0}));
  const std::string pid = std::to_string(daemon.process().pid());
  EXPECT_NE(second->err().find("instance.taken pid=" + pid), std::string::npos) << second->err();
  EXPECT_TRUE(daemon.process().running());
}

TEST(AllotdStart, WorkersEndWithASupervisorThatWasKilledAndTheNextWaitsForThem) {
  Allotd daemon("pools=main:2");
  // Both workers report it before the supervisor does, which is killed below.
  ASSERT_TRUE(daemon.logged("supervisor.ready")) << daemon.story();
  ASSERT_TRUE(daemon.saw("ready slot=", 2)) << daemon.story();
  ASSERT_TRUE(daemon.tell(1, "deaf"));
  const pid_t deaf = daemon.pid_of("ready slot=1");
  daemon.process().kill9();
  ASSERT_TRUE(daemon.saw("orphaned slot=0")) << daemon.story();
  daemon.start();
  ASSERT_TRUE(daemon.logged("instance.busy")) << daemon.story();
  EXPECT_EQ(daemon.logs("supervisor.ready"), 1U) << "of the previous run";
  support::send_signal(deaf, SIGKILL);
  EXPECT_TRUE(daemon.logged("supervisor.ready", 2)) << daemon.story();
}

}  // namespace
}  // namespace allot::supervisor
