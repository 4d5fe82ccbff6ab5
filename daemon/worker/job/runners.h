// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "process/session.h"
#include "process/slot_writer.h"
#include "thread/mutex.h"
#include "worker/job/executor.h"

namespace allot::worker {

// Threads of a worker whose pool has `concurrency`. Each runs one job at a time, with its own
// connection and its own entries in the slot. While jobs are short, a few more are handed out than
// there are threads: a thread then continues with the next one, and neither it nor the block loop
// sleeps in between.
class Runners : public Executor {
 public:
  using MakeSession = std::function<std::unique_ptr<process::Session>(std::size_t place)>;
  using MakeRunner =
      std::function<std::unique_ptr<JobRunner>(process::Session& session, SlotRange range)>;

  // Longer jobs do not wait for a thread: a wake-up costs little compared with them, and other
  // workers may have free threads.
  static constexpr Nanos kShort = 25 * kMilli;

  // 2 to ipc::kMaxRunning threads.
  Runners(std::size_t size, const process::SlotWriter& slot, const MakeSession& make_session,
          const MakeRunner& make_runner, Nanos short_ns = kShort);
  Runners(const Runners&) = delete;
  Runners& operator=(const Runners&) = delete;
  ~Runners() override;

  [[nodiscard]] std::size_t max_batch() const override;
  [[nodiscard]] bool ready_for(const Need& need) const override;
  void start(Job job, const Need& need) override;
  [[nodiscard]] std::vector<JobEnd> take() override;
  [[nodiscard]] std::size_t in_partition() const override;
  [[nodiscard]] std::size_t waiting() const override;
  [[nodiscard]] bool quick() const override;
  void recall() override;
  void wait(std::chrono::milliseconds timeout) override;
  void wait_until_left(std::size_t most, std::chrono::milliseconds timeout) override;

 private:
  struct Runner {
    std::size_t entry = 0;  // its first entry in the slot
    std::unique_ptr<process::Session> session{};
    std::unique_ptr<JobRunner> jobs{};
    std::optional<Job> next{};  // the job to run
    bool busy = false;
    CondVar wake{};
    std::thread thread{};
  };
  void work(Runner& runner);
  static JobEnd execute(JobRunner& jobs, Job job);
  [[nodiscard]] bool may_queue(const Need& need) const ALLOT_REQUIRES(mutex_);
  [[nodiscard]] Runner* last_idle() const ALLOT_REQUIRES(mutex_);
  [[nodiscard]] Runner* call_one() ALLOT_REQUIRES(mutex_);
  [[nodiscard]] Runner* come(Runner& runner) ALLOT_REQUIRES(mutex_);
  void take_next(Runner& runner) ALLOT_REQUIRES(mutex_);
  // Maximum number of jobs that wait for a thread; 0: none, because jobs are long.
  [[nodiscard]] std::size_t most_waiting() const ALLOT_REQUIRES(mutex_);
  void wait_until_notified(std::chrono::milliseconds timeout) ALLOT_REQUIRES(mutex_);
  [[nodiscard]] bool must_notify() const ALLOT_REQUIRES(mutex_);
  // Takes the next waiting job. Returns whether the block loop has to wake.
  bool ended(Runner& runner, JobEnd end, Nanos took) ALLOT_REQUIRES(mutex_);
  void recall_all() ALLOT_REQUIRES(mutex_);
  [[nodiscard]] bool in_partition(const Runner& runner) const ALLOT_REQUIRES(mutex_);
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
  std::vector<std::unique_ptr<Runner>> runners_;  // the first one is for serial handlers
};

}  // namespace allot::worker
