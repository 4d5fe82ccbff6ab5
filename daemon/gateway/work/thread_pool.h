// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "db/connection.h"
#include "thread/mutex.h"

namespace allot::gateway::work {

// The threads that send statements, each with its own connection, behind a bounded queue of jobs:
// an overloaded gateway refuses at once. A connection is opened for the first job that needs it,
// and is checked before a job after an idle time, because the server may have closed it or become
// read-only. Any thread may call every function.
class ThreadPool {
 public:
  // State of the connection after a job.
  enum class Connection {
    kGood,  // the next job may use it
    kGone   // unusable, or in an unknown state
  };
  // Receives a working connection, or nullptr and the error. Must not throw.
  using Job = std::function<Connection(db::Connection* db, const std::exception_ptr& unavailable)>;
  // kNone: the job gets nullptr and no error; no connection is opened for it.
  enum class Wants { kConnection, kNone };

  ThreadPool(db::ConnectOptions options, std::size_t threads, std::size_t most_waiting);
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool();  // waiting jobs run first

  // False: the queue is full, or the pool is ending.
  [[nodiscard]] bool post(Job job, Wants wants = Wants::kConnection) ALLOT_EXCLUDES(mutex_);
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

  void start(std::size_t threads);
  void work() ALLOT_EXCLUDES(mutex_);
  struct Posted {
    Job job{};
    Wants wants = Wants::kConnection;
  };
  // An empty job: the pool ends.
  Posted next() ALLOT_EXCLUDES(mutex_);
  void run(Session& session, const Posted& posted) ALLOT_EXCLUDES(mutex_);
  // nullptr: connected; else the error.
  std::exception_ptr make_ready(Session& session) ALLOT_EXCLUDES(mutex_);
  std::exception_ptr connect(Session& session) ALLOT_EXCLUDES(mutex_);
  std::exception_ptr spare(const std::string& why, std::exception_ptr error) ALLOT_EXCLUDES(mutex_);

  const db::ConnectOptions options_;
  const std::size_t most_waiting_;
  Mutex mutex_;
  CondVar posted_;
  std::deque<Posted> jobs_ ALLOT_GUARDED_BY(mutex_);
  bool ends_ ALLOT_GUARDED_BY(mutex_) = false;
  Failure failure_ ALLOT_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_;
};

}  // namespace allot::gateway::work
