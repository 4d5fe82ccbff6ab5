// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "worker/task_run.h"

namespace allot::worker {

// Runs several tasks of one type in one call of their handler (A13). Each has its own entry in the
// slot and with the keeper, its own host and its own verdict; they share the call and its time.
class Gather {
 public:
  // `runner` takes the tasks through the phases of a single one; it outlives this object.
  explicit Gather(TaskRun& runner) : runner_(runner) {}

  // How many tasks like this one may go into one call, including it. 1: it runs by itself.
  [[nodiscard]] std::size_t most(const ServedQueue& queue, const queue::Task& task) const;

  // The results of the first tasks, as many as the call had room for. nullopt: the call failed for
  // this task, which has to run by itself.
  using Results = std::vector<std::optional<TaskRun::Result>>;
  // `tasks` are of one type and no more than most() said; `finished` as for TaskRun::run().
  Results run(const queue::Lease& lease, const ServedQueue& queue, std::span<queue::Task> tasks,
              std::span<const queue::Finished> finished);

 private:
  struct Member;
  class Call;

  void prepare(Call& call, const queue::Lease& lease, const ServedQueue& queue,
               std::span<queue::Task> tasks);
  [[nodiscard]] bool begin(Call& call);
  void run_call(Call& call);
  void take_verdicts(Call& call, const std::vector<plugin_host::CallResult>& said);
  void leave_alone(Call& call, const std::string& why);

  TaskRun& runner_;
};

}  // namespace allot::worker
