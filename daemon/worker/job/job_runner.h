// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/settings.h"
#include "ipc/slot.h"
#include "meter/record.h"
#include "plugin_host/handler_call.h"
#include "plugin_host/registry.h"
#include "process/session.h"
#include "process/slot_writer.h"
#include "queue/verbs/detached_store.h"
#include "queue/verbs/ending.h"
#include "worker/job/job.h"
#include "worker/job/task_hooks.h"
#include "worker/lease/lease_keeper.h"
#include "worker/run/decide.h"
#include "worker/run/run.h"

namespace allot::worker {

// Place of a JobRunner.
struct SlotRange {
  std::size_t entry = 0;                   // its first entry in the slot
  std::size_t entries = ipc::kMaxRunning;  // maximum number of tasks in a job
  bool thread = false;                     // one of several threads

  static SlotRange of(std::size_t thread, std::size_t threads) {
    const std::size_t entries = ipc::kMaxRunning / threads;
    return {thread * entries, entries, threads > 1};
  }
};

// Takes one job from its payloads to its verdicts: handler lookup, payload, slot, handler, verdict.
// The queue and the plugins meet only here. Each thread that runs jobs has its own.
class JobRunner {
 public:
  // All outlive this object.
  JobRunner(process::Session& session, const queue::DetachedStore& detached,
            const plugin_host::Registry& registry, LeaseKeeper& keeper, process::SlotWriter& slot,
            const config::Settings& settings, SlotRange range = {});

  // Called once by the thread that will run jobs, before its first one.
  void begin_thread() const { registry_.begin_thread(range_.entry == 0); }
  // Returns the result of each task. Throws GaveUp.
  std::vector<TaskEnd> run(Job& job);
  [[nodiscard]] const SlotRange& range() const { return range_; }

 private:
  using Result = TaskEnd::Result;

  // Steps before the handler; each of them ends the tasks that do not reach it.
  void prepare(Call& call, Job& job, std::vector<TaskEnd>& ends);
  std::optional<TaskEnd> end_before(Run& run, Nanos fetched_ns);
  std::optional<TaskEnd> cancelled_before(Run& run);
  TaskEnd bury_spent(Run& run);
  TaskEnd not_started(Run& run, Result result);

  plugin_host::ManyResult call_handler(Call& call);

  // Steps after the handler.
  void leave_alone(Call& call, const std::string& why);
  TaskEnd verdict(Call::Member& member, const plugin_host::CallResult& said);
  [[nodiscard]] bool resolve_detach(Run& run);
  // nullopt: undone, TaskHooks::lost() says why.
  std::optional<TaskEnd> acknowledge(Call::Member& member);
  TaskEnd finished(Run& run);

  // Facts of this worker about an attempt that is over.
  [[nodiscard]] Facts facts_of(const Run& run, Facts::Outcome outcome, std::string_view cause,
                               std::string_view error) const;
  // Decides the result of the task, writes it and logs it.
  TaskEnd end(Run& run, const Facts& facts);
  void count(const Run& run, meter::Count what);
  // A fenced write. False: another worker has the task.
  [[nodiscard]] bool write(Run& run, const queue::Ending& ending);
  void keep_record(Run& run, std::uint32_t attempt) const;

  process::Session& session_;
  const queue::DetachedStore& detached_;
  const plugin_host::Registry& registry_;
  LeaseKeeper& keeper_;
  process::SlotWriter& slot_;
  const config::Settings& settings_;
  const SlotRange range_;
  queue::Submitter submitter_;  // for submissions of handlers
};

}  // namespace allot::worker
