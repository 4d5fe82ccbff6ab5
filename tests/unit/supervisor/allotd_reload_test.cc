// SPDX-License-Identifier: Apache-2.0
// HUP: check, then replace the workers one by one.
// Rules: S23, S26.
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>

#include "support/eventually.h"
#include "unit/supervisor/allotd.h"

namespace allot::supervisor {
namespace {

using support::ExitStatus;

TEST(AllotdReload, ReplacesWorkersNewOnesFirst) {
  Allotd daemon("pools=main:2");
  ASSERT_TRUE(daemon.saw("ready slot=", 2)) << daemon.story();
  daemon.set("run_gate", "go");
  daemon.signal(SIGHUP);
  ASSERT_TRUE(daemon.saw("run slot=", 3)) << daemon.story();
  EXPECT_EQ(daemon.seen("hup slot="), 0U) << "the new one is not ready yet";
  ASSERT_TRUE(daemon.logged("worker.start", 3)) << daemon.story();
  EXPECT_EQ(daemon.logs("worker.start"), 3U) << "one at a time";
  daemon.open("go");
  ASSERT_TRUE(daemon.saw("leave slot=", 2)) << daemon.story();
  ASSERT_TRUE(daemon.saw("ready slot=", 4)) << daemon.story();
  EXPECT_EQ(daemon.seen("hup slot="), 2U);
  EXPECT_EQ(daemon.seen("term slot="), 0U);
  EXPECT_EQ(daemon.seen("check database\n"), 1U) << "without reclaim: what is leased is ours";
}

TEST(AllotdReload, ALongTaskNeitherStopsNorBlocksIt) {
  Allotd daemon("pools=main:2");
  ASSERT_TRUE(daemon.saw("ready slot=", 2)) << daemon.story();
  ASSERT_TRUE(daemon.tell(0, "task"));
  const pid_t busy = daemon.pid_of("ready slot=0");
  daemon.signal(SIGHUP);
  ASSERT_TRUE(daemon.saw("ready slot=", 4)) << daemon.story();
  ASSERT_TRUE(daemon.saw("leave slot=1")) << daemon.story();
  ASSERT_TRUE(daemon.saw("hup slot=0")) << daemon.story();
  // Another reload also succeeds in spite of it.
  daemon.signal(SIGHUP);
  ASSERT_TRUE(daemon.saw("leave slot=", 3)) << daemon.story();
  ASSERT_TRUE(daemon.saw("ready slot=", 6)) << daemon.story();
  EXPECT_EQ(daemon.seen("leave slot=0 pid=" + std::to_string(busy)), 0U) << daemon.story();
  ASSERT_TRUE(daemon.tell(0, "finish"));
  EXPECT_TRUE(daemon.saw("leave slot=0 pid=" + std::to_string(busy))) << daemon.story();
  EXPECT_EQ(daemon.seen("term slot="), 0U);
  EXPECT_EQ(daemon.seen("settle"), 0U);
}

TEST(AllotdReload, ARefusedConfigurationKeepsThePool) {
  Allotd daemon("pools=main:2");
  ASSERT_TRUE(daemon.saw("ready slot=", 2)) << daemon.story();
  daemon.set("check_config_exit", "78");
  daemon.signal(SIGHUP);
  ASSERT_TRUE(daemon.logged("reload.refused step=config code=78")) << daemon.story();
  daemon.set("check_config_exit", "0");
  daemon.set("check_database_exit", "69");
  daemon.signal(SIGHUP);
  ASSERT_TRUE(daemon.logged("reload.refused step=database code=69")) << daemon.story();
  daemon.set("answer_bytes", "7");
  daemon.signal(SIGHUP);
  ASSERT_TRUE(daemon.logged("reload.refused step=config code=0")) << daemon.story();
  EXPECT_EQ(daemon.logs("worker.start"), 2U);
  EXPECT_EQ(daemon.seen("hup slot="), 0U);
}

TEST(AllotdReload, AMissingProgramKeepsThePool) {
  Allotd daemon;
  ASSERT_TRUE(daemon.saw("ready slot=0")) << daemon.story();
  daemon.install("allot-worker", "/nonexistent/allot-worker");
  daemon.signal(SIGHUP);
  ASSERT_TRUE(daemon.logged("reload.refused")) << daemon.story();
  // S25: a worker that dies is replaced from the checked program.
  ASSERT_TRUE(daemon.tell(0, "task"));
  ASSERT_TRUE(daemon.tell(0, "signal 9"));
  EXPECT_TRUE(daemon.saw("ready slot=", 2)) << daemon.story();
  EXPECT_TRUE(daemon.saw("settle slot=0")) << daemon.story();
}

TEST(AllotdReload, NewProgramsComeWithIt) {
  Allotd daemon;
  ASSERT_TRUE(daemon.saw("ready slot=0")) << daemon.story();
  const std::string fresh = daemon.folder() / "fresh";
  std::filesystem::copy_file(ALLOT_SCRIPTED_WORKER, fresh);
  daemon.install("allot-worker", fresh);
  ASSERT_TRUE(daemon.tell(0, "task"));
  ASSERT_TRUE(daemon.tell(0, "signal 9"));
  ASSERT_TRUE(daemon.saw("ready slot=1")) << daemon.story();
  const auto program_of = [&daemon](const std::string& event) {
    return std::filesystem::read_symlink("/proc/" + std::to_string(daemon.pid_of(event)) + "/exe");
  };
  EXPECT_EQ(program_of("ready slot=1"), std::filesystem::canonical(ALLOT_SCRIPTED_WORKER))
      << "an upgrade puts no new workers under an old supervisor (S25)";
  daemon.signal(SIGHUP);
  ASSERT_TRUE(daemon.saw("leave slot=1")) << daemon.story();
  EXPECT_EQ(program_of("ready slot="), std::filesystem::canonical(fresh));
}

TEST(AllotdReload, NewWorkersThatFailLeaveTheOldOnesInPlace) {
  Allotd daemon("pools=main:2");
  ASSERT_TRUE(daemon.saw("ready slot=", 2)) << daemon.story();
  daemon.set("run_exit", "1");
  daemon.signal(SIGHUP);
  ASSERT_TRUE(daemon.logged("worker.throttled", 3)) << daemon.story();
  EXPECT_EQ(daemon.seen("hup slot="), 0U) << daemon.story();
  daemon.set("run_exit", "-1");
  EXPECT_TRUE(daemon.saw("leave slot=", 2)) << daemon.story();
}

TEST(AllotdReload, GrowsAndShrinksPools) {
  Allotd daemon("pools=main:1");
  ASSERT_TRUE(daemon.saw("ready slot=", 1)) << daemon.story();
  daemon.set("pools", "main:3,side:2");
  daemon.signal(SIGHUP);
  ASSERT_TRUE(daemon.saw("ready slot=", 6)) << daemon.story();
  ASSERT_TRUE(daemon.saw("leave slot=", 1)) << daemon.story();
  daemon.set("pools", "main:1");
  daemon.signal(SIGHUP);
  ASSERT_TRUE(daemon.saw("leave slot=", 6)) << daemon.story();
  ASSERT_TRUE(daemon.saw("ready slot=", 7)) << daemon.story();
  const pid_t last = daemon.pid_of("ready slot=");
  ASSERT_TRUE(support::eventually([&] {
    return children_of(daemon.process().pid()) == std::vector<pid_t>{last};
  })) << daemon.story();
}

// The new configuration has the pools in another order: none of them may lose its workers before it
// has new ones.
TEST(AllotdReload, PoolsAreKnownByTheirNames) {
  Allotd daemon("pools=main:1,side:3");
  ASSERT_TRUE(daemon.saw("ready slot=", 4)) << daemon.story();
  daemon.set("pools", "side:3,main:1");
  daemon.set("run_gate", "go");
  daemon.signal(SIGHUP);
  ASSERT_TRUE(daemon.saw("run slot=", 6)) << daemon.story();  // the first new one of each pool
  EXPECT_EQ(daemon.seen("hup slot="), 0U) << daemon.story();
  daemon.open("go");
  ASSERT_TRUE(daemon.saw("leave slot=", 4)) << daemon.story();
  EXPECT_EQ(daemon.logs("pool=side"), 6U) << daemon.story();
}

TEST(AllotdReload, OneThatIsRefusedSaysWhy) {
  Allotd daemon;
  ASSERT_TRUE(daemon.saw("ready slot=0")) << daemon.story();
  daemon.set("check_config_exit", "78");
  daemon.set("problem", "a.toml:3: unknown key 'bogus'");
  daemon.signal(SIGHUP);
  EXPECT_TRUE(
      daemon.logged("reload.refused step=config code=78 reason=\"a.toml:3: unknown key 'bogus'\""))
      << daemon.story();
  daemon.set("check_config_exit", "0");
  daemon.set("check_database_exit", "69");
  daemon.set("problem", "server is down");
  daemon.signal(SIGHUP);
  EXPECT_TRUE(daemon.logged("reload.refused step=database code=69 reason=\"server is down\""))
      << daemon.story();
}

TEST(AllotdReload, OneThatComesDuringACheckIsNotLost) {
  Allotd daemon;
  ASSERT_TRUE(daemon.saw("ready slot=0")) << daemon.story();
  for (const std::string step : {"config", "database"}) {
    const std::size_t before = daemon.logs("pool.reload");
    daemon.set("check_" + step + "_gate", step);
    daemon.signal(SIGHUP);
    ASSERT_TRUE(daemon.saw("check " + step + "\n", before + (step == "config" ? 2 : 1)))
        << daemon.story();
    daemon.signal(SIGHUP);
    ASSERT_TRUE(daemon.logged("supervisor.signal signal=1", before + 2)) << daemon.story();
    daemon.open(step);
    ASSERT_TRUE(daemon.logged("pool.reload", before + 2)) << daemon.story();
  }
}

TEST(AllotdReload, OneThatComesBeforeTheStartIsDoneComesAfterIt) {
  Allotd daemon("check_database_exit=69");
  ASSERT_TRUE(daemon.logged("database.away")) << daemon.story();
  daemon.set("pools", "main:3");
  daemon.signal(SIGHUP);
  ASSERT_TRUE(daemon.logged("supervisor.signal signal=1")) << daemon.story();
  daemon.set("check_database_exit", "0");
  EXPECT_TRUE(daemon.logged("pool.reload")) << daemon.story();
  EXPECT_TRUE(daemon.saw("ready slot=2")) << daemon.story();
}

TEST(AllotdReload, IsStoppedInItsMiddle) {
  Allotd daemon;
  ASSERT_TRUE(daemon.saw("ready slot=0")) << daemon.story();
  daemon.set("check_config_gate", "never");
  daemon.signal(SIGHUP);
  ASSERT_TRUE(daemon.saw("check config\n", 2)) << daemon.story();
  EXPECT_EQ(daemon.stop(), (ExitStatus{0, 0})) << daemon.story();
  EXPECT_EQ(daemon.logs("check.died"), 0U);
}

TEST(AllotdReload, TheFormOfTheLogFollowsTheConfiguration) {
  Allotd daemon("log_format=1");
  ASSERT_TRUE(daemon.logged(R"("event":"supervisor.ready","instance":"test"})")) << daemon.story();
  EXPECT_EQ(daemon.logs("INFO  supervisor check.passed"), 0U);
  daemon.set("log_format", "2");
  daemon.signal(SIGHUP);
  ASSERT_TRUE(daemon.logged("\n<6>supervisor pool.reload pools=1\n")) << daemon.story();
}

}  // namespace
}  // namespace allot::supervisor
