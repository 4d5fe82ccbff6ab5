// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plugin_host/host_hooks.h"
#include "process/session.h"
#include "thread/mutex.h"
#include "worker/job/job.h"
#include "worker/job/task_writes.h"
#include "worker/lease/lease_keeper.h"
#include "worker/run/run.h"

namespace allot::worker {

// One call of a handler, with the runs of its tasks. The thread that runs the job makes and uses
// it; the threads of the handler call the hooks.
class Call {
 public:
  // All outlive it.
  Call(process::Session& session, LeaseKeeper& keeper, queue::Submitter& submitter)
      : session_(session), keeper_(keeper), submitter_(submitter) {}

  // Requests that the handler of one task may make while the call runs. In a call with several
  // tasks, requests that belong to the acknowledgement of one task are refused, because the tasks
  // share one connection.
  class Hooks final : public plugin_host::HostHooks {
   public:
    Hooks(Call& call, Run& run)
        : writes(call.session_, call.keeper_, call.submitter_, run), call_(call), run_(run) {}

    void log(int level, std::string_view text) noexcept override;
    std::int32_t stop_reason() noexcept override;
    void heartbeat() noexcept override;
    void progress(std::uint32_t percent, std::string_view word) noexcept override;
    plugin_host::CallAnswer checkpoint(std::string_view payload) noexcept override;
    plugin_host::CallAnswer submit(std::span<const allot_submission* const> tasks,
                                   std::vector<std::string>& ids) noexcept override;
    plugin_host::CallAnswer replace_with(
        std::span<const allot_submission* const> tasks) noexcept override;
    plugin_host::CallAnswer execute(std::string_view statement, std::span<const allot_value> values,
                                    const plugin_host::TakeRow& take_row) noexcept override;

    TaskWrites writes;

   private:
    Call& call_;
    Run& run_;
  };

  struct Member {
    Member(Call& call, process::SlotWriter& slot, Job& job, queue::Task& task,
           const Run::Plan& plan, TaskEnd& of)
        : run(slot, job.lease, *job.queue, task, plan), hooks(call, run), end(of) {}
    Run run;
    Hooks hooks;
    TaskEnd& end;
  };

  std::list<Member> members;  // a list: elements stay where they are

  [[nodiscard]] bool several() const { return members.size() > 1; }

 private:
  process::Session& session_;
  LeaseKeeper& keeper_;
  queue::Submitter& submitter_;
  Mutex submitting_;  // all tasks share one connection
};

}  // namespace allot::worker
