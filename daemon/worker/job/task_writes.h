// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
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
#include "worker/lease/lease_keeper.h"

namespace allot::worker {

// Writes of one attempt's handler in addition to its verdict: checkpoints and submissions at once,
// replacements and its own SQL with the acknowledgement. While a handler runs, the session's thread
// is inside it and the session is idle, so these calls use the session's connection, one thread of
// the handler at a time.
class TaskWrites {
 public:
  // All outlive this object.
  TaskWrites(process::Session& session, LeaseKeeper& keeper, queue::Submitter& submitter,
             const Run& run)
      : session_(session), keeper_(keeper), submitter_(submitter), run_(run), claim_(run.fence) {}

  // Calls of the handler, from any thread; see plugin_host::HostHooks.
  plugin_host::CallAnswer checkpoint(std::string_view payload) noexcept;
  plugin_host::CallAnswer submit(std::span<const allot_submission* const> orders,
                                 std::vector<std::string>& ids) noexcept;
  plugin_host::CallAnswer replace_with(std::span<const allot_submission* const> orders) noexcept;
  plugin_host::CallAnswer execute(std::string_view statement, std::span<const allot_value> values,
                                  const plugin_host::TakeRow& take_row) noexcept;

  // The functions below are for after the handler's return.

  // True: success needs more than a plain acknowledgement.
  [[nodiscard]] bool any() const { return open_ || !successors_.empty() || lost_; }
  // Rolls an open transaction back. `excused`: the reason is not the task's fault.
  void roll_back(bool excused);
  // Why a success does not count: the transaction was lost.
  [[nodiscard]] const std::optional<std::string>& lost() const { return lost_; }
  // Whether a call failed because of the database or the lease, not because of the task.
  [[nodiscard]] bool excused() const { return excused_; }

  enum class End {
    kYes,        // written
    kLeaseGone,  // undone: another worker has the task
    kUndone      // undone, lost() says why: the task has to run again
  };
  // Acknowledges the task, with all its writes.
  End acknowledge(const queue::Fence& fence);

 private:
  class Undo;

  template <typename Call>
  plugin_host::CallAnswer guarded(Call&& call) noexcept;
  template <typename Verb>
  auto with_database(Verb&& verb);
  [[nodiscard]] queue::Fenced write_checkpoint(db::Connection& db, const queue::StoredState& state);
  std::vector<queue::Submission> read(std::span<const allot_submission* const> orders);
  void add_trace(queue::SubmitOptions& options) const;
  // A handler may have ordered the successors long before its end.
  void prepare_again(db::Connection& db);
  plugin_host::CallAnswer run_statement(std::string_view statement,
                                        const std::vector<db::Value>& values,
                                        const db::RowSink& sink);
  void lose(const std::string& reason);
  void undo();
  End replace(const queue::FencedAck& ack, bool detached);
  End commit(const queue::FencedAck& ack);

  process::Session& session_;
  LeaseKeeper& keeper_;
  queue::Submitter& submitter_;  // of this session
  const Run& run_;

  Mutex mutex_;         // guards all members below while the handler runs
  queue::Fence claim_;  // as of the last checkpoint
  bool open_ = false;   // a transaction is open
  bool excused_ = false;
  std::optional<std::string> lost_;
  std::vector<queue::Submission> successors_;
};

}  // namespace allot::worker
