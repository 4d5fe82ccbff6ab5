// SPDX-License-Identifier: Apache-2.0
// Two daemons that run at the same time and have all names in common: host, machine id, instance
// and the path of the runtime folder. Neither mistakes the other for its own former run (S11).
#include <gtest/gtest.h>

#include <filesystem>

#include "e2e/daemon.h"

namespace allot::e2e::twin_test {
namespace {

using support::eventually;
using Words = std::vector<std::string>;

// Its single worker serves two queues. Processes that outlive allotd end soon.
DaemonOptions options() {
  return {.workers = 1,
          .queue_keys = "partitions = 1",
          .daemon_keys = "stop_timeout = \"1s\"",
          .more = "[queues.open]\n",
          .start = false};
}

Words command(const Daemon& daemon) {
  return {program("allotd"), "--config", daemon.config_file()};
}

// The second one works, and the task of the first one continues as if it were alone.
void expect_untouched(const Daemon& daemon) {
  ASSERT_TRUE(eventually([&] { return daemon.ready_workers().size() == 2; })) << daemon.log();
  ASSERT_EQ(daemon.allot({"submit", "open", "test.write", "y"}).status.code, 0);
  EXPECT_TRUE(eventually([&] { return daemon.written().size() == 2; })) << daemon.log();
  EXPECT_EQ(daemon.written(), (Words{"x attempt 1", "y"})) << daemon.log();
  EXPECT_EQ(daemon.count("task_attempt"), 0U) << daemon.log();
  EXPECT_FALSE(daemon.logged("lease.reclaimed")) << daemon.log();
}

TEST(Twin, DeletedFolderAllowsASecondDaemon) {
  Daemon daemon(options());
  const support::Process first(command(daemon));
  (void)daemon.submit("test.hang_once", "x");
  ASSERT_TRUE(eventually([&] { return daemon.written() == Words{"x attempt 1"}; })) << daemon.log();
  const auto mode = std::filesystem::status(daemon.folder() + "/run").permissions();
  EXPECT_EQ(static_cast<unsigned>(mode), 0750U);
  std::filesystem::remove_all(daemon.folder() + "/run");
  const support::Process second(command(daemon));
  expect_untouched(daemon);
}

// Like containers of one image that use the host's network.
TEST(Twin, EachWithAFolderOfItsOwnBehindOnePath) {
  const auto possible = support::run_program({"unshare", "--mount", "true"});
  if (possible.status.code != 0) GTEST_SKIP() << "no mount namespace here: " << possible.err;
  Daemon daemon(options());
  std::filesystem::create_directory(daemon.folder() + "/run");
  Words apart{"unshare",
              "--mount",
              "sh",
              "-c",
              "mount -t tmpfs -o mode=0750 none " + daemon.folder() + "/run && exec \"$@\"",
              "sh"};
  for (const std::string& word : command(daemon)) apart.push_back(word);
  const support::Process first(apart);
  (void)daemon.submit("test.hang_once", "x");
  ASSERT_TRUE(eventually([&] { return daemon.written() == Words{"x attempt 1"}; })) << daemon.log();
  const support::Process second(apart);
  expect_untouched(daemon);
}

}  // namespace
}  // namespace allot::e2e::twin_test
