// SPDX-License-Identifier: Apache-2.0
// Commands that write too much, take too long, or leave processes behind.
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <sstream>
#include <thread>

#include "support/eventually.h"
#include "support/process.h"
#include "unit/plugins/exec_fixture.h"

namespace allot {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using support::eventually;

class ExecEndlessTest : public ExecTest {
 protected:
  // True if the process whose number the script wrote to the file "pid" has ended. Its new parent
  // may take time to reap it.
  [[nodiscard]] bool gone() const {
    const std::string pid = file("pid");
    if (pid.empty()) return false;
    const std::string status =
        support::read_file("/proc/" + std::to_string(std::stoi(pid)) + "/status");
    return status.empty() || status.find("\nState:\tZ") != std::string::npos;
  }
  [[nodiscard]] std::string write_pid(const std::string& number = "$$") const {
    return "echo " + number + " > " + (folder_ / "pid.new") + "; mv " + (folder_ / "pid.new") +
           " " + (folder_ / "pid") + "; ";
  }
  // Uses the process of write_pid().
  [[nodiscard]] std::uint64_t bytes_written() const {
    std::istringstream counters(
        support::read_file("/proc/" + std::to_string(std::stoi(file("pid"))) + "/io"));
    std::string name;
    std::uint64_t bytes = 0;
    while (counters >> name >> bytes && name != "wchar:") {
    }
    return name == "wchar:" ? bytes : 0;
  }

  // A stop is requested only after the script has written the number.
  template <typename Act>
  test::Ran run_and(const std::string& script, Act act, test::Settings more = {}) {
    if (more.find("stop_grace") == more.end()) more.emplace("stop_grace", "0s");
    test::Handler handler("t", settings(script, more));
    std::thread other([&] {
      EXPECT_TRUE(eventually([this] { return !file("pid").empty(); }));
      act(handler);
    });
    auto ran = handler.run("");
    other.join();
    return ran;
  }
};

TEST_F(ExecEndlessTest, TheLastOfALongErrorIsKept) {
  const auto outcome = run("seq 1 100000 >&2; echo last >&2; exit 1").outcome;
  EXPECT_EQ(outcome.reason, "exit code 1");
  EXPECT_EQ(outcome.detail.size(), 65535U) << "64 KiB but for the line break at the end";
  EXPECT_EQ(outcome.detail.substr(outcome.detail.size() - 12), "\n100000\nlast");
}

TEST_F(ExecEndlessTest, ACharacterIsNotCutInTwo) {
  const auto detail =
      run("yes \xc3\xa4\xc3\xa4\xc3\xa4 | tr -d '\\n' | head -c 200000 >&2; exit 1").outcome.detail;
  EXPECT_GE(detail.size(), 65533U);
  EXPECT_EQ(static_cast<unsigned char>(detail.front()), 0xc3U);
}

TEST_F(ExecEndlessTest, OneThatWritesWithoutEndNeitherBlocksNorFillsMemory) {
  rusage before = {};
  ::getrusage(RUSAGE_SELF, &before);
  const auto ran =
      run_and(write_pid() + "exec yes 0123456789012345678901234567890123456789 >&2",
              [this](test::Handler& handler) {
                EXPECT_TRUE(eventually([this] { return bytes_written() > 200'000'000; }));
                handler.request_stop();
              });
  rusage after = {};
  ::getrusage(RUSAGE_SELF, &after);
  EXPECT_EQ(ran.outcome.kind, ALLOT_RETRY);
  EXPECT_EQ(ran.outcome.reason.rfind("it was asked to stop; signal 15 (Terminated)\n", 0), 0U)
      << ran.outcome.reason.substr(0, 100);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 20'000) << "KiB";
  EXPECT_GT(ran.heartbeats, 0) << "an output is progress";
  EXPECT_TRUE(gone());
}

TEST_F(ExecEndlessTest, AnUnreadStandardOutputDoesNotBlock) {
  EXPECT_EQ(run("head -c 10000000 /dev/zero").outcome, success());
}

TEST_F(ExecEndlessTest, AStopIsPassedOnAsTerm) {
  const auto ran = run_and(
      "trap 'echo cleaned up >&2; exit 0' TERM; " + write_pid() + "while :; do sleep 0.01; done",
      [](test::Handler& handler) { handler.request_stop(); });
  // Not a success, because it is unknown whether a program that was asked to stop succeeded.
  EXPECT_EQ(ran.outcome.kind, ALLOT_RETRY);
  EXPECT_EQ(ran.outcome.delay, milliseconds(0));
  const std::string reason = ran.outcome.reason;  // the shell may mention its sleep
  EXPECT_EQ(reason.rfind("it was asked to stop; exit code 0\n", 0), 0U) << reason;
  EXPECT_NE(reason.find("cleaned up"), std::string::npos) << reason;
}

TEST_F(ExecEndlessTest, AStopLeavesItTimeToEnd) {
  const auto ran =
      run_and(write_pid() + "sleep 0.5; echo ended >" + folder_ / "end",
              [](test::Handler& handler) { handler.request_stop(); }, {{"stop_grace", "1h"}});
  EXPECT_EQ(ran.outcome, success());
  EXPECT_EQ(file("end"), "ended\n");
}

TEST_F(ExecEndlessTest, TheTasksTimeEndsItAlsoDuringThatGrace) {
  const auto ran = run("sleep 600", {{"stop_grace", "1h"}}, {.time_left = milliseconds(300)});
  EXPECT_EQ(ran.outcome.reason, "it was asked to stop; signal 15 (Terminated)");
}

TEST_F(ExecEndlessTest, OneThatIgnoresTermIsKilled) {
  const auto ran =
      run_and("trap '' TERM; " + write_pid() + "while :; do sleep 0.01; done",
              [](test::Handler& handler) { handler.request_stop(); }, {{"kill_after", "100ms"}});
  EXPECT_EQ(ran.outcome, retry("it was asked to stop; signal 9 (Killed)", milliseconds(0)));
  EXPECT_TRUE(gone());
}

TEST_F(ExecEndlessTest, AnotherIsNotStartedOnceAStopIsRequested) {
  test::Handler handler("t", settings(write_pid()));
  handler.request_stop();
  EXPECT_EQ(handler.run("").outcome, retry("it was asked to stop", milliseconds(0)));
  EXPECT_EQ(file("pid"), "");
}

TEST_F(ExecEndlessTest, ItsOwnTimeoutIsARetryByThePolicy) {
  EXPECT_EQ(run("sleep 600", {{"timeout", "200ms"}}).outcome,
            retry("its timeout expired; signal 15 (Terminated)"));
  EXPECT_EQ(run("true", {{"timeout", "1h"}}).outcome, success());
}

// When the task's time is over, the pauses grow; otherwise it would be retried endlessly.
TEST_F(ExecEndlessTest, TheTasksTimeIsARetryByThePolicy) {
  const auto ran = run("sleep 600", {}, {.time_left = milliseconds(300)});
  EXPECT_EQ(ran.outcome, retry("it was asked to stop; signal 15 (Terminated)"));
}

TEST_F(ExecEndlessTest, ItsWholeGroupIsEnded) {
  // TERM reaches the whole group.
  const auto ran = run_and("sleep 600 & " + write_pid("$!") + "wait",
                           [](test::Handler& handler) { handler.request_stop(); });
  EXPECT_EQ(ran.outcome.kind, ALLOT_RETRY);
  EXPECT_TRUE(eventually([this] { return gone(); }));
}

// The task is done when the command is done, whichever process keeps its outputs open.
TEST_F(ExecEndlessTest, LeftoverProcessIsKilled) {
  EXPECT_EQ(run("sleep 600 & " + write_pid("$!") + "echo said >&2").log, "info said\n");
  EXPECT_TRUE(eventually([this] { return gone(); }));
}

TEST_F(ExecEndlessTest, OneThatLeftTheGroupIsNotWaitedForEither) {
  EXPECT_EQ(run("setsid sleep 600 & " + write_pid("$!") + "exit 0").outcome, success());
  ASSERT_TRUE(eventually([this] { return !file("pid").empty(); }));
  support::send_signal(std::stoi(file("pid")), SIGKILL);  // the supervisor's work
}

TEST_F(ExecEndlessTest, NoZombieAndNoDescriptorIsLeft) {
  const auto descriptors = [] {
    int open = 0;
    for (int fd = 0; fd < 256; ++fd) open += ::fcntl(fd, F_GETFD) >= 0 ? 1 : 0;
    return open;
  };
  const int before = descriptors();
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(run("exit 0").outcome, success());
    EXPECT_EQ(run("kill -KILL $$").outcome.kind, ALLOT_RETRY);
    EXPECT_EQ(run("x", {{"directory", "/nonexistent"}}).outcome.kind, ALLOT_NOT_STARTED);
  }
  EXPECT_EQ(descriptors(), before);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

// When a worker is killed, all of its processes end.
TEST_F(ExecEndlessTest, ItDiesWithItsWorker) {
  const pid_t worker = ::fork();
  if (worker == 0) {
    (void)run(write_pid() + "exec sleep 600");
    ::_exit(0);
  }
  ASSERT_TRUE(eventually([this] { return !file("pid").empty(); }));
  support::send_signal(worker, SIGKILL);
  ::waitpid(worker, nullptr, 0);
  EXPECT_TRUE(eventually([this] { return gone(); }));
}

TEST_F(ExecEndlessTest, AnIgnoredSigchldIsNotASuccess) {
  const auto before = ::signal(SIGCHLD, SIG_IGN);
  const auto outcome = run("exit 0").outcome;
  ::signal(SIGCHLD, before);
  EXPECT_EQ(outcome, retry("its exit status is unknown"));
}

}  // namespace
}  // namespace allot
