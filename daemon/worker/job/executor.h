// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <utility>
#include <vector>

#include "worker/job/job.h"
#include "worker/job/job_runner.h"

namespace allot::worker {

// Runs jobs, in the thread of the block loop or in its own threads. Only the block loop uses it: it
// starts jobs, and takes all their ends through one function, so that none is missed.
class Executor {
 public:
  // The conditions under which a job may start.
  struct Need {
    bool serial = false;     // only one thread may call its plugin
    bool partition = false;  // no job of its partition runs
    bool worker = false;     // no job runs at all
    std::size_t most = 0;    // limit of jobs in its partition, with this one; 0: any number
    // It may wait for a thread that has short jobs, and end as if it had never started.
    bool may_wait = false;
  };

  // How often the block loop checks more than the ends of jobs.
  static constexpr std::chrono::milliseconds kPollEvery{20};

  Executor() = default;
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;
  virtual ~Executor() = default;  // waits for running jobs

  // Maximum number of tasks in a job.
  [[nodiscard]] virtual std::size_t max_batch() const = 0;
  [[nodiscard]] virtual bool ready_for(const Need& need) const = 0;
  // Requires ready_for(). A job that needs its partition, or the worker, is alone.
  virtual void start(Job job, const Need& need) = 0;
  // Jobs that ended since the last call. A job counts as running until its end can be taken: if the
  // partition has no running job, one call returns all that ran there.
  [[nodiscard]] virtual std::vector<JobEnd> take() = 0;
  // Number of jobs of the partition in hand that run, write their verdicts or wait for a thread.
  [[nodiscard]] virtual std::size_t in_partition() const = 0;
  // Number of jobs waiting for a thread.
  [[nodiscard]] virtual std::size_t waiting() const { return 0; }
  // Recent jobs were short enough to wait for a thread.
  [[nodiscard]] virtual bool quick() const { return false; }
  // Ends the jobs that wait for a thread as they are: none of their tasks starts.
  virtual void recall() {}
  // Returns when a job has ended and few wait for a thread, at the latest after `timeout`.
  virtual void wait(std::chrono::milliseconds timeout) = 0;
  // Returns when in_partition() is `most` or less, or a job has failed, at the latest after
  // `timeout`.
  virtual void wait_until_left(std::size_t most, std::chrono::milliseconds timeout) = 0;

  [[nodiscard]] bool all_idle() const { return ready_for({.worker = true}); }
};

// Runs a job inside start(): one at a time, in the calling thread.
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
