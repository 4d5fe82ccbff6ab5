// SPDX-License-Identifier: Apache-2.0
// Rules: S65, S72.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <set>

#include "db/connection.h"
#include "e2e/daemon.h"

namespace allot::e2e::basic_test {
namespace {

using support::eventually;

TEST(Basic, RunsEveryTaskExactlyOnce) {
  Daemon daemon({.workers = 4});
  const auto payloads = numbered(5'000, "task-");
  daemon.submit_many("test.write", payloads);
  ASSERT_TRUE(daemon.drains());
  const auto written = daemon.written();
  const std::set<std::string> distinct(written.begin(), written.end());
  EXPECT_EQ(written.size(), payloads.size());
  EXPECT_EQ(distinct, std::set<std::string>(payloads.begin(), payloads.end()));
  EXPECT_EQ(daemon.count("task_dead"), 0U);
  EXPECT_EQ(daemon.stop(), (support::ExitStatus{0, 0})) << daemon.log();
}

TEST(Basic, OneTaskStartsSoonOnAnIdleDaemon) {
  Daemon daemon;
  ASSERT_TRUE(eventually([&] { return daemon.logged("worker.ready"); }));
  const auto id = daemon.submit("test.write", "one");
  ASSERT_TRUE(eventually([&] { return daemon.written() == std::vector<std::string>{"one"}; }));
  ASSERT_TRUE(eventually([&] { return daemon.drained(); }));
  EXPECT_TRUE(daemon.task(id).is_null()) << "a finished task leaves nothing behind";
}

TEST(Basic, RetriesUntilTheLastAttemptThenBuries) {
  Daemon daemon({.queue_keys = "max_attempts = 3"});
  const auto id = daemon.submit("test.retry", "never works");
  ASSERT_TRUE(eventually([&] { return daemon.count("task_dead") == 1; })) << daemon.log();
  const auto task = daemon.task(id);
  EXPECT_EQ(task["attempts"].size(), 3U) << task;
  EXPECT_EQ(daemon.count("task"), 0U);
  EXPECT_EQ(daemon.count("task_moved"), 0U);
}

TEST(Basic, FailIsFinal) {
  Daemon daemon;
  const auto id = daemon.submit("test.fail", "no");
  ASSERT_TRUE(eventually([&] { return daemon.count("task_dead") == 1; })) << daemon.log();
  EXPECT_EQ(daemon.task(id)["attempts"].size(), 1U) << daemon.task(id);
}

TEST(Basic, AnExceptionIsARetryWithItsMessage) {
  Daemon daemon({.queue_keys = "max_attempts = 2"});
  const auto id = daemon.submit("test.throw", "kaboom");
  ASSERT_TRUE(eventually([&] { return daemon.count("task_dead") == 1; })) << daemon.log();
  const auto task = daemon.task(id);
  ASSERT_EQ(task["attempts"].size(), 2U) << "a dead task shows all of them: " << task;
  for (const auto& attempt : task["attempts"]) {
    EXPECT_EQ(attempt["cause"], "exception") << task;
    EXPECT_EQ(attempt["error"], "std::runtime_error: kaboom") << task;
  }
}

TEST(Basic, ATypesOwnRetriesGoBeforeItsQueues) {
  Daemon daemon({.queue_keys = "max_attempts = 1",
                 .more = "[types.\"test.retry\"]\nmax_attempts = 3\nretry_delays = [\"10ms\"]\n"});
  const auto own = daemon.submit("test.retry", "again");
  const auto other = daemon.submit("test.throw", "kaboom");
  ASSERT_TRUE(eventually([&] { return daemon.count("task_dead") == 2; })) << daemon.log();
  EXPECT_EQ(daemon.task(own)["attempts"].size(), 3U) << daemon.task(own);
  EXPECT_EQ(daemon.task(own)["attempts"][0]["cause"], "retry");
  EXPECT_EQ(daemon.times_logged("retry_in_ms=10 "), 2U) << daemon.log();
  EXPECT_EQ(daemon.task(other)["attempts"].size(), 1U) << daemon.task(other);
}

TEST(Basic, ASnoozeAndAReleaseChargeNothing) {
  Daemon daemon({.workers = 1, .queue_keys = "max_attempts = 1"});
  const auto snoozed = daemon.submit("test.snooze", "50");
  const auto released = daemon.submit("test.release", "fail");
  ASSERT_TRUE(eventually([&] { return daemon.drained() && daemon.count("task_dead") == 1; }))
      << daemon.log();
  EXPECT_TRUE(daemon.logged("task.snoozed task=" + snoozed)) << daemon.log();
  EXPECT_TRUE(daemon.logged("task.released task=" + released)) << daemon.log();
  const auto task = daemon.task(released);
  EXPECT_EQ(task["error"], "attempt 1") << task;
  EXPECT_EQ(task["attempts"].size(), 1U) << task;
  EXPECT_EQ(daemon.count("task_moved"), 0U);
}

TEST(Basic, ATypeWithoutAHandlerWaitsAndDoesNotBlockItsNeighbours) {
  Daemon daemon({.queue_keys = "partitions = 1"});
  const auto id = daemon.submit("unknown.type", "x");
  daemon.submit_many("test.write", {"a", "b", "c"});
  ASSERT_TRUE(eventually([&] { return daemon.written().size() == 3; })) << daemon.log();
  EXPECT_TRUE(eventually([&] {
    return daemon.logged("task.no_handler task=" + id +
                         " type=unknown.type queue=default "
                         "partition=0 tasks=1");
  })) << daemon.log();
  EXPECT_TRUE(eventually([&] { return daemon.count("task") == 1; })) << daemon.log();
  const auto task = daemon.task(id);
  EXPECT_TRUE(task["attempts"].empty()) << task;
}

TEST(Basic, BytesOfAPayloadReachTheHandlerUnchanged) {
  Daemon daemon;
  std::string payload;
  for (int c = 1; c < 256; ++c) {
    if (c != '\n') payload += static_cast<char>(c);
  }
  const auto done = daemon.allot({"submit", "default", "test.write", "-"}, payload);
  ASSERT_EQ(done.status.code, 0) << done.err;
  ASSERT_TRUE(eventually([&] { return daemon.written().size() == 1; })) << daemon.log();
  EXPECT_EQ(daemon.written().front(), payload);
}

TEST(Basic, LargePayloadsAreFetchedSingly) {
  Daemon daemon({.queue_keys = "partitions = 1\nblock_size = 10"});
  std::vector<std::string> payloads;
  for (int i = 0; i < 30; ++i) payloads.emplace_back(100'000, static_cast<char>('a' + i % 26));
  daemon.submit_many("test.write", payloads);
  ASSERT_TRUE(eventually([&] { return daemon.drained(); })) << daemon.log();
  auto written = daemon.written();
  std::sort(written.begin(), written.end());
  std::sort(payloads.begin(), payloads.end());
  EXPECT_EQ(written, payloads);
}

TEST(Basic, TheLeaseIsRenewedUnderALongTask) {
  Daemon daemon({.workers = 2, .daemon_keys = "lease_ttl = \"6s\""});
  (void)daemon.submit("test.gate", "success " + daemon.gate());
  ASSERT_TRUE(eventually([&] { return daemon.times_logged("lease.renewed") >= 4; },
                         std::chrono::seconds(30)))
      << daemon.log();
  daemon.open_gate();
  ASSERT_TRUE(eventually([&] { return daemon.drained(); }));
  EXPECT_FALSE(daemon.logged("lease.takeover"));
  EXPECT_FALSE(daemon.logged("lease.lost"));
}

TEST(Basic, TheEmbeddedDatabaseIsTheSameCodePath) {
  const support::TempDir folder;
  const std::string config = folder.write(
      "allot.toml", "[database]\nembedded = \"" + folder / "db" + "\"\n[plugins]\nfolder = \"" +
                        probe_folder() + "\"\n[plugins.probe]\noutput = \"" + folder / "written" +
                        "\"\n");
  support::Process daemon({program("allotd"), "--config", config});
  ASSERT_TRUE(eventually([&] { return daemon.err().find("worker.ready") != std::string::npos; },
                         std::chrono::seconds(60)))
      << daemon.err();
  const auto done = support::run_program(
      {program("allot"), "--config", config, "submit", "default", "test.write", "hi"});
  ASSERT_EQ(done.status.code, 0) << done.err;
  ASSERT_TRUE(eventually([&] { return support::read_file(folder / "written") == "hi\n"; }))
      << daemon.err();
  db::ConnectOptions options;
  options.socket = folder / "db/data/sock";
  options.user = "root";
  // In another folder, the starts of other servers would remove its temporary tables.
  auto scratch = db::Connection(options).execute("SELECT @@tmpdir");
  EXPECT_EQ(scratch.front().next()->text(0), folder / "db/tmp");
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.wait(std::chrono::seconds(60)), (support::ExitStatus{0, 0})) << daemon.err();
}

// One line names the mistake, its place and the fix, and nothing was created there.
void expect_refused(const std::string& config, const std::string& why) {
  const auto refused = support::run_program({program("allotd"), "--config", config});
  EXPECT_EQ(refused.status.code, kExitConfig);
  EXPECT_NE(refused.err.find("worker.failed code=78 error=\"" + why + "\""), std::string::npos)
      << refused.err;
}

TEST(Basic, AnEmbeddedDatabaseThatIsOpenToOthersIsRefused) {
  const support::TempDir folder;
  const std::string db = folder / "db";
  std::filesystem::create_directory(db);
  std::filesystem::permissions(db, std::filesystem::perms(0755));
  expect_refused(
      folder.write("allot.toml", "[database]\nembedded = \"" + db + "\"\n[plugins]\nfolder = \"" +
                                     probe_folder() + "\"\n"),
      "[database] embedded = " + db + " is not safe: the folder " + db +
          " is open to other accounts (mode 0755); chmod 0700 " + db + ", or name another folder");
  EXPECT_TRUE(std::filesystem::is_empty(db));
}

TEST(Basic, ARuntimeFolderThatOthersMayChangeIsRefused) {
  const Daemon settings({.start = false});
  const std::string run = settings.folder() + "/run";
  const std::string begin = "[daemon] runtime_dir = " + run + " is not safe: ";
  std::filesystem::create_directory(run);
  std::filesystem::permissions(run, std::filesystem::perms(0777));
  expect_refused(settings.config_file(), begin + "every account may put files into the folder " +
                                             run + "; chmod o-w " + run +
                                             ", or name another folder");
  EXPECT_TRUE(std::filesystem::is_empty(run));
  std::filesystem::rename(run, settings.folder() + "/there");
  std::filesystem::create_directory_symlink(settings.folder() + "/there", run);
  expect_refused(settings.config_file(),
                 begin + run + " is a link; name the folder itself, or name another folder");
}

}  // namespace
}  // namespace allot::e2e::basic_test
