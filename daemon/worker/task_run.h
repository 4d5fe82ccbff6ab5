// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "config/settings.h"
#include "plugin_host/handler_call.h"
#include "plugin_host/registry.h"
#include "queue/block.h"
#include "queue/cancel_request.h"
#include "queue/detached_store.h"
#include "queue/ending.h"
#include "queue/retry_policy.h"
#include "worker/decide.h"
#include "worker/finder.h"
#include "worker/lease_keeper.h"
#include "worker/session.h"
#include "worker/slot_writer.h"

namespace allot::worker {

// Where a TaskRun runs its tasks.
struct Seat {
  std::size_t entry = 0;  // in the slot and with the keeper
  bool thread = false;    // one of several threads
};

// Runs one task: handler lookup, payload, slot, handler, verdict. Only here the queue and the
// plugins meet.
class TaskRun {
 public:
  enum class Result {
    kFinished,     // has to be acknowledged
    kUnknownType,  // no handler here: has to be deferred (S14)
    kWritten,      // a retry, snooze or dead letter is in the database
    kHeld,         // it stays the first of its partition, which waits for held_for() (S16)
    kDetached,     // it ended outside of its partition, which others may have
    kLeaseGone     // the lease is gone or in doubt: drop the rest of the block
  };

  TaskRun(Session& session, const queue::DetachedStore& detached,
          const plugin_host::Registry& registry, LeaseKeeper& keeper, SlotWriter& slot,
          const config::Settings& settings, Seat seat = {});

  // `careful`: the attempt is written before the handler starts (S7). `finished` are the tasks that
  // the block has not acknowledged yet; they are acknowledged when the result is kDetached.
  // `beside`: see TaskAtWork; the block then goes on after a kDetached.
  Result run(const queue::Lease& lease, const ServedQueue& queue, queue::Task& task, bool careful,
             std::span<const queue::Finished> finished, bool beside = false);

  // Call it instead of run() for a task that did not begin in time (A14).
  Result expire(const queue::Lease& lease, const ServedQueue& queue, queue::Task& task);
  [[nodiscard]] std::chrono::microseconds held_for() const { return held_for_; }

  struct Attempt;

 private:
  friend class Gather;  // takes several tasks through the same phases
  struct AtWork;

  // The phases. These come before the handler, and end tasks that do not reach it.
  Attempt attempt_of(const queue::Lease& lease, const ServedQueue& queue, queue::Task& task,
                     const plugin_host::LoadedHandler& handler, std::size_t entry) const;
  static Attempt not_begun(const queue::Lease& lease, const ServedQueue& queue, queue::Task& task);
  std::optional<Result> prepare(Attempt& attempt);
  [[nodiscard]] bool announce(Attempt& attempt);
  // These are around the handler; keeper_.tasks_begin() calls begin().
  static TaskAtWork for_keeper(AtWork& work, Nanos detach_after_ns);
  void begin(AtWork& work, Nanos now);
  static plugin_host::CallInput input_of(const AtWork& work);
  static void returned(AtWork& work);
  // These come after the handler.
  static bool wants_usage(const AtWork& work, const plugin_host::CallResult& result);
  Result verdict(AtWork& work, const plugin_host::CallResult& result);

  // A fenced write, see fenced.h. False: another worker has the task.
  [[nodiscard]] bool write(const Attempt& attempt, const queue::Ending& ending);
  [[nodiscard]] bool send(const Attempt& attempt, const queue::Ending& ending);
  [[nodiscard]] bool refund(const Attempt& attempt, const queue::Ending& ending);
  Result not_started(const Attempt& attempt);
  // The pause by the policy of its type or queue.
  [[nodiscard]] std::chrono::microseconds pause_after(const Attempt& attempt) const;
  void keep_record(Attempt& attempt) const;
  Result call_handler(Attempt& attempt);
  // Finds out where the task is, now that its handler has returned. False: its lease is gone.
  bool resolve_detach(Attempt& attempt, Place place);
  Result acknowledge(AtWork& work);
  Result end_failed(AtWork& work, Facts& facts, bool gave_way);
  Result finished(const Attempt& attempt);
  // What this worker knows of an attempt that is over.
  [[nodiscard]] Facts facts_of(const Attempt& attempt, Facts::Outcome outcome,
                               std::string_view cause, std::string_view error) const;
  // Decides what becomes of the task, writes it and logs it.
  Result end(Attempt& attempt, const Facts& facts);
  Result bury_spent(Attempt& attempt);
  // If somebody asked for the task's end, it is dead, or done if that was asked for, whatever its
  // handler said, or before it begins. nullopt: nobody did.
  Result cancelled(Attempt& attempt, const queue::CancelRequest& request);
  std::optional<Result> cancelled_before(const queue::Lease& lease, const ServedQueue& queue,
                                         queue::Task& task);
  // The result after a fenced write: it is written, or its lease was gone.
  static Result ended(const Attempt& attempt);
  static Result dropped(const Attempt& attempt);

  Session& session_;
  const queue::DetachedStore& detached_;
  const plugin_host::Registry& registry_;
  LeaseKeeper& keeper_;
  SlotWriter& slot_;
  const config::Settings& settings_;
  const Seat seat_;
  std::chrono::microseconds held_for_{0};
};

}  // namespace allot::worker
