// SPDX-License-Identifier: Apache-2.0
// USR1: the log file was moved away.
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>

#include "support/eventually.h"
#include "unit/supervisor/allotd.h"

namespace allot::supervisor {
namespace {

namespace fs = std::filesystem;
using support::ExitStatus;

TEST(AllotdLog, IsOpenedAgainUnderItsName) {
  Allotd daemon("pools=main:2 log_file=log");
  ASSERT_TRUE(daemon.saw("ready slot=", 2)) << daemon.story();
  ASSERT_TRUE(daemon.logged("worker.ready", 2)) << daemon.story();
  fs::rename(daemon.folder() / "log", daemon.folder() / "log.1");
  daemon.signal(SIGUSR1);
  ASSERT_TRUE(daemon.logged("log.reopened")) << daemon.story();
  EXPECT_TRUE(daemon.saw("usr1 slot=0")) << daemon.story();
  EXPECT_TRUE(daemon.saw("usr1 slot=1")) << daemon.story();
  const auto former = fs::file_size(daemon.folder() / "log.1");
  EXPECT_EQ(daemon.stop(), (ExitStatus{0, 0})) << daemon.story();
  EXPECT_EQ(daemon.logs("supervisor.exit"), 1U) << daemon.story();
  EXPECT_EQ(fs::file_size(daemon.folder() / "log.1"), former);
  EXPECT_EQ(daemon.seen("leave slot="), 2U);
}

// A program that has just started may have no handler for the signal, and would die of it.
TEST(AllotdLog, TheLogSaysWhenAStartedWorkerIsReady) {
  Allotd daemon("pools=main:2 log_file=log run_gate=go");
  ASSERT_TRUE(daemon.saw("run slot=", 2)) << daemon.story();
  daemon.signal(SIGUSR1);
  ASSERT_TRUE(daemon.logged("log.reopened")) << daemon.story();
  EXPECT_EQ(daemon.seen("usr1 slot="), 0U);
  daemon.open("go");
  EXPECT_TRUE(daemon.saw("usr1 slot=", 2)) << daemon.story();
  EXPECT_EQ(daemon.logs("worker.died"), 0U) << daemon.story();
}

TEST(AllotdLog, BeforeItIsOpenTheSignalDoesNothing) {
  Allotd daemon("log_file=log check_database_exit=69");
  ASSERT_TRUE(daemon.logged("database.away")) << daemon.story();
  daemon.signal(SIGUSR1);
  ASSERT_TRUE(daemon.logged("supervisor.signal signal=10")) << daemon.story();
  EXPECT_FALSE(fs::exists(daemon.folder() / "log"));
  daemon.set("check_database_exit", "0");
  EXPECT_TRUE(daemon.saw("ready slot=0")) << daemon.story();
  EXPECT_EQ(daemon.logs("log.reopened"), 0U);
}

TEST(AllotdLog, OneThatCannotBeOpenedIsKept) {
  Allotd daemon("log_file=log");
  ASSERT_TRUE(daemon.logged("worker.ready")) << daemon.story();
  fs::rename(daemon.folder() / "log", daemon.folder() / "log.1");
  fs::create_directory(daemon.folder() / "log");
  daemon.signal(SIGUSR1);
  EXPECT_TRUE(support::eventually([&] {
    return support::read_file(daemon.folder() / "log.1").find("log.not_opened") !=
           std::string::npos;
  })) << daemon.story();
  EXPECT_EQ(daemon.logs("log.reopened"), 0U);
  EXPECT_TRUE(daemon.saw("usr1 slot=0")) << "each keeps or opens its own";
}

TEST(AllotdLog, AReloadTakesTheNewName) {
  Allotd daemon("log_file=log");
  ASSERT_TRUE(daemon.saw("ready slot=0")) << daemon.story();
  daemon.set("log_file", "other");
  daemon.signal(SIGHUP);
  EXPECT_TRUE(support::eventually([&] {
    return support::read_file(daemon.folder() / "other").find("pool.reload") != std::string::npos;
  })) << daemon.story();
}

}  // namespace
}  // namespace allot::supervisor
