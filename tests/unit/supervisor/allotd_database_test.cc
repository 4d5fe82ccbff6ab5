// SPDX-License-Identifier: Apache-2.0
// The child that runs the embedded database (S28) starts first, stops last, and is restarted.
#include <gtest/gtest.h>

#include <csignal>
#include <sstream>
#include <string>

#include "support/eventually.h"
#include "unit/supervisor/allotd.h"

namespace allot::supervisor {
namespace {

using support::ExitStatus;

// Clock ticks of processor time that a process has used.
long ticks_of(pid_t pid) {
  const std::string text = support::read_file("/proc/" + std::to_string(pid) + "/stat");
  std::istringstream fields(text.substr(text.rfind(')') + 2));
  std::string skipped;
  for (int i = 3; i < 14; ++i) fields >> skipped;
  long user = 0;
  long system = 0;
  fields >> user >> system;
  return user + system;
}

// The configuration names a folder inside the daemon's own, which is known once the daemon exists.
class AllotdDatabase : public testing::Test {
 protected:
  AllotdDatabase() : daemon_("check_config_exit=78") {
    EXPECT_TRUE(daemon_.process().wait());
    daemon_.set("embedded_dir", daemon_.folder() / "db");
    daemon_.set("check_config_exit", "0");
  }

  Allotd daemon_;
};

TEST_F(AllotdDatabase, IsUpBeforeTheCheckAndDownAfterTheWorkers) {
  daemon_.set("embedded_gate", "up");
  daemon_.start();
  ASSERT_TRUE(daemon_.saw("embedded pid=")) << daemon_.story();
  EXPECT_EQ(daemon_.seen("check database"), 0U);
  daemon_.open("up");
  ASSERT_TRUE(daemon_.saw("ready slot=0")) << daemon_.story();
  ASSERT_TRUE(daemon_.logged("database.ready")) << daemon_.story();
  EXPECT_EQ(daemon_.stop(), (ExitStatus{0, 0})) << daemon_.story();
  const std::string events = support::read_file(daemon_.folder() / "events");
  EXPECT_LT(events.find("leave slot=0"), events.find("embedded_stopped")) << events;
  EXPECT_NE(events.find("embedded_stopped"), std::string::npos) << events;
}

TEST_F(AllotdDatabase, IsStartedAgainWhileWorkersStay) {
  daemon_.start();
  ASSERT_TRUE(daemon_.saw("ready slot=0")) << daemon_.story();
  daemon_.tell_database("exit 1");
  ASSERT_TRUE(daemon_.saw("embedded pid=", 2)) << daemon_.story();
  ASSERT_TRUE(daemon_.logged("database.ready", 2)) << daemon_.story();
  EXPECT_EQ(daemon_.logs("worker.start"), 1U) << daemon_.story();
}

TEST_F(AllotdDatabase, AnotherFolderWaitsForTheNextStart) {
  daemon_.start();
  ASSERT_TRUE(daemon_.saw("ready slot=0")) << daemon_.story();
  daemon_.set("embedded_dir", daemon_.folder() / "db2");
  daemon_.signal(SIGHUP);
  ASSERT_TRUE(daemon_.logged("pool.needs_restart")) << daemon_.story();
  ASSERT_TRUE(daemon_.logged("pool.reload")) << daemon_.story();
  daemon_.tell_database("exit 1");
  ASSERT_TRUE(daemon_.logged("database.ready", 2)) << daemon_.story();
  EXPECT_FALSE(daemon_.logs("db2")) << daemon_.story();
}

TEST_F(AllotdDatabase, WithoutHopeEndsTheStart) {
  daemon_.set("embedded_exit", "73");
  daemon_.start();
  EXPECT_EQ(daemon_.process().wait(), (ExitStatus{73, 0})) << daemon_.story();
}

TEST_F(AllotdDatabase, CostsNoProcessorTimeBetweenTwoTries) {
  daemon_.set("embedded_exit", "1");
  daemon_.start();
  ASSERT_TRUE(daemon_.saw("embedded pid=", 4)) << daemon_.story();
  EXPECT_LT(ticks_of(daemon_.process().pid()), 100) << "of the 3.5 s between those starts";
}

TEST_F(AllotdDatabase, StaysOverAnUpgradeAndIsStoppedInTheEnd) {
  daemon_.start();
  ASSERT_TRUE(daemon_.logged("worker.ready")) << daemon_.story();
  daemon_.signal(SIGUSR2);
  ASSERT_TRUE(daemon_.logged("supervisor.start ", 3)) << daemon_.story();
  EXPECT_EQ(daemon_.stop(), (ExitStatus{0, 0})) << daemon_.story();
  EXPECT_EQ(daemon_.seen("embedded pid="), 1U);
  EXPECT_EQ(daemon_.seen("embedded_stopped"), 1U) << daemon_.story();
}

TEST_F(AllotdDatabase, IsStartedAgainAfterAnUpgrade) {
  daemon_.start();
  ASSERT_TRUE(daemon_.logged("worker.ready")) << daemon_.story();
  daemon_.signal(SIGUSR2);
  ASSERT_TRUE(daemon_.logged("supervisor.start ", 3)) << daemon_.story();
  daemon_.tell_database("exit 1");
  EXPECT_TRUE(daemon_.logged("database.died")) << daemon_.story();
  EXPECT_TRUE(daemon_.logged("database.ready", 2)) << daemon_.story();
}

}  // namespace
}  // namespace allot::supervisor
