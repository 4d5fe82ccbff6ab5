// SPDX-License-Identifier: Apache-2.0
// The steward's loop: its chores run in time, and a signal ends its sleep.
#include "steward/loop.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>

#include "ipc/slot.h"
#include "peer/doorbell.h"
#include "peer/steward_board.h"
#include "support/eventually.h"
#include "support/process.h"
#include "worker/process/stop_request.h"

namespace allot::steward {
namespace {

template <typename T>
T* shared() {
  return static_cast<T*>(
      mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
}

// Counts its runs in memory that both processes see.
class Counted : public Chore {
 public:
  Counted(std::atomic<std::uint64_t>& looks, Nanos every) : looks_(looks), every_(every) {}
  void look() override {
    if (boot_ns() < next_ns_) return;
    next_ns_ = boot_ns() + every_;
    ++looks_;
  }
  [[nodiscard]] Nanos next_ns() const override { return next_ns_; }

 private:
  std::atomic<std::uint64_t>& looks_;
  Nanos every_;
  Nanos next_ns_ = 0;
};

// Its signal handlers affect a whole process, so the loop runs in a child.
class LoopProcess {
 public:
  explicit LoopProcess(Nanos often) : board_(shared<ipc::Board>()), slot_(shared<ipc::Slot>()) {
    pid_ = fork();
    if (pid_ != 0) return;
    worker::SlotWriter writer(*slot_, -1);
    worker::install_stop_signals(peer::steward_part(*board_));
    Counted first(slot_->tasks_done, often);
    Counted second(slot_->tasks_dead, 3600 * kSecond);
    attend({&first, &second}, writer, peer::steward_part(*board_));
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
  [[nodiscard]] bool sleeps() const { return peer::steward_part(*board_).waiters.load() == 1; }
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

}  // namespace
}  // namespace allot::steward
