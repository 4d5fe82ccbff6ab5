// SPDX-License-Identifier: Apache-2.0
// The steward's loop: its chores run in time, and a signal ends its sleep.
#include "steward/loop.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <functional>
#include <memory>

#include "base/error.h"
#include "ipc/slot.h"
#include "peer/doorbell.h"
#include "process/stop_request.h"
#include "support/eventually.h"
#include "support/process.h"

namespace allot::steward {
namespace {

template <typename T>
T* shared() {
  return static_cast<T*>(
      mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
}

// Counts its runs in memory that both processes see.
Chore counted(std::atomic<std::uint64_t>& runs, Nanos every) {
  const auto run = [&runs](bool /*fresh*/) {
    ++runs;
    return kDone;
  };
  return {.name = "counted", .every = every, .run_once = run};
}

// Its signal handlers affect a whole process, so the loop runs in a child.
class LoopProcess {
 public:
  explicit LoopProcess(Nanos often) : board_(shared<ipc::Board>()), slot_(shared<ipc::Slot>()) {
    pid_ = fork();
    if (pid_ != 0) return;
    process::SlotWriter writer(*slot_, -1);
    process::install_stop_signals(board_->steward.bell);
    process::Session session({}, writer, std::chrono::milliseconds(0));
    Leadership leadership(session, {});
    Loop loop(leadership, writer);
    loop.add(counted(slot_->tasks_done, often));
    loop.add(counted(slot_->tasks_dead, 3600 * kSecond));
    loop.attend(board_->steward.bell);
    _exit(0);
  }
  ~LoopProcess() {
    support::send_signal(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  LoopProcess(const LoopProcess&) = delete;
  LoopProcess& operator=(const LoopProcess&) = delete;

  [[nodiscard]] std::uint64_t often() const { return slot_->tasks_done; }
  [[nodiscard]] std::uint64_t seldom() const { return slot_->tasks_dead; }
  [[nodiscard]] bool sleeps() const { return board_->steward.bell.waiters.load() == 1; }
  void signal(int number) const { support::send_signal(pid_, number); }
  [[nodiscard]] bool ends() const {
    return support::eventually([this] { return waitpid(pid_, nullptr, WNOHANG) == pid_; },
                               std::chrono::seconds(5));
  }

 private:
  ipc::Board* board_;
  ipc::Slot* slot_;
  pid_t pid_;
};

TEST(StewardLoop, EachChoreComesWhenItIsDue) {
  const LoopProcess loop(5 * kMilli);
  EXPECT_TRUE(support::eventually([&] { return loop.often() > 20; }));
  EXPECT_EQ(loop.seldom(), 1U) << "the first time at once";
}

TEST(StewardLoop, ASignalEndsItsSleep) {
  for (const int number : {SIGTERM, SIGHUP}) {
    const LoopProcess loop(3600 * kSecond);
    ASSERT_TRUE(support::eventually([&] { return loop.sleeps(); }));
    loop.signal(number);
    EXPECT_TRUE(loop.ends()) << number;
    EXPECT_EQ(loop.often(), 1U);
  }
}

// Chores of this process, which no duty needs.
class LoopTest : public ::testing::Test {
 protected:
  // Adds a chore that answers with this, and counts its steps.
  void add(const std::function<Again()>& answer) {
    const auto run = [this, answer](bool fresh) {
      ++steps_;
      fresh_ += fresh ? 1 : 0;
      return answer();
    };
    loop_.add({.name = "test", .every = 3600 * kSecond, .run_once = run});
  }
  [[nodiscard]] Nanos next_ns() const { return loop_.chores().front().next_ns; }

  std::unique_ptr<ipc::Slot> slot_ = std::make_unique<ipc::Slot>();
  process::SlotWriter writer_{*slot_, -1};
  process::Session session_{{}, writer_, std::chrono::milliseconds(0)};
  Leadership leadership_{session_, {}};
  Loop loop_{leadership_, writer_};
  std::size_t steps_ = 0;
  std::size_t fresh_ = 0;
};

TEST_F(LoopTest, AChoreWithMoreToDoPausesForTheOthers) {
  add([] { return kMore; });
  const Nanos began = boot_ns();
  loop_.round();
  EXPECT_LT(boot_ns() - began, kSecond);
  EXPECT_GT(steps_, 1U);
  EXPECT_EQ(fresh_, 1U) << "the next step continues the run";
  EXPECT_GT(next_ns(), boot_ns());
  EXPECT_LT(next_ns(), boot_ns() + kSecond);
}

TEST_F(LoopTest, AFailedRunBeginsAgainLater) {
  add([this]() -> Again {
    if (steps_ > 1) throw Error("no right");
    return kMilli;
  });
  loop_.round();
  EXPECT_LT(next_ns(), boot_ns() + kSecond);
  EXPECT_TRUE(support::eventually([&] {
    loop_.round();
    return steps_ == 2;
  }));
  EXPECT_EQ(fresh_, 1U);
  EXPECT_GT(next_ns(), boot_ns() + kSecond);
  loop_.finish();
  EXPECT_EQ(steps_, 2U) << "not a chore of a drain";
}

}  // namespace
}  // namespace allot::steward
