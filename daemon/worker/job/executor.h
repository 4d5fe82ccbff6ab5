// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "process/slot_writer.h"
#include "thread/mutex.h"
#include "worker/job/job.h"
#include "worker/job/job_runner.h"

namespace allot::worker {

// Runs jobs. Only the block loop uses it: it starts jobs, and takes all their ends through one
// function, so that none is missed.
//
// A single runner runs each job inside start(), in the calling thread. In a pool with `concurrency`
// there are several, each with a thread, a connection and entries in the slot of its own. While
// jobs are short, a few more are handed out than there are threads: a thread then continues with
// the next one, and neither it nor the block loop sleeps in between.
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
  // Longer jobs do not wait for a thread: a wake-up costs little compared with them, and other
  // workers may have free threads.
  static constexpr Nanos kShort = 25 * kMilli;

  // Both outlive this object, and nothing else uses the runners.
  Executor(const process::SlotWriter& slot, std::deque<JobRunner>& runners,
           Nanos short_ns = kShort);
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;
  virtual ~Executor();  // waits for running jobs

  // Maximum number of tasks in a job.
  [[nodiscard]] std::size_t max_batch() const { return runners_.front().jobs.range().entries; }
  [[nodiscard]] bool ready_for(const Need& need) const;
  // Requires ready_for(). A job that needs its partition, or the worker, is alone.
  void start(Job job, const Need& need);
  // Jobs that ended since the last call. A job counts as running until its end can be taken: if the
  // partition has no running job, one call returns all that ran there.
  [[nodiscard]] std::vector<JobEnd> take();
  // Number of jobs of the partition in hand that run, write their verdicts or wait for a thread.
  [[nodiscard]] std::size_t in_partition() const;
  // Number of jobs waiting for a thread.
  [[nodiscard]] std::size_t waiting() const;
  // Recent jobs were short enough to wait for a thread. Virtual for tests: the block loop calls it
  // when all jobs of a block are started.
  [[nodiscard]] virtual bool quick() const;
  // Ends the jobs that wait for a thread as they are: none of their tasks starts.
  void recall();
  // Returns when a job has ended and few wait for a thread, at the latest after `timeout`. With
  // `left`: when in_partition() is that or less, or a job has failed.
  void wait(std::chrono::milliseconds timeout, std::optional<std::size_t> left = std::nullopt);

  [[nodiscard]] bool all_idle() const { return ready_for({.worker = true}); }

 private:
  void end();  // waits for running jobs and for the threads
  struct Runner {
    explicit Runner(JobRunner& by) : jobs(by) {}
    JobRunner& jobs;
    std::optional<Job> next{};  // the job to run
    bool busy = false;
    CondVar wake{};
    std::jthread thread{};
  };
  void work(Runner& runner);
  static JobEnd execute(JobRunner& jobs, Job job);
  [[nodiscard]] bool may_queue(const Need& need) const ALLOT_REQUIRES(mutex_);
  [[nodiscard]] Runner* last_idle() ALLOT_REQUIRES(mutex_);
  [[nodiscard]] Runner* call_one() ALLOT_REQUIRES(mutex_);
  [[nodiscard]] Runner* come(Runner& runner) ALLOT_REQUIRES(mutex_);
  void take_next(Runner& runner) ALLOT_REQUIRES(mutex_);
  // Maximum number of jobs that wait for a thread; 0: none, because jobs are long.
  [[nodiscard]] std::size_t most_waiting() const ALLOT_REQUIRES(mutex_);
  [[nodiscard]] bool must_notify() const ALLOT_REQUIRES(mutex_);
  // Takes the next waiting job. Returns whether the block loop has to wake.
  bool ended(Runner& runner, JobEnd end, Nanos took) ALLOT_REQUIRES(mutex_);
  void recall_all() ALLOT_REQUIRES(mutex_);
  [[nodiscard]] std::size_t running_in_partition() const ALLOT_REQUIRES(mutex_);

  const process::SlotWriter& slot_;
  const Nanos short_ns_;

  mutable Mutex mutex_;  // guards next and busy of each runner, too
  CondVar ended_;
  std::vector<JobEnd> ends_ ALLOT_GUARDED_BY(mutex_);
  bool notified_ ALLOT_GUARDED_BY(mutex_) = false;            // the block loop has something to do
  std::optional<std::size_t> left_ ALLOT_GUARDED_BY(mutex_);  // jobs left that the loop waits for
  std::deque<Job> queue_ ALLOT_GUARDED_BY(mutex_);
  Nanos typical_ns_ ALLOT_GUARDED_BY(mutex_);  // typical runtime of a job, by the last ones
  std::size_t idle_ ALLOT_GUARDED_BY(mutex_);
  Runner* called_ ALLOT_GUARDED_BY(mutex_) = nullptr;  // it wakes for the queue
  bool stop_ ALLOT_GUARDED_BY(mutex_) = false;
  std::deque<Runner> runners_;  // the first one is for serial handlers
};

}  // namespace allot::worker
