// SPDX-License-Identifier: Apache-2.0
// HUP, and the file with which a daemon was started: the last checked configuration is used.
// Rule: S26.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "e2e/daemon.h"

namespace allot::e2e::reload_test {
namespace {

using nlohmann::json;
using support::eventually;
using support::ExitStatus;

// A mistake in the file, which a reload refuses.
void refuse_reload(Daemon& daemon) {
  daemon.configure("[daemon]\n", "[daemon]\nbogus = 1\n");
  daemon.process().signal(SIGHUP);
  ASSERT_TRUE(eventually([&] { return daemon.logged("reload.refused"); })) << daemon.log();
}

// Submits a task in which the first worker that runs it hangs, and waits for that worker, which may
// have begun before the supervisor has seen that it is ready.
void occupy(const Daemon& daemon) {
  wait_ready(daemon, 1);
  (void)daemon.submit("test.hang_once", "");
  ASSERT_TRUE(eventually([&] { return !daemon.written().empty(); })) << daemon.log();
}

// Kills the only worker. The next one has to be ready, and to end the task of the first.
void expect_a_death_is_healed(const Daemon& daemon) {
  const auto before = daemon.ready_workers();
  const std::size_t ready = before.size();
  support::send_signal(before.at(ready - 1), SIGKILL);
  EXPECT_TRUE(eventually([&] { return daemon.ready_workers().size() > ready; })) << daemon.log();
  EXPECT_TRUE(eventually([&] { return daemon.drained(); })) << daemon.log();
  EXPECT_FALSE(daemon.logged("worker.not_settled")) << daemon.log();
  EXPECT_FALSE(daemon.logged("worker.throttled")) << daemon.log();
}

TEST(Reload, ARefusedOneKeepsThePoolWhateverDies) {
  Daemon daemon({.workers = 1});
  occupy(daemon);
  refuse_reload(daemon);
  expect_a_death_is_healed(daemon);
  EXPECT_EQ(daemon.stop(), (ExitStatus{0, 0})) << daemon.log();
}

TEST(Reload, WaitReturnsOnceTheLastFormerWorkerHasLeft) {
  Daemon daemon({.workers = 1});
  occupy(daemon);
  const auto began = daemon.allot({"reload", "--json"});
  EXPECT_EQ(began.out, "{\n  \"finished\": false,\n  \"reload\": 1\n}\n") << began.err;
  ASSERT_TRUE(eventually([&] { return daemon.ready_workers().size() > 1; })) << daemon.log();
  EXPECT_FALSE(daemon.logged("reload.finished")) << "the first worker has its task";
  support::send_signal(daemon.ready_workers().front(), SIGKILL);
  ASSERT_TRUE(eventually([&] { return daemon.logged("reload.finished reload=1"); }))
      << daemon.log();
  const auto waited = daemon.allot({"reload", "--wait"});
  EXPECT_EQ(waited.out, "reload 2 finished: no former worker is left\n") << waited.err;
  EXPECT_TRUE(daemon.logged("reload.finished reload=2")) << daemon.log();
}

TEST(Reload, AnEditThatWasNotLoadedChangesNothing) {
  Daemon daemon({.workers = 1});
  occupy(daemon);
  const std::string before = support::read_file(daemon.config_file());
  std::ofstream(daemon.config_file(), std::ios::binary) << "[database]\nsocket = \"nowhere\"\n";
  expect_a_death_is_healed(daemon);
  std::ofstream(daemon.config_file(), std::ios::binary) << before << "# a comment\n";
  EXPECT_NE(daemon.allot({"status"}).out.find(" was changed and not loaded"), std::string::npos);
  std::ofstream(daemon.config_file(), std::ios::binary) << before;
  EXPECT_EQ(daemon.allot({"status"}).out.find(" was changed and not loaded"), std::string::npos);
}

TEST(Reload, NorDoesAFileThatIsGone) {
  Daemon daemon({.workers = 1});
  occupy(daemon);
  std::filesystem::remove(daemon.config_file());
  expect_a_death_is_healed(daemon);
}

TEST(Reload, ARefusedOneKeepsThePasswordToo) {
  const support::TempDir folder;
  const std::string file = folder.write("password", "");
  Daemon daemon({.workers = 1,
                 .database_keys = "socket = \"" + support::Database::shared().socket() +
                                  "\"\nuser = \"root\"\npassword_file = \"" + file + "\""});
  occupy(daemon);
  std::filesystem::remove(file);
  daemon.process().signal(SIGHUP);
  ASSERT_TRUE(eventually([&] { return daemon.logged("reload.refused"); })) << daemon.log();
  expect_a_death_is_healed(daemon);
}

// Workers start from the daemon's open descriptors, and need no file of that folder.
TEST(Reload, NorDoesARuntimeFolderThatWasDeleted) {
  Daemon daemon({.workers = 1});
  occupy(daemon);
  std::filesystem::remove_all(daemon.folder() + "/run");
  expect_a_death_is_healed(daemon);
  const std::size_t ready = daemon.ready_workers().size();
  daemon.process().signal(SIGHUP);
  ASSERT_TRUE(eventually([&] { return daemon.ready_workers().size() > ready; })) << daemon.log();
  ASSERT_TRUE(eventually([&] { return daemon.logged("worker.left"); })) << daemon.log();
  EXPECT_TRUE(daemon.logged("instance.folder_gone")) << "what else is missing" << daemon.log();
  EXPECT_EQ(daemon.stop(), (ExitStatus{0, 0})) << daemon.log();
}

// A live upgrade keeps the checked configuration.
TEST(Reload, CheckedConfigurationOutlivesAnUpgrade) {
  Daemon daemon({.workers = 1});
  occupy(daemon);
  refuse_reload(daemon);
  daemon.process().signal(SIGUSR2);
  ASSERT_TRUE(eventually([&] { return daemon.times_logged("supervisor.start ") == 2; }))
      << daemon.log();
  expect_a_death_is_healed(daemon);
}

std::set<std::string> pools_of(const json& status) {
  std::set<std::string> pools;
  for (const auto& worker : status["workers"]) pools.insert(worker["pool"].get<std::string>());
  return pools;
}

TEST(Reload, APoolIsKnownByItsName) {
  Daemon daemon({.workers = 1});
  wait_ready(daemon, 1);
  daemon.configure("[pools.default]",
                   "[queues.other]\n[pools.other]\nsize = 1\nqueues = [\"other\"]\n"
                   "[pools.default]\nqueues = [\"default\"]");
  EXPECT_EQ(pools_of(daemon.status()), std::set<std::string>{"default"}) << "not loaded yet";
  const pid_t worker = daemon.workers().front();
  support::send_signal(worker, SIGKILL);
  ASSERT_TRUE(eventually([&] { return daemon.times_logged("worker worker.ready") == 2; }))
      << daemon.log();
  EXPECT_EQ(daemon.times_logged("pool=other"), 0U) << daemon.log();
  EXPECT_EQ(pools_of(daemon.status()), std::set<std::string>{"default"});
  daemon.process().signal(SIGHUP);
  ASSERT_TRUE(eventually([&] {
    return pools_of(daemon.status()) == std::set<std::string>{"default", "other"};
  })) << daemon.log();
}

}  // namespace
}  // namespace allot::e2e::reload_test
