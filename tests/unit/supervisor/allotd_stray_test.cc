// SPDX-License-Identifier: Apache-2.0
// S22: processes started by handlers end with their worker, however they try to escape.
#include <gtest/gtest.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <optional>

#include "support/eventually.h"
#include "unit/supervisor/allotd.h"

namespace allot::supervisor {
namespace {

using support::ExitStatus;

// Makes worker 0 start a process; returns its pid.
pid_t start(Allotd& daemon, const std::string& kind) {
  EXPECT_TRUE(daemon.saw("ready slot=0")) << daemon.story();
  EXPECT_TRUE(daemon.tell(0, kind)) << daemon.story();
  const pid_t pid = daemon.pid_of(kind + " pid=");
  EXPECT_GT(pid, 1) << daemon.story();
  return pid;
}

// Stops a process at each system call that it begins. Ends with the test: the process then
// continues by itself.
class Traced {
 public:
  struct Call {
    std::uint64_t number;
    pid_t argument;  // the first one
  };

  explicit Traced(pid_t pid) : pid_(pid) {
    EXPECT_EQ(ptrace(PTRACE_SEIZE, pid_, nullptr, PTRACE_O_TRACESYSGOOD), 0)
        << "ptrace: " << std::strerror(errno);
    EXPECT_EQ(ptrace(PTRACE_INTERRUPT, pid_, nullptr, nullptr), 0);
    EXPECT_TRUE(stopped());
  }
  Traced(const Traced&) = delete;
  Traced& operator=(const Traced&) = delete;
  ~Traced() { ptrace(PTRACE_DETACH, pid_, nullptr, nullptr); }

  // Lets it run to the next call; nullopt: none came, or after more than any test needs.
  std::optional<Call> next() {
    while (left_-- > 0 && ptrace(PTRACE_SYSCALL, pid_, nullptr, nullptr) == 0 && stopped()) {
      __ptrace_syscall_info info{};
      ptrace(PTRACE_GET_SYSCALL_INFO, pid_, sizeof info, &info);
      if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
        return Call{info.entry.nr, static_cast<pid_t>(info.entry.args[0])};
      }
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] bool stopped() const {
    int status = 0;
    return support::eventually([&] { return waitpid(pid_, &status, WNOHANG) == pid_; }) &&
           WIFSTOPPED(status);
  }

  pid_t pid_;
  int left_ = 10'000;
};

TEST(AllotdStray, AChildEndsWithItsWorker) {
  Allotd daemon;
  const pid_t child = start(daemon, "child");
  ASSERT_TRUE(daemon.tell(0, "signal 9"));
  EXPECT_TRUE(ends(child)) << daemon.story();
}

TEST(AllotdStray, AChildInItsOwnSessionEndsWithItsWorker) {
  Allotd daemon;
  const pid_t child = start(daemon, "session");
  ASSERT_TRUE(daemon.tell(0, "signal 9"));
  EXPECT_TRUE(ends(child)) << daemon.story();
  EXPECT_TRUE(daemon.logged("stray.kill pid=" + std::to_string(child))) << daemon.story();
}

// After the reap, another group could have the number.
TEST(AllotdStray, AGroupIsKilledBeforeItsWorkerIsReaped) {
  Allotd daemon;
  ASSERT_TRUE(daemon.saw("ready slot=0")) << daemon.story();
  const pid_t worker = daemon.pid_of("ready slot=0");
  ASSERT_GT(worker, 1) << daemon.story();
  Traced supervisor(daemon.process().pid());
  ASSERT_EQ(support::send_signal(worker, SIGKILL), 0);
  bool killed = false;
  for (bool reaped = false; !reaped;) {
    const auto call = supervisor.next();
    ASSERT_TRUE(call.has_value()) << daemon.story();
    killed = killed || (call->number == SYS_kill && call->argument == -worker);
    reaped = call->number == SYS_wait4 && call->argument == worker;
  }
  EXPECT_TRUE(killed);
}

TEST(AllotdStray, SoDoItsChildren) {
  Allotd daemon;
  const pid_t parent = start(daemon, "family");
  std::vector<pid_t> children;
  ASSERT_TRUE(support::eventually([&] { return !(children = children_of(parent)).empty(); }));
  ASSERT_TRUE(support::eventually([&] { return getpgid(children[0]) == children[0]; }));
  ASSERT_TRUE(daemon.tell(0, "signal 9"));
  EXPECT_TRUE(ends(parent)) << daemon.story();
  EXPECT_TRUE(ends(children[0])) << daemon.story();
}

TEST(AllotdStray, AnOrphanOfALivingWorkerIsNotTakenForOneOfADeadOne) {
  Allotd daemon("pools=main:2");
  ASSERT_TRUE(daemon.saw("ready slot=1")) << daemon.story();
  const pid_t orphan = start(daemon, "orphan");
  ASSERT_TRUE(daemon.tell(1, "task"));
  ASSERT_TRUE(daemon.tell(1, "signal 9"));
  ASSERT_TRUE(daemon.saw("settle slot=1")) << daemon.story();
  ASSERT_TRUE(daemon.saw("ready slot=", 3)) << daemon.story();
  const char state = state_of(orphan);
  EXPECT_TRUE(state == 'S' || state == 'R') << state << daemon.story();
  ASSERT_TRUE(daemon.tell(0, "signal 9"));
  EXPECT_TRUE(ends(orphan)) << daemon.story();
}

TEST(AllotdStray, NoProcessOutlivesAStop) {
  Allotd daemon;
  const pid_t parent = start(daemon, "family");
  std::vector<pid_t> children;
  ASSERT_TRUE(support::eventually([&] { return !(children = children_of(parent)).empty(); }));
  ASSERT_TRUE(support::eventually([&] { return getpgid(children[0]) == children[0]; }));
  EXPECT_EQ(daemon.stop(), (ExitStatus{0, 0})) << daemon.story();
  EXPECT_EQ(state_of(parent), '\0');
  EXPECT_EQ(state_of(children[0]), '\0');
}

}  // namespace
}  // namespace allot::supervisor
