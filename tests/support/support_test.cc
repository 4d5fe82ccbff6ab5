// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "base/posix.h"
#include "base/unique_fd.h"
#include "support/database.h"
#include "support/eventually.h"
#include "support/process.h"
#include "support/small_disk.h"
#include "support/stepped_clock.h"

namespace allot::support {
namespace {

using std::chrono::milliseconds;

TEST(Eventually, StopsAtTheDeadline) {
  EXPECT_FALSE(eventually([] { return false; }, milliseconds(10)));
  int calls = 0;
  EXPECT_TRUE(eventually([&calls] { return ++calls == 3; }));
}

TEST(Process, GivesStatusAndOutput) {
  const Finished result = run_program({"sh", "-c", "cat; echo bad >&2; exit 7"}, {.input = "in"});
  EXPECT_EQ(result.status, (ExitStatus{7, 0}));
  EXPECT_EQ(result.out, "in");
  EXPECT_EQ(result.err, "bad\n");
}

TEST(Process, IsGoneOnlyWhenAllItsThreadsAre) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::thread([] {
      for (;;) ::pause();
    }).detach();
    ::syscall(SYS_exit, 0);  // exits this thread only
  }
  const auto is_zombie = [child] {
    return read_file("/proc/" + std::to_string(child) + "/stat").find(") Z ") != std::string::npos;
  };
  EXPECT_TRUE(eventually(is_zombie));
  EXPECT_FALSE(gone(child));
  send_signal(child, SIGKILL);
  EXPECT_TRUE(eventually([&] { return gone(child); }));
  EXPECT_EQ(::waitpid(child, nullptr, WNOHANG), child);
}

TEST(Process, SignalsReachOneProcess) {
  EXPECT_THROW(send_signal(0, 0), std::invalid_argument);
  EXPECT_THROW(send_signal(-1, 0), std::invalid_argument);
  EXPECT_EQ(send_signal(::getpid(), 0), 0);
}

TEST(Process, EnvironmentReplacesOurs) {
  const Finished result =
      run_program({"sh", "-c", "echo $HOME $EXTRA; pwd"},
                  {.environment = {"HOME=/nowhere", "EXTRA=1"}, .directory = "/usr"});
  EXPECT_EQ(result.out, "/nowhere 1\n/usr\n");
}

TEST(Process, PassesTheNamedDescriptorsAndNoOthers) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const UniqueFd read_end(ends[0]);
  const UniqueFd write_end(ends[1]);
  const Finished result =
      run_program({"sh", "-c", "echo hello >&9; ls /proc/self/fd | sort -n | tr '\\n' ' '"},
                  {.descriptors = {{write_end.get(), 9}}});
  char text[6] = {};
  ASSERT_EQ(::read(read_end.get(), text, 5), 5);
  EXPECT_STREQ(text, "hello");
  EXPECT_EQ(result.out, "0 1 2 3 9 ");  // 3 is the folder that ls reads
}

TEST(Process, IsKilledWithItsObject) {
  pid_t pid = 0;
  {
    Process process({"sleep", "1000"});
    pid = process.pid();
    EXPECT_TRUE(process.running());
    EXPECT_EQ(process.wait(milliseconds(5)), std::nullopt);
  }
  EXPECT_FALSE(alive(pid));
  Process process({"sleep", "1000"});
  process.signal(SIGTERM);
  EXPECT_EQ(process.wait(), (ExitStatus{-1, SIGTERM}));
}

TEST(Process, SaysWhatCannotBeStarted) {
  EXPECT_THROW(Process({"no-such-program"}), std::system_error);
  EXPECT_THROW(Process({"/etc/passwd"}), std::system_error);
}

TEST(Database, LeavesNothingBehindWhenItsTestDies) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  const pid_t child = ::fork();
  if (child == 0) {
    const Database server;
    const std::string answer = server.folder() + "\n" + std::to_string(server.pid()) + "\n";
    if (!write_all(write_end.get(), answer.data(), answer.size())) ::_exit(1);
    ::raise(SIGKILL);
  }
  write_end.reset();
  std::string answer;
  for (char c = 0; ::read(read_end.get(), &c, 1) == 1;) answer += c;
  ::waitpid(child, nullptr, 0);
  const std::size_t line = answer.find('\n');
  ASSERT_NE(line, std::string::npos);
  const std::string folder = answer.substr(0, line);
  const auto server = static_cast<pid_t>(std::stol(answer.substr(line + 1)));
  // A zombie in a container without a reaping init counts as ended.
  EXPECT_TRUE(eventually([&] { return gone(server); }));
  EXPECT_TRUE(eventually([&] { return !std::filesystem::exists(folder); })) << folder;
}

TEST(Database, KeepsWhatWasCommittedOverACrashAndGoesWithItsObject) {
  std::string folder;
  pid_t pid = 0;
  {
    Database server;
    folder = server.folder();
    const std::string name = server.make_empty_database();
    server.connect(name).execute("CREATE TABLE t (a INT) ENGINE=InnoDB; INSERT INTO t VALUES (7)");
    server.kill9();
    EXPECT_THROW(server.connect(), db::DbError);
    server.start();
    auto answer = server.connect(name).execute("SELECT a FROM t");
    EXPECT_EQ(answer.front().next()->u64(0), 7U);
    server.restart();
    EXPECT_NE(server.connect(name).id(), 0U);
    pid = server.pid();
  }
  EXPECT_FALSE(std::filesystem::exists(folder));
  EXPECT_FALSE(alive(pid));
}

TEST(SmallDisk, TwoAreThereSideBySide) {
  std::optional<SmallDisk> first(std::in_place, 1U << 20U);
  if (!first->trouble().empty()) GTEST_SKIP() << first->trouble();
  const SmallDisk second(1U << 20U);
  second.leave(0);
  EXPECT_TRUE(std::filesystem::exists(*first / ""));
  first.reset();  // does not wait for the second
  EXPECT_TRUE(std::filesystem::exists(second / "filler"));
}

TEST(SmallDisk, IsFilledDuringAWrite) {
  const SmallDisk disk(1U << 20U);
  if (!disk.trouble().empty()) GTEST_SKIP() << disk.trouble();
  const std::jthread writer([&disk](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      std::ofstream(disk / "log") << std::string(20'000, 'x');
      std::filesystem::remove(disk / "log");
    }
  });
  for (int i = 0; i < 2'000; ++i) {
    ASSERT_NO_THROW(disk.leave(0));
    ASSERT_NO_THROW(disk.leave(SIZE_MAX));
  }
}

TEST(Database, SaysThatItsServerEndedByItself) {
  const auto said_of = [](bool killed, bool asked) {
    testing::internal::CaptureStderr();
    {
      Database server;
      if (killed) {
        EXPECT_EQ(send_signal(server.pid(), SIGKILL), 0);
        EXPECT_TRUE(eventually([&] { return gone(server.pid()); }));
      }
      if (asked) server.kill9();
    }
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_NE(said_of(true, false).find("ended by itself"), std::string::npos);
  EXPECT_EQ(said_of(false, true), "");
  EXPECT_EQ(said_of(false, false), "");
}

TEST(Database, GoesByASteppedClock) {
  const SteppedClock clock;
  Database server({}, Network::kNone, clock.environment());
  auto db = server.connect();
  const auto ahead = [&db] {
    return std::stod(value_of(db, "SELECT UNIX_TIMESTAMP(NOW(6))")) -
           static_cast<double>(::time(nullptr));
  };
  EXPECT_NEAR(ahead(), 0, 10);
  auto other = server.connect();
  other.execute("DO GET_LOCK('held', 0)");
  for (const int seconds : {-3600, 3600, 20}) {
    clock.step_to(std::chrono::seconds(seconds));
    EXPECT_NEAR(ahead(), seconds, 10);
    // A wait lasts as long as requested.
    const auto began = std::chrono::steady_clock::now();
    EXPECT_EQ(value_of(db, "SELECT GET_LOCK('held', 1)"), "0");
    const auto waited = std::chrono::steady_clock::now() - began;
    EXPECT_GE(waited, milliseconds(900));
    EXPECT_LT(waited, milliseconds(10'000));
  }
}

}  // namespace
}  // namespace allot::support
