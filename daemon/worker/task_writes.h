// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plugin_host/host_hooks.h"
#include "queue/catalog.h"
#include "queue/detached_store.h"
#include "queue/ending.h"
#include "queue/lease.h"
#include "queue/submit.h"
#include "queue/task.h"
#include "worker/lease_keeper.h"
#include "worker/session.h"

namespace allot::worker {

// What the handler of one attempt writes beside its verdict: checkpoints and submissions at once,
// replacements and SQL of its own with the acknowledgement. While a handler runs, the thread of the
// session is inside it and the session idle, so it is the session's connection that is used, by one
// thread of the handler at a time.
class TaskWrites {
 public:
  TaskWrites(Session& session, LeaseKeeper& keeper, const queue::Lease& lease,
             const queue::Task& task, const queue::QueueInfo& queue, std::size_t entry)
      : session_(session),
        keeper_(keeper),
        lease_(lease),
        task_(task),
        queue_(queue),
        entry_(entry) {}

  // The handler's calls, from any thread; see plugin_host::HostHooks.
  plugin_host::CallAnswer checkpoint(std::string_view payload) noexcept;
  plugin_host::CallAnswer submit(std::span<const allot_submission* const> orders,
                                 std::vector<std::string>& ids) noexcept;
  plugin_host::CallAnswer replace_with(std::span<const allot_submission* const> orders) noexcept;
  plugin_host::CallAnswer execute(std::string_view statement, std::span<const allot_value> values,
                                  const plugin_host::TakeRow& take_row) noexcept;

  // From here on: once the handler has returned.

  // True: success is more than a plain acknowledgement.
  [[nodiscard]] bool any() const { return open_ || !successors_.empty() || lost_; }
  // Ends an open transaction: what it did is undone. `excused`: for a reason that is not the
  // task's.
  void roll_back(bool excused);
  // Why a success cannot be one: the transaction was lost.
  [[nodiscard]] const std::optional<std::string>& lost() const { return lost_; }
  // A call failed because of the database or the lease, and not because of the task.
  [[nodiscard]] bool excused() const { return excused_; }

  enum class End {
    kYes,        // written
    kLeaseGone,  // undone: the task is somebody else's
    kUndone      // undone by the database: it has to run again. lost() says why
  };
  // The acknowledgement, with all of it.
  End acknowledge(const std::optional<queue::Detached>& detached);

 private:
  template <typename Call>
  plugin_host::CallAnswer guarded(Call&& call) noexcept;
  template <typename Verb>
  auto with_database(Verb&& verb);
  [[nodiscard]] queue::Landed write_checkpoint(db::Connection& db, std::string_view payload);
  std::vector<queue::Submission> read(std::span<const allot_submission* const> orders);
  plugin_host::CallAnswer run_statement(std::string_view statement,
                                        const std::vector<db::Value>& values,
                                        const db::RowSink& sink);
  void lose(const std::string& reason);
  End commit(const queue::Ending& ending);

  Session& session_;
  LeaseKeeper& keeper_;
  const queue::Lease& lease_;
  const queue::Task& task_;
  const queue::QueueInfo& queue_;
  const std::size_t entry_;  // the task's, with the keeper

  std::mutex mutex_;       // of all below, while the handler runs
  bool detached_ = false;  // as the last checkpoint found it
  bool open_ = false;      // the transaction
  bool excused_ = false;
  std::optional<std::string> lost_;
  std::vector<queue::Submission> successors_;
};

}  // namespace allot::worker
