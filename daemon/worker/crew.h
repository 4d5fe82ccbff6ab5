// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

#include "plugin_host/registry.h"
#include "worker/session.h"
#include "worker/task_run.h"

namespace allot::worker {

// A task for a runner. It outlives its block when it is detached.
struct Job {
  queue::Lease lease;
  const ServedQueue* queue = nullptr;
  queue::Task task;
  bool careful = false;
  bool expired = false;
  bool beside = false;  // see TaskAtWork; else `finished` has the finished tasks of its block
  std::span<const queue::Finished> finished{};
};

// The result of a task.
struct Ended {
  Job job;
  TaskRun::Result result = TaskRun::Result::kLeaseGone;
  std::chrono::microseconds held_for{0};
  std::exception_ptr error;  // why there is no result: GaveUp
};

// The threads of a worker that runs several tasks at a time, each with a connection of its own.
// Only the block loop uses this class: it gives the threads tasks and takes the results back.
class Crew {
 public:
  // The conditions under which a task may start.
  struct Need {
    bool serial = false;     // only one thread may call its plugin
    bool partition = false;  // nothing of its partition runs
    bool worker = false;     // nothing runs at all
  };
  using MakeSession = std::function<std::unique_ptr<Session>(std::size_t place)>;
  using MakeRun = std::function<std::unique_ptr<TaskRun>(Session& session, Seat seat)>;

  // 2 to ipc::kMaxRunning of them.
  Crew(std::size_t size, const plugin_host::Registry& registry, const LeaseKeeper& keeper,
       const MakeSession& make_session, const MakeRun& make_run);
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  ~Crew();  // waits for running tasks

  // True unless this type's handler said that several threads may call it at once.
  [[nodiscard]] bool serial(std::string_view type) const;
  [[nodiscard]] bool ready_for(const Need& need) const;
  // Call it only when ready_for() is true.
  void start(Job job, bool serial);
  // How many tasks run in the partition, or write their verdict.
  [[nodiscard]] std::size_t in_partition() const;
  [[nodiscard]] bool all_idle() const { return ready_for({false, false, true}); }

  // The tasks that ended since the last call. A task counts as running until its end can be taken:
  // if nothing runs in the partition, one call has all that ran there.
  std::vector<Ended> take();
  // Until a task has ended, at most for `timeout`.
  void wait(std::chrono::milliseconds timeout);
  // Waits for the end of one task, and takes it. The ends of others are left for take(): whoever
  // waits for one task has nothing to do with their results.
  Ended take_one(const queue::Lease& lease, const queue::TaskKey& key);

 private:
  struct Runner {
    std::unique_ptr<Session> session;
    std::unique_ptr<TaskRun> run;
    std::optional<Job> job{};  // the task to run
    bool busy = false;
    std::condition_variable wake{};
    std::thread thread{};
  };
  void work(Runner& runner);
  static Ended execute(Runner& runner, Job job);

  const plugin_host::Registry& registry_;
  const LeaseKeeper& keeper_;
  mutable std::mutex mutex_;  // guards all below
  std::condition_variable ended_;
  std::vector<Ended> results_;
  bool stop_ = false;
  std::vector<std::unique_ptr<Runner>> runners_;  // the first is the one for serial handlers
};

}  // namespace allot::worker
