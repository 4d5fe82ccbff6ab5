// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <list>

#include "process/session.h"
#include "thread/mutex.h"
#include "worker/job/job.h"
#include "worker/job/task_hooks.h"
#include "worker/lease/lease_keeper.h"
#include "worker/run/run.h"

namespace allot::worker {

// One call of a handler, with the runs of its tasks. The thread that runs the job makes and uses
// it; the threads of the handler call the hooks.
struct Call {
  // All outlive it.
  process::Session& session;
  LeaseKeeper& keeper;
  queue::Submitter& submitter;  // of this session

  struct Member {
    Member(Call& call, process::SlotWriter& slot, Job& job, queue::Task& task,
           const Run::Plan& plan, TaskEnd& of)
        : run(slot, job.lease, *job.queue, task, plan), hooks(call, run), end(of) {}
    Run run;
    TaskHooks hooks;
    TaskEnd& end;
  };
  std::list<Member> members{};  // a list: elements stay where they are
  Mutex writing{};              // all tasks share one connection

  [[nodiscard]] bool several() const { return members.size() > 1; }
};

}  // namespace allot::worker
