// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plugin_host/host_hooks.h"
#include "process/session.h"
#include "queue/model/catalog.h"
#include "queue/model/fence.h"
#include "queue/model/task.h"
#include "queue/submit/submitter.h"
#include "queue/verbs/fenced_ack.h"
#include "thread/mutex.h"
#include "worker/job/job.h"
#include "worker/lease/lease_keeper.h"
#include "worker/run/run.h"

namespace allot::worker {

struct Call;

// Requests of the handler of one task to its worker while it runs: to log, to stop, to note its
// progress, and to write in addition to its verdict, checkpoints and submissions at once,
// replacements and its own SQL with the acknowledgement. While a handler runs, the session's thread
// is inside it and the session is idle, so writes use the session's connection, one thread of the
// handler at a time. In a call with several tasks, requests that belong to the acknowledgement of
// one task are refused.
class TaskHooks final : public plugin_host::HostHooks {
 public:
  // Both outlive this object.
  TaskHooks(Call& call, Run& run) : call_(call), run_(run), claim_(run.fence) {}

  void log(int level, std::string_view text) noexcept override;
  std::int32_t stop_reason() noexcept override;
  void heartbeat() noexcept override;
  void progress(std::uint32_t percent, std::string_view word) noexcept override;
  plugin_host::CallAnswer checkpoint(std::string_view payload) noexcept override;
  plugin_host::CallAnswer submit(std::span<const allot_submission* const> orders,
                                 std::vector<std::string>& ids) noexcept override;
  plugin_host::CallAnswer replace_with(
      std::span<const allot_submission* const> orders) noexcept override;
  plugin_host::CallAnswer execute(std::string_view statement, std::span<const allot_value> values,
                                  const plugin_host::TakeRow& take_row) noexcept override;

  // The functions below are for after the handler's return.

  // True: success needs more than a plain acknowledgement.
  [[nodiscard]] bool any() const { return open_ || !successors_.empty() || lost_; }
  // Rolls an open transaction back. `excused`: the reason is not the task's fault.
  void roll_back(bool excused);
  // Why a success does not count: the transaction was lost.
  [[nodiscard]] const std::optional<std::string>& lost() const { return lost_; }
  // Whether a call failed because of the database or the lease, not because of the task.
  [[nodiscard]] bool excused() const { return excused_; }

  // Acknowledges the task, with all its writes. kLost: undone, another worker has the task.
  // nullopt: undone, lost() says why, and the task has to run again.
  std::optional<queue::Fenced> acknowledge(const queue::Fence& fence);

 private:
  // `sole`: why a call with several tasks may not ask for it; nullptr: it may.
  template <typename Request>
  plugin_host::CallAnswer guarded(const char* sole, Request&& request) noexcept;
  template <typename Verb>
  auto with_database(Verb&& verb);
  std::vector<queue::Submission> read(std::span<const allot_submission* const> orders);
  void add_trace(queue::SubmitOptions& options) const;
  // A handler may have ordered the successors long before its end.
  void prepare_again(db::Connection& db);
  plugin_host::CallAnswer run_statement(std::string_view statement,
                                        const std::vector<db::Value>& values,
                                        const db::RowSink& sink);
  void lose(const std::string& reason);
  void undo();
  queue::Fenced replace(const queue::FencedAck& ack, bool detached);
  std::optional<queue::Fenced> commit(const queue::FencedAck& ack);

  Call& call_;
  Run& run_;
  // While the handler runs, the call's mutex guards all members below.
  queue::Fence claim_;  // as of the last checkpoint
  bool open_ = false;   // a transaction is open
  bool excused_ = false;
  std::optional<std::string> lost_;
  std::vector<queue::Submission> successors_;
};

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
