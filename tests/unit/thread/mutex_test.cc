// SPDX-License-Identifier: Apache-2.0
// Behaviour at run time; clang's compile-time checks are part of scripts/lint.
#include "thread/mutex.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace allot {
namespace {

class Counter {
 public:
  void add() ALLOT_EXCLUDES(mutex_) {
    const MutexLock held(mutex_);
    ++count_;
    changed_.notify_all();
  }

  int wait_until(int least) ALLOT_EXCLUDES(mutex_) {
    const MutexLock held(mutex_);
    while (count_ < least) changed_.wait(mutex_);
    return count_;
  }

  bool changes_before(CondVar::Deadline deadline) ALLOT_EXCLUDES(mutex_) {
    const MutexLock held(mutex_);
    const int before = count_;
    while (count_ == before) {
      if (!changed_.wait_until(mutex_, deadline)) return count_ != before;
    }
    return true;
  }

  // Another thread reaches the counter while this one, which holds the mutex, releases it
  // temporarily.
  int add_in_between() ALLOT_EXCLUDES(mutex_) {
    MutexLock held(mutex_);
    add_on_a_thread();
    held.unlock();
    std::thread(&Counter::add, this).join();
    held.lock();
    return count_;
  }

 private:
  void add_on_a_thread() ALLOT_REQUIRES(mutex_) {
    const MutexUnlock given_up(mutex_);
    std::thread(&Counter::add, this).join();
  }

  Mutex mutex_;
  CondVar changed_;
  int count_ ALLOT_GUARDED_BY(mutex_) = 0;
};

TEST(MutexTest, OneThreadAtATimeHoldsIt) {
  Counter counter;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&counter] {
      for (int n = 0; n < 1000; ++n) counter.add();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counter.wait_until(4000), 4000);
}

TEST(MutexTest, IsFreeWhileItIsGivenUpAndHeldAgainBehind) {
  Counter counter;
  EXPECT_EQ(counter.add_in_between(), 2);
}

TEST(CondVarTest, AWaitEndsAtItsDeadline) {
  Counter counter;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
  EXPECT_FALSE(counter.changes_before(deadline));
  EXPECT_GE(std::chrono::steady_clock::now(), deadline);
  counter.add();  // the mutex is free afterwards
}

TEST(CondVarTest, AWaitEndsWithTheChange) {
  Counter counter;
  for (int n = 1; n <= 100; ++n) {
    std::thread other(&Counter::add, &counter);
    EXPECT_EQ(counter.wait_until(n), n);
    other.join();
  }
}

}  // namespace
}  // namespace allot
