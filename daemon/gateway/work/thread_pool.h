// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "db/connection.h"
#include "thread/mutex.h"

namespace allot::gateway::work {

// Whether a connection is unusable, or in an unknown state, after this error.
[[nodiscard]] bool loses_connection(const std::exception_ptr& error);

// Writes a database error to the log (gateway.refused), because it names accounts, hosts, files and
// statements that clients must not see. Returns the reference for the client, as "(gateway.refused,
// reference 1f3a90c2, in the gateway's log)".
std::string note_cause(const std::exception& error);

// The threads that send statements, each with its own connection, behind a bounded queue of jobs:
// an overloaded gateway refuses at once. A connection is opened for the first job that needs it,
// and is checked before a job after an idle time, because the server may have closed it or become
// read-only. Any thread may call every function.
class ThreadPool {
 public:
  struct Job {
    std::function<void(db::Connection& db)> act{};
    // Gets the error of the connection or, if the job has begun, of `act`. Must not throw.
    std::function<void(const std::exception_ptr& error, bool begun)> failed{};
    // Instead of both, for a job without a connection. Must not throw.
    std::function<void()> alone{};
  };

  ThreadPool(db::ConnectOptions options, std::size_t threads, std::size_t most_waiting);
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool();  // waiting jobs run first

  // False: the queue is full, or the pool is ending.
  [[nodiscard]] bool post(Job job) ALLOT_EXCLUDES(mutex_);
  [[nodiscard]] std::size_t threads() const { return threads_.size(); }

 private:
  struct Session {
    std::unique_ptr<db::Connection> connection{};
    Nanos used_ns = 0;
  };
  // The last connection error. Until until_ns all jobs fail with it, without another attempt.
  struct Failure {
    std::exception_ptr error{};
    Nanos until_ns = 0;
  };

  void work() ALLOT_EXCLUDES(mutex_);
  void run(Session& session, const Job& job) ALLOT_EXCLUDES(mutex_);
  // nullptr: connected; else the error.
  std::exception_ptr make_ready(Session& session) ALLOT_EXCLUDES(mutex_);
  std::exception_ptr connect(Session& session) ALLOT_EXCLUDES(mutex_);

  const db::ConnectOptions options_;
  const std::size_t most_waiting_;
  Mutex mutex_;
  CondVar posted_;
  std::deque<Job> jobs_ ALLOT_GUARDED_BY(mutex_);
  bool ends_ ALLOT_GUARDED_BY(mutex_) = false;
  Failure failure_ ALLOT_GUARDED_BY(mutex_);
  std::vector<std::jthread> threads_;  // last: they use all members above
};

}  // namespace allot::gateway::work
