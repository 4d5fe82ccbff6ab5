// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <utility>
#include <vector>

#include "worker/job/job.h"
#include "worker/job/job_runner.h"

namespace allot::worker {

// Runs jobs, in the thread of the block loop or in threads of its own. Only the block loop uses it:
// it starts jobs, and takes the ends of all of them back through one function, so that none is
// passed over.
class Executor {
 public:
  // The conditions under which a job may start.
  struct Need {
    bool serial = false;     // only one thread may call its plugin
    bool partition = false;  // nothing of its partition runs
    bool worker = false;     // nothing runs at all
    std::size_t most = 0;    // with it so many jobs run in its partition at most; 0: any
    // It may wait for a thread that has short jobs, and end as if it had never started.
    bool may_wait = false;
  };

  // How often the block loop looks at more than the ends of jobs.
  static constexpr std::chrono::milliseconds kLook{20};

  Executor() = default;
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;
  virtual ~Executor() = default;  // waits for running jobs

  // How many tasks a job may have.
  [[nodiscard]] virtual std::size_t max_batch() const = 0;
  [[nodiscard]] virtual bool ready_for(const Need& need) const = 0;
  // Call it only when ready_for() is true. A job that needs its partition, or the worker, is alone.
  virtual void start(Job job, const Need& need) = 0;
  // The jobs that ended since the last call. A job counts as running until its end can be taken: if
  // nothing runs in the partition, one call has all that ran there.
  [[nodiscard]] virtual std::vector<JobEnd> take() = 0;
  // How many jobs run in the partition in hand, or write their verdicts, or wait for a thread.
  [[nodiscard]] virtual std::size_t in_partition() const = 0;
  // So many of them wait for a thread.
  [[nodiscard]] virtual std::size_t waiting() const { return 0; }
  // The jobs of late were short enough to wait for a thread.
  [[nodiscard]] virtual bool quick() const { return false; }
  // Those that wait for a thread end as they are: none of their tasks starts.
  virtual void recall() {}
  // Until a job has ended, and few wait for a thread. At most for `timeout`.
  virtual void wait(std::chrono::milliseconds timeout) = 0;
  // Until in_partition() is `most` or less, or a job has failed. At most for `timeout`.
  virtual void wait_until_left(std::size_t most, std::chrono::milliseconds timeout) = 0;

  [[nodiscard]] bool all_idle() const { return ready_for({.worker = true}); }
};

// Runs a job while it is started: one at a time, in the thread that starts it.
class InThisThread final : public Executor {
 public:
  explicit InThisThread(JobRunner& runner) : runner_(runner) { runner_.begin_thread(); }

  [[nodiscard]] std::size_t max_batch() const override { return runner_.max_batch(); }
  [[nodiscard]] bool ready_for(const Need& /*need*/) const override { return true; }
  void start(Job job, const Need& need) override;
  [[nodiscard]] std::vector<JobEnd> take() override { return std::exchange(ended_, {}); }
  [[nodiscard]] std::size_t in_partition() const override { return 0; }
  void wait(std::chrono::milliseconds /*timeout*/) override {}
  void wait_until_left(std::size_t /*most*/, std::chrono::milliseconds /*timeout*/) override {}

 private:
  JobRunner& runner_;
  std::vector<JobEnd> ended_;
};

}  // namespace allot::worker
