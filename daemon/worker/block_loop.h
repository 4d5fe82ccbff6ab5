// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "worker/careful_turn.h"
#include "worker/crew.h"
#include "worker/finder.h"
#include "worker/gather.h"
#include "worker/lifetime.h"
#include "worker/recovery.h"
#include "worker/task_run.h"

namespace allot::worker {

// The worker's main loop: lease a partition, run its tasks block by block, acknowledge, release.
// work() and task_run are the whole walk of a task between fetch and acknowledgement.
//
// With a crew, tasks of a block run side by side in its threads, and detached tasks go on beside
// the next leases. A task of an ordered or limited partition still runs alone in it (S16), and one
// that runs with care is alone in the whole worker (S7).
//
// Without a crew, a handler that takes several tasks in a call gets those of its type out of the
// rest of the block (A13).
class BlockLoop {
 public:
  // `crew` runs the tasks in place of `runner`; nullptr: one task at a time, in this thread.
  // `lifetime` is looked at between two tasks; nullptr: this worker stays.
  BlockLoop(Session& session, Finder& finder, LeaseKeeper& keeper, SlotWriter& slot,
            TaskRun& runner, Recovery& recovery, CarefulTurn& careful_turn, Crew* crew = nullptr,
            Lifetime* lifetime = nullptr)
      : session_(session),
        finder_(finder),
        keeper_(keeper),
        slot_(slot),
        runner_(runner),
        recovery_(recovery),
        careful_turn_(careful_turn),
        crew_(crew),
        lifetime_(lifetime),
        gather_(runner) {}

  // Is told of each task that is put back because no handler here knows its type.
  using OnUnknown = std::function<void(const queue::TaskId&, const std::string& type)>;
  void on_unknown(OnUnknown on_unknown) { on_unknown_ = std::move(on_unknown); }

  // Runs until asked to leave.
  void run(const std::function<void()>& between_leases = {});
  // Works on one lease, until it is given back.
  void work(queue::Block block);

 private:
  // Careful mode of the lease in hand (S7).
  struct Careful {
    queue::Suspects suspects;
    std::array<std::uint32_t, queue::kPrioClasses> verdicts{};
  };
  enum class Next {
    kGoOn,
    kLeave,    // give the lease back
    kDetached  // the lease is given back: a task was detached
  };

  // True: no further task may start here.
  [[nodiscard]] bool done();
  void ran(std::size_t tasks);
  Next run_block(const queue::Lease& lease, const ServedQueue& queue,
                 std::vector<queue::Task>& tasks, Nanos until_ns);
  Next start_tasks(const queue::Lease& lease, const ServedQueue& queue,
                   std::vector<queue::Task>& tasks, Nanos until_ns);
  // The result of a call with several tasks.
  struct Gathered {
    Next next = Next::kGoOn;
    std::size_t ended = 0;  // tasks with a result; these come first
    std::size_t alone = 0;  // tasks behind them, each of which has to run by itself
  };
  std::size_t gather(const ServedQueue& queue, std::vector<queue::Task>& tasks, std::size_t at);
  Gathered run_gathered(const queue::Lease& lease, const ServedQueue& queue,
                        std::span<queue::Task> tasks);
  Next run_one(const queue::Lease& lease, const ServedQueue& queue, queue::Task& task);
  Next ended(const queue::Lease& lease, const ServedQueue& queue, const queue::Task& task,
             TaskRun::Result result, std::chrono::microseconds held_for);
  [[nodiscard]] bool careful_with(const queue::Task& task) const;
  void ack_in_time(const queue::Lease& lease);

  // With a crew:
  [[nodiscard]] bool room_for_a_lease();
  void wait_for_all();
  [[nodiscard]] Crew::Need need_of(const ServedQueue& queue, const queue::Task& task) const;
  Next make_way(const queue::Lease& lease, const ServedQueue& queue, const queue::Task& task);
  Next collect(const queue::Lease& lease);
  Next wait_for_block(const queue::Lease& lease);
  Job job_of(const queue::Lease& lease, const ServedQueue& queue, queue::Task& task);
  Next hand_out(const queue::Lease& lease, const ServedQueue& queue, queue::Task& task);
  TaskRun::Result run_alone(const queue::Lease& lease, const ServedQueue& queue, queue::Task& task);

  [[nodiscard]] bool wait_for_turn(const queue::Task& task);
  [[nodiscard]] bool expired(const queue::Task& task) const;
  [[nodiscard]] bool suspect(const queue::Task& task) const;
  void settle_suspects(const queue::Lease& lease);

  void ack(const queue::Lease& lease);
  std::vector<queue::Task> ack_and_fetch(const queue::Lease& lease, const ServedQueue& queue);
  void finish(const queue::Lease& lease);
  void forget_block();
  void acked();
  void defer_unknown(const queue::Lease& lease);
  Next hold_unknown(const queue::Lease& lease, const queue::Task& task);
  void log_unknown(const queue::Lease& lease, const std::string& type, const std::string& first,
                   std::size_t tasks);

  Session& session_;
  Finder& finder_;
  LeaseKeeper& keeper_;
  SlotWriter& slot_;
  TaskRun& runner_;
  Recovery& recovery_;
  CarefulTurn& careful_turn_;
  Crew* crew_;
  Lifetime* lifetime_;
  Gather gather_;
  std::chrono::microseconds held_for_{0};  // from a task that the crew ran alone
  Crew::Need need_;                        // of the task that the next lease has to wait for

  std::vector<queue::Finished> finished_;  // done, not acknowledged; mirrored in the slot
  Nanos oldest_finished_ns_ = 0;
  OnUnknown on_unknown_;
  std::vector<queue::Task> unknown_;  // of types without a handler here, to be deferred
  std::optional<Careful> careful_;
  Nanos fetched_ns_ = 0;  // when the tasks in hand were read
  queue::Hold hold_;      // how long the partition waits after this lease, and for what (S16)
  bool patient_ = true;   // false: it waited in vain for a careful turn in this lease
};

}  // namespace allot::worker
