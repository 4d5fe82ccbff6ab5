// SPDX-License-Identifier: Apache-2.0
// Rule: S21.
#include "supervisor/spawn.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string>
#include <vector>

#include "support/temp_dir.h"

namespace allot::supervisor {
namespace {

UniqueFd high_null() {
  return UniqueFd(high_fd(open("/dev/null", O_RDWR | O_CLOEXEC)));
}

// Starts the probe, and returns its report about itself.
std::string report_of(SpawnRequest request) {
  std::array<int, 2> ends{};
  EXPECT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  const UniqueFd read_end(high_fd(ends[0]));
  UniqueFd write_end(high_fd(ends[1]));
  const UniqueFd program(high_fd(open(ALLOT_SPAWN_PROBE, O_RDONLY | O_CLOEXEC)));
  request.program_fd = program.get();
  request.answer_fd = write_end.get();
  const pid_t pid = spawn(request);
  EXPECT_GT(pid, 0);
  EXPECT_EQ(getpgid(pid), pid) << "known to the parent when spawn returns";
  write_end.reset();
  std::string report;
  std::array<char, 256> part{};
  for (ssize_t size = 0; (size = read(read_end.get(), part.data(), part.size())) > 0;) {
    report.append(part.data(), static_cast<std::size_t>(size));
  }
  int status = 0;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0) << report;
  return report;
}

bool has_line(const std::string& report, const std::string& line) {
  return ("\n" + report).find("\n" + line + "\n") != std::string::npos;
}

TEST(Spawn, GivesTheDescriptorsOfTheContractAndNoOthers) {
  const UniqueFd null = high_null();
  const UniqueFd leaked(dup(null.get()));  // not close-on-exec
  const UniqueFd low(open("/dev/null", O_RDWR));
  SpawnRequest all;
  all.add({"probe"});
  all.slot_fd = all.death_fd = all.notify_fd = all.board_fd = all.lock_fd = null.get();
  EXPECT_TRUE(has_line(report_of(all), "fds 0 1 2 3 4 5 6 7 8")) << report_of(all);
  SpawnRequest some;
  some.add({"probe"});
  some.death_fd = null.get();
  EXPECT_TRUE(has_line(report_of(some), "fds 0 1 2 4 7")) << report_of(some);
}

TEST(Spawn, HandsOnTheArgumentsAndOptions) {
  Options options;
  options.config = "/etc/a file";
  SpawnRequest request;
  request.add({"allot-worker", "--run"});
  request.add_options(options);
  EXPECT_TRUE(has_line(report_of(request), "arguments allot-worker --run --config /etc/a file"));
  options.embedded = "/var/x";
  SpawnRequest both;
  both.add({"w"});
  both.add_options(options);
  EXPECT_TRUE(has_line(report_of(both), "arguments w --config /etc/a file --embedded /var/x"));
}

TEST(Spawn, AGroupOfItsOwnAndDefaultSignals) {
  sigset_t blocked;
  sigset_t before;
  sigemptyset(&blocked);
  for (const int number : {SIGTERM, SIGHUP, SIGCHLD, SIGRTMIN}) sigaddset(&blocked, number);
  ASSERT_EQ(sigprocmask(SIG_BLOCK, &blocked, &before), 0);
  const auto pipe_before = signal(SIGPIPE, SIG_IGN);
  const auto user_before = signal(SIGUSR1, SIG_IGN);
  SpawnRequest request;
  request.add({"probe"});
  const std::string report = report_of(request);
  signal(SIGPIPE, pipe_before);
  signal(SIGUSR1, user_before);
  sigprocmask(SIG_SETMASK, &before, nullptr);
  EXPECT_TRUE(has_line(report, "group own")) << report;
  EXPECT_TRUE(has_line(report, "SigBlk:\t0000000000000000")) << report;
  EXPECT_TRUE(has_line(report, "SigIgn:\t0000000000000000")) << report;
}

// Signals sent before it has handlers wait until it has.
TEST(Spawn, AWorkerKeepsTheSignalsBlockedThatItsSupervisorTakes) {
  const UniqueFd null = high_null();
  sigset_t blocked;
  sigset_t before;
  sigemptyset(&blocked);
  for (const int number : {SIGTERM, SIGHUP}) sigaddset(&blocked, number);
  ASSERT_EQ(sigprocmask(SIG_BLOCK, &blocked, &before), 0);
  SpawnRequest request;
  request.add({"probe"});
  request.notify_fd = null.get();
  const std::string report = report_of(request);
  sigprocmask(SIG_SETMASK, &before, nullptr);
  EXPECT_TRUE(has_line(report, "SigBlk:\t0000000000004001")) << report;
}

TEST(Spawn, DiesWithItsParentOnlyOnRequest) {
  SpawnRequest request;
  request.add({"probe"});
  EXPECT_TRUE(has_line(report_of(request), "death_signal 0"));
  request.dies_with_parent = true;
  EXPECT_TRUE(has_line(report_of(request), "death_signal " + std::to_string(SIGTERM)));
}

TEST(Spawn, SaysWhyAProgramCannotBeRun) {
  const support::TempDir dir;
  const UniqueFd text(high_fd(open(dir.write("text", "no program").c_str(), O_RDONLY)));
  SpawnRequest request;
  request.add({"text"});
  request.program_fd = text.get();
  testing::internal::CaptureStderr();
  const pid_t pid = spawn(request);
  int status = 0;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("program.not_started program=text error="),
            std::string::npos);
  EXPECT_EQ(WEXITSTATUS(status), 78);
}

TEST(HighFd, LeavesRoomForAChildsDescriptors) {
  const int low = open("/dev/null", O_RDONLY);
  const UniqueFd high(high_fd(low));
  EXPECT_GE(high.get(), kFirstOwnFd);
  EXPECT_EQ(fcntl(high.get(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  ASSERT_LT(low, kFirstOwnFd);
  EXPECT_EQ(fcntl(low, F_GETFD), -1) << "moved, not copied";
  EXPECT_EQ(high_fd(-1), -1);
}

TEST(OpenProgram, LooksInTheChosenFolderAndSaysWhatIsMissing) {
  const support::TempDir dir;
  (void)dir.write("tool", "");
  setenv("ALLOT_LIBEXEC", dir.path().c_str(), 1);
  EXPECT_TRUE(open_program("tool").valid());
  testing::internal::CaptureStderr();
  EXPECT_FALSE(open_program("other").valid());
  const std::string line = testing::internal::GetCapturedStderr();
  unsetenv("ALLOT_LIBEXEC");
  EXPECT_NE(line.find("program.missing path=" + (dir / "other")), std::string::npos) << line;
}

}  // namespace
}  // namespace allot::supervisor
