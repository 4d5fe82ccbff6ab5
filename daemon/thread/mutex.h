// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

// A mutex whose rules the compiler knows: what it guards, and which functions require it. clang
// checks them without running anything (scripts/lint), on every path, where ThreadSanitizer sees
// only what a test happened to do. For g++ the attributes are empty.
//
// Use it instead of <mutex> in all code with threads. The supervisor and its libraries (base, ipc)
// have no threads, and allot/testing.hpp, which plugins are compiled with, cannot include it.
//
//   void close() ALLOT_EXCLUDES(mutex_);         // takes the mutex itself
//   void drop_oldest() ALLOT_REQUIRES(mutex_);   // its caller holds the mutex
//   Mutex mutex_;
//   std::deque<Job> jobs_ ALLOT_GUARDED_BY(mutex_);
//
// The analysis treats a lambda as a function of its own, which holds nothing. A lambda that touches
// guarded data says so after its parameters: [this]() ALLOT_REQUIRES(mutex_) { ... }.
#ifdef __clang__
#define ALLOT_THREAD_ATTRIBUTE_(...) __attribute__((__VA_ARGS__))
#else
#define ALLOT_THREAD_ATTRIBUTE_(...)
#endif
#define ALLOT_CAPABILITY(name) ALLOT_THREAD_ATTRIBUTE_(capability(name))
#define ALLOT_SCOPED_CAPABILITY ALLOT_THREAD_ATTRIBUTE_(scoped_lockable)
#define ALLOT_GUARDED_BY(mutex) ALLOT_THREAD_ATTRIBUTE_(guarded_by(mutex))
#define ALLOT_REQUIRES(...) ALLOT_THREAD_ATTRIBUTE_(requires_capability(__VA_ARGS__))
#define ALLOT_ACQUIRE(...) ALLOT_THREAD_ATTRIBUTE_(acquire_capability(__VA_ARGS__))
#define ALLOT_RELEASE(...) ALLOT_THREAD_ATTRIBUTE_(release_capability(__VA_ARGS__))
#define ALLOT_EXCLUDES(...) ALLOT_THREAD_ATTRIBUTE_(locks_excluded(__VA_ARGS__))
#define ALLOT_NO_THREAD_SAFETY_ANALYSIS ALLOT_THREAD_ATTRIBUTE_(no_thread_safety_analysis)

namespace allot {

class ALLOT_CAPABILITY("mutex") Mutex {
 private:
  friend class MutexLock;
  friend class MutexUnlock;
  friend class CondVar;
  std::mutex mutex_;
};

// Holds a mutex until its own destruction or until unlock().
class ALLOT_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) ALLOT_ACQUIRE(mutex) : held_(mutex.mutex_) {}
  ~MutexLock() ALLOT_RELEASE() = default;
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  void unlock() ALLOT_RELEASE() { held_.unlock(); }
  void lock() ALLOT_ACQUIRE() { held_.lock(); }

 private:
  std::unique_lock<std::mutex> held_;
};

// Releases a mutex that the caller holds, until its own destruction: for slow work in a function
// marked ALLOT_REQUIRES. The analysis does not follow a MutexLock that is passed to a function.
class ALLOT_SCOPED_CAPABILITY MutexUnlock {
 public:
  explicit MutexUnlock(Mutex& mutex) ALLOT_RELEASE(mutex) : mutex_(mutex.mutex_) {
    mutex_.unlock();
  }
  ~MutexUnlock() ALLOT_RELEASE() { mutex_.lock(); }
  MutexUnlock(const MutexUnlock&) = delete;
  MutexUnlock& operator=(const MutexUnlock&) = delete;

 private:
  std::mutex& mutex_;
};

// A wait for a change of guarded data. The waiting thread names the mutex that it holds; the wait
// releases it and takes it again. Wake-ups may be spurious, so every wait is in a loop, which the
// analysis can read, unlike a predicate:
//
//   MutexLock held(mutex_);
//   while (jobs_.empty()) changed_.wait(mutex_);
class CondVar {
 public:
  using Deadline = std::chrono::steady_clock::time_point;

  void wait(Mutex& mutex) ALLOT_REQUIRES(mutex) {
    std::unique_lock held(mutex.mutex_, std::adopt_lock);
    condition_.wait(held);
    held.release();
  }

  // False: the deadline has passed. A deadline stays the same in each turn of the loop; a timeout
  // does not. The clock, CLOCK_MONOTONIC, stops during a suspend.
  bool wait_until(Mutex& mutex, Deadline deadline) ALLOT_REQUIRES(mutex) {
    std::unique_lock held(mutex.mutex_, std::adopt_lock);
    const std::cv_status status = condition_.wait_until(held, deadline);
    held.release();
    return status == std::cv_status::no_timeout;
  }

  // The same for a single wait, or for a loop that computes its timeout each time.
  bool wait_for(Mutex& mutex, std::chrono::nanoseconds timeout) ALLOT_REQUIRES(mutex) {
    return wait_until(mutex, std::chrono::steady_clock::now() + timeout);
  }

  void notify_one() { condition_.notify_one(); }
  void notify_all() { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

}  // namespace allot
