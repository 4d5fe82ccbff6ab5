// SPDX-License-Identifier: Apache-2.0
// Relations between the processes of a daemon: memory that a worker can write, and dependent ends.
// Rule: S72.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <csignal>
#include <sstream>

#include "base/unique_fd.h"
#include "db/migrate.h"
#include "e2e/daemon.h"
#include "ipc/slot.h"

namespace allot::e2e::process_test {
namespace {

using support::eventually;

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

// S23: a wild write in one worker's memory damages no other worker's slot.
TEST(Process, AWorkerCanWriteItsOwnSlotOnly) {
  Daemon daemon({.workers = 2});
  wait_ready(daemon, 2);
  for (const pid_t worker : daemon.workers()) {
    EXPECT_EQ(mapped(worker, "/slots", "rw-s"), sizeof(ipc::Slot)) << daemon.log();
  }
}

// Descriptors of a user's shell are not a slot, a board or a supervisor's death pipe.
TEST(Process, AWorkerThatIsStartedByHandUsesNoFileOfItsCaller) {
  const Daemon settings({.start = false});
  const support::TempDir files;
  const UniqueFd file(open(files.write("file", "mine").c_str(), O_RDWR | O_CLOEXEC));
  support::Process worker(
      {program("allot-worker"), "--run", "--config", settings.config_file()},
      {.descriptors = {{file.get(), 3}, {file.get(), 4}, {file.get(), 5}, {file.get(), 6}}});
  (void)settings.submit("test.write", "x");
  EXPECT_TRUE(eventually([&] { return !settings.written().empty() || !worker.running(); }));
  worker.signal(SIGTERM);
  EXPECT_EQ(worker.wait(), (support::ExitStatus{0, 0})) << worker.err();
  EXPECT_EQ(settings.written(), std::vector<std::string>{"x"}) << settings.log();
  EXPECT_EQ(support::read_file(files / "file"), "mine");
}

// S28
class Embedded : public testing::Test {
 protected:
  // A path may have spaces.
  [[nodiscard]] std::string data() const { return folder_ / "a db"; }
  [[nodiscard]] pid_t server() const {
    const std::string text = support::read_file(data() + "/pid");
    return text.empty() ? -1 : std::stoi(text);
  }
  [[nodiscard]] bool answers() const {
    try {
      db::ConnectOptions options;
      options.socket = data() + "/data/sock";
      options.user = "root";
      const db::Connection connection(options);
      return true;
    } catch (const db::DbError&) {
      return false;
    }
  }
  // Then it waits for its end, and announces that if a process waits for it.
  [[nodiscard]] bool has_schema() const {
    try {
      db::ConnectOptions options;
      options.socket = data() + "/data/sock";
      options.user = "root";
      options.database = "allot";
      db::Connection connection(options);
      db::require_schema(connection);
      return true;
    } catch (const Error&) {
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
  EXPECT_TRUE(eventually([&] { return support::gone(pid); }, std::chrono::seconds(60)));
}

// A user's shell may have its own files open under the numbers of the contract.
TEST_F(Embedded, StartedByHandItWritesIntoNoFileOfItsCaller) {
  const support::TempDir files;
  const UniqueFd seven(open((files / "seven").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  const UniqueFd four(open(files.write("four", "").c_str(), O_RDONLY | O_CLOEXEC));
  support::Process keeper({program("allot-embedded"), data()},
                          {.descriptors = {{four.get(), 4}, {seven.get(), 7}}});
  ASSERT_TRUE(
      eventually([&] { return has_schema() || !keeper.running(); }, std::chrono::seconds(60)))
      << keeper.err();
  EXPECT_TRUE(keeper.running()) << "took a file for the end of its supervisor";
  keeper.signal(SIGTERM);
  EXPECT_EQ(keeper.wait(std::chrono::seconds(60)), (support::ExitStatus{0, 0})) << keeper.err();
  EXPECT_EQ(support::read_file(files / "seven"), "");
}

// Every process that reaches the socket is root of the database.
TEST_F(Embedded, AFolderThatIsOpenToOthersIsRefused) {
  std::filesystem::create_directory(data());
  std::filesystem::permissions(data(), std::filesystem::perms(0755));
  const auto refused = support::run_program({program("allot-embedded"), data()});
  EXPECT_EQ(refused.status.code, kExitConfig);
  EXPECT_EQ(refused.err, "allot-embedded: [database] embedded = " + data() +
                             " is not safe: the folder " + data() +
                             " is open to other accounts (mode 0755); chmod 0700 " + data() +
                             ", or name another folder\n");
  EXPECT_TRUE(std::filesystem::is_empty(data()));
}

TEST_F(Embedded, TheServerIsInAFolderClosedToOthers) {
  support::Process keeper({program("allot-embedded"), data()});
  ASSERT_TRUE(eventually([&] { return answers(); }, std::chrono::seconds(60))) << keeper.err();
  for (const std::string& folder : {data(), data() + "/data"}) {
    EXPECT_EQ(std::filesystem::status(folder).permissions(), std::filesystem::perms(0700))
        << folder;
  }
  keeper.signal(SIGTERM);
  EXPECT_EQ(keeper.wait(std::chrono::seconds(60)), (support::ExitStatus{0, 0})) << keeper.err();
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
