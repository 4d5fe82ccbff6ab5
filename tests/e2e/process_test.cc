// SPDX-License-Identifier: Apache-2.0
// What binds the processes of a daemon: what a worker can write, and whose end is whose.
#include <gtest/gtest.h>

#include <csignal>
#include <sstream>

#include "e2e/daemon.h"
#include "ipc/slot.h"

namespace allot::e2e::process_test {
namespace {

using support::eventually;

bool gone(pid_t pid) {
  const std::string stat = support::read_file("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t name = stat.rfind(')');
  return name == std::string::npos || stat.at(name + 2) == 'Z' || stat.at(name + 2) == 'X';
}

// How many bytes of `file` a process has mapped with these permissions.
std::size_t mapped(pid_t pid, const std::string& file, const std::string& permissions) {
  std::istringstream maps(support::read_file("/proc/" + std::to_string(pid) + "/maps"));
  std::size_t bytes = 0;
  for (std::string line; std::getline(maps, line);) {
    if (!line.ends_with(file) || line.find(" " + permissions + " ") == std::string::npos) continue;
    const std::size_t dash = line.find('-');
    bytes += std::stoul(line.substr(dash + 1), nullptr, 16) - std::stoul(line, nullptr, 16);
  }
  return bytes;
}

// S23: what goes wild in one worker's memory spoils no other worker's slot.
TEST(Process, AWorkerCanWriteItsOwnSlotOnly) {
  Daemon daemon({.workers = 2});
  wait_ready(daemon, 2);
  for (const pid_t worker : daemon.workers()) {
    EXPECT_EQ(mapped(worker, "/slots", "rw-s"), sizeof(ipc::Slot)) << daemon.log();
  }
}

// S28
class Embedded : public testing::Test {
 protected:
  [[nodiscard]] std::string data() const { return folder_ / "db"; }
  [[nodiscard]] pid_t server() const {
    const std::string text = support::read_file(folder_ / "db/pid");
    return text.empty() ? -1 : std::stoi(text);
  }
  [[nodiscard]] bool answers() const {
    try {
      db::ConnectOptions options;
      options.socket = folder_ / "db/sock";
      options.user = "root";
      const db::Connection connection(options);
      return true;
    } catch (const db::DbError&) {
      return false;
    }
  }

 private:
  support::TempDir folder_;
};

TEST_F(Embedded, TheServerEndsWithItsKeeper) {
  support::Process keeper({program("allot-embedded"), data()});
  ASSERT_TRUE(eventually([&] { return answers(); }, std::chrono::seconds(60))) << keeper.err();
  const pid_t pid = server();
  ASSERT_GT(pid, 0);
  keeper.kill9();
  EXPECT_TRUE(eventually([&] { return gone(pid); }, std::chrono::seconds(60)));
}

TEST_F(Embedded, AFolderHasOneKeeper) {
  support::Process keeper({program("allot-embedded"), data()});
  ASSERT_TRUE(eventually([&] { return answers(); }, std::chrono::seconds(60))) << keeper.err();
  const auto second = support::run_program({program("allot-embedded"), data()});
  EXPECT_NE(second.status.code, 0);
  EXPECT_NE(second.err.find("is in use by another allot-embedded"), std::string::npos)
      << second.err;
  keeper.signal(SIGTERM);
  EXPECT_EQ(keeper.wait(std::chrono::seconds(60)), (support::ExitStatus{0, 0})) << keeper.err();
}

}  // namespace
}  // namespace allot::e2e::process_test
