// SPDX-License-Identifier: Apache-2.0
// Rules: S16, S63.
#include "worker/settle/settle.h"

#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/mutant.h"
#include "db/from_settings.h"
#include "log/log.h"
#include "meter/meter.h"
#include "peer/doorbell.h"
#include "peer/drain_budget.h"
#include "peer/slot_file.h"
#include "process/own.h"
#include "process/session.h"
#include "queue/model/task_facts.h"
#include "queue/verbs/block.h"
#include "queue/verbs/cancel_request.h"
#include "queue/verbs/detached_store.h"
#include "worker/lease/hints.h"
#include "worker/run/run_log.h"
#include "worker/run/served_queue.h"
#include "worker/settle/recovery.h"

namespace allot::worker {
namespace {

// A run in the slot.
struct FormerRun {
  ipc::RunState state;
  ipc::RunRecord record;
  Facts facts{};  // this and the next two: only of a task that was at work
  queue::Headers headers{};
  [[nodiscard]] queue::TaskId id() const {
    return {{record.queue_id, record.partition_no}, record.prio, record.first_key};
  }
  [[nodiscard]] queue::TaskKey key() const { return {record.prio, record.run_key}; }
};

// Remains of the dead worker, read once from its slot.
struct Remains {
  queue::Partition partition;  // the partition of its lease
  std::vector<queue::Finished> finished;
  std::vector<FormerRun> at_work;    // charged for the death
  std::vector<FormerRun> refunding;  // tasks whose written attempts have to be taken back
  std::vector<FormerRun> detached;   // finished and detached, but not acknowledged
};

// For a queue that keeps a history. The slot does not have the resource usage of the tasks, and it
// cannot be found out any more.
std::optional<queue::Record> record_of(const config::Settings& settings, const char* queue_name,
                                       const queue::Holder& holder, std::uint32_t attempt) {
  const config::Queue* queue = config::find_queue(settings, queue_name);
  if (queue == nullptr || !keeps_history(*queue)) return std::nullopt;
  return queue::Record{holder.host, holder.pid, attempt, {}};
}

Remains read_remains(const config::Settings& settings, const ipc::Slot& slot,
                     const queue::Holder& holder) {
  Remains remains;
  remains.partition = {slot.queue_id, slot.partition_no};
  const auto finished = std::min<std::size_t>(slot.finished_count.load(), ipc::kMaxFinished);
  for (const ipc::FinishedTask& task : std::span(slot.finished).first(finished)) {
    const queue::TaskKey key{static_cast<std::uint32_t>(task.prio), task.run_key};
    remains.finished.push_back(
        {key, task.first_key != 0 ? std::optional(task.first_key) : std::nullopt, task.unique != 0,
         true, record_of(settings, slot.queue_name, holder, 0)});
  }
  for (std::size_t entry = 0; entry < ipc::kMaxRunning; ++entry) {
    const ipc::RunState state = slot.run_states[entry].load();
    const FormerRun run{state, slot.runs[entry]};
    switch (state) {
      case ipc::RunState::kFree:
        break;
      case ipc::RunState::kAnnounced:
      case ipc::RunState::kRefunding:
      case ipc::RunState::kRefundingDetached:
        remains.refunding.push_back(run);
        break;
      case ipc::RunState::kRunning:
      case ipc::RunState::kReturned:
      case ipc::RunState::kRunningDetached:
      case ipc::RunState::kReturnedDetached:
        remains.at_work.push_back(run);
        break;
      case ipc::RunState::kFinished:  // on the list already, or not yet
        std::erase_if(remains.finished, [&](const auto& one) { return one.key == run.key(); });
        remains.finished.push_back(
            {run.key(), run.record.first_key, run.record.unique != 0, true,
             record_of(settings, slot.queue_name, holder, run.record.attempt)});
        break;
      case ipc::RunState::kFinishedDetached:
        remains.detached.push_back(run);
        break;
    }
  }
  return remains;
}

queue::Holder holder_of(const config::Settings& settings, const ipc::Slot& slot) {
  queue::Holder holder = process::own_holder(settings);
  holder.id = slot.holder_id;
  holder.pid = slot.pid;
  return holder;
}

// Why the attempt ended: a word and a text (queue::Verdict).
using Death = std::pair<std::string, std::string>;

// Time of the worker's death; the settler may have waited for the database since.
Nanos death_of(const ipc::Slot& slot) {
  return slot.died_ns != 0 ? slot.died_ns : boot_ns();
}

// Whether the supervisor killed the worker for this task, as in supervisor/workers.
bool over_time(const ipc::Slot& slot, const FormerRun& run) {
  const Nanos deadline = run.record.hard_deadline_ns;
  return ipc::in_handler(run.state) && deadline != 0 && death_of(slot) >= deadline;
}
bool lease_in_doubt(const ipc::Slot& slot, const FormerRun& run) {
  const Nanos deadline = slot.lease_deadline_ns;
  return slot.exclusive != 0 && run.state == ipc::RunState::kRunning && deadline != 0 &&
         death_of(slot) >= deadline;
}

bool was_killed(const WorkerEnd& end) {
  return WIFSIGNALED(end.wait_status) && WTERMSIG(end.wait_status) == SIGKILL;
}

// The tasks that are at fault for the death. With several running tasks, only those for which the
// supervisor killed the worker are known to be.
std::vector<FormerRun*> culprits_of(const WorkerEnd& end, const ipc::Slot& slot, Remains& remains) {
  std::vector<FormerRun*> found;
  const bool sole = remains.at_work.size() == 1;
  if (!sole && (!was_killed(end) || !end.out_of_memory.empty())) return found;
  for (const auto by : {&over_time, &lease_in_doubt}) {
    for (FormerRun& run : remains.at_work) {
      if (sole || by(slot, run)) found.push_back(&run);
    }
    if (!found.empty()) break;
  }
  return found;
}

Death over_limit(const FormerRun& run, const std::string& death) {
  const auto by = static_cast<ipc::Limit>(run.record.limited_by);
  const bool cancelled = by == ipc::Limit::kCancel;
  const char* text = cancelled ? "did not end within cancel_grace of the request to cancel it; "
                     : by == ipc::Limit::kProgress
                         ? "made no progress for longer than its handler allows; "
                         : "exceeded its time limit; ";
  return {cancelled ? std::string(queue::kCancelled) : "timeout", text + death};
}

Death describe_death(const WorkerEnd& end, const ipc::Slot& slot, const FormerRun& run) {
  if (!WIFSIGNALED(end.wait_status)) {
    return {"exit", "worker exited with status " + std::to_string(WEXITSTATUS(end.wait_status)) +
                        " inside the handler"};
  }
  // The kernel kills all of a worker's cgroup at once, so the cause is clear.
  if (was_killed(end) && !end.out_of_memory.empty()) {
    return {"memory", end.out_of_memory + "; killed by the kernel inside the handler"};
  }
  const int number = WTERMSIG(end.wait_status);
  const char* name = sigdescr_np(number);
  const std::string text = "worker killed by signal " + std::to_string(number) + " (" +
                           (name != nullptr ? name : "unknown") + ") inside the handler";
  if (number == SIGKILL && slot.frozen != 0) {
    return {"frozen", "the worker sent no heartbeat for longer than frozen_after; " + text};
  }
  if (number == SIGKILL && over_time(slot, run)) return over_limit(run, text);
  if (number == SIGKILL && lease_in_doubt(slot, run)) {
    return {"lease", "its lease may have been lost; " + text};
  }
  return {"signal", text};
}

// The only known usage of a process that is gone.
queue::Usage usage_of(const ipc::Slot& slot, const ipc::RunRecord& run) {
  const Nanos died = death_of(slot);
  if (run.started_ns == 0 || died < run.started_ns) return {};
  return {(died - run.started_ns) / kMicro, std::nullopt, std::nullopt};
}

bool in_order(db::Connection& db, const ipc::RunRecord& run) {
  const auto queue = queue::find_queue(db, run.queue_name);
  return queue && queue->shape.placement == queue::Placement::kOrdered;
}

// Objects that the settler works with.
struct Tools {
  const config::Settings& settings;
  const ipc::Slot& slot;
  const WorkerEnd& end;
  db::Connection& db;
  const queue::DetachedStore& detached;
  std::optional<queue::Lease> lease;  // the dead worker's, if it still has one
  meter::Meter* meter = nullptr;      // of the slot
};

void count(const Tools& tools, const FormerRun& run, meter::Count what) {
  if (tools.meter == nullptr) return;
  const Nanos died_ns = death_of(tools.slot);
  const bool ran = what < meter::Count::kVerdicts && died_ns > run.record.started_ns;
  meter::Took took;
  if (ran) took.ran = died_ns - run.record.started_ns;
  tools.meter->count(what, run.record.queue_name, run.record.type, took);
}

// Call it once the result of its end is written.
void count_crash(const Tools& tools, const FormerRun& run) {
  const Decision decision = decide(run.facts);
  count(tools, run, decision.what);
  count(tools, run, meter::Count::kCrashed);
  const ipc::RunRecord& record = run.record;
  const auto error = error_of(decision, run.id().partition.queue_id, record.type);
  if (tools.meter == nullptr || !error) return;
  tools.meter->count_error(decision.what,
                           {record.queue_name, record.type, error->group, error->sample});
}

// The fence on a task under the dead worker's lease. nullopt: it has none, or the task left its
// partition.
std::optional<queue::Fence> leased(const Tools& tools, const FormerRun& run) {
  if (!tools.lease || tools.lease->partition != run.id().partition ||
      peer::is_detached(run.state)) {
    return std::nullopt;
  }
  const queue::Lease& lease = *tools.lease;
  return queue::Fence{run.id(),     run.record.run_key, lease.epoch,
                      lease.holder, lease.time,         queue::Fence::Place::kPartition};
}

queue::Fenced write(const Tools& tools, const queue::Fence& fence, const queue::Ending& ending,
                    queue::Then then = queue::Then::kKeepLease) {
  return queue::write(tools.db, tools.detached.holder(), fence, ending, then);
}

// The same for a detached task; nullopt: the dead worker no longer has it.
std::optional<queue::Fenced> write_detached(const Tools& tools, const queue::TaskId& id,
                                            const queue::Ending& ending) {
  const auto held = tools.detached.held(tools.db, id);
  if (!held) return std::nullopt;
  return write(tools, *held, ending);
}

// The slot has the limit of attempts, as decided when the run began.
Facts facts_of(const Tools& tools, const FormerRun& run) {
  const ipc::RunRecord& task = run.record;
  Facts facts = facts_of_crash(tools.db, tools.settings,
                               {run.id(), task.queue_name, task.type, task.attempt, run.headers});
  facts.most = task.max_attempts;
  std::tie(facts.cause, facts.failure.message) = describe_death(tools.end, tools.slot, run);
  facts.usage = usage_of(tools.slot, task);
  facts.record = record_of(tools.settings, task.queue_name, tools.detached.holder(), task.attempt);
  if (facts.record) facts.record->usage = facts.usage;
  return facts;
}

// Ends it under the partition's lease, if the dead worker still has it; else the task was detached,
// or another worker has it by now. The order matters: a detach whose last packet is still executing
// locks the lease's row, so a read after that row is final.
queue::Fenced end_attempt(const Tools& tools, const FormerRun& run, queue::Then then) {
  const queue::Ending ending = *decide(run.facts).ending;  // a crash has something to write
  auto fenced = queue::Fenced::kLost;
  if (const auto fence = leased(tools, run)) fenced = write(tools, *fence, ending, then);
  // A task with neighbours may have been detached although the lease stays.
  if (fenced == queue::Fenced::kWritten && then == queue::Then::kRelease) return fenced;
  return write_detached(tools, run.id(), ending).value_or(fenced);
}

// The task that finished last may have been detached: then its row there is left. Reads after the
// lease's row, as end_attempt() does.
void ack_detached(const Tools& tools, const Remains& remains) {
  std::vector<std::pair<queue::TaskId, std::optional<queue::Record>>> ended;
  for (const FormerRun& run : remains.detached) {
    ended.emplace_back(run.id(), record_of(tools.settings, run.record.queue_name,
                                           tools.detached.holder(), run.record.attempt));
  }
  if (!remains.finished.empty()) {
    const queue::Finished& last = remains.finished.back();
    ended.push_back({{remains.partition, last.key.prio, last.first_key.value_or(last.key.run_key)},
                     last.record});
  }
  for (const auto& [id, record] : ended) {
    static_cast<void>(
        write_detached(tools, id, {queue::Ending::Verb::kAck, 0, {}, {}, {}, record}));
  }
}

// Without the lease nothing is charged, because another worker has the task. Exception: an earlier
// settler charged it, and ended before it could report that.
bool was_charged(db::Connection& db, const FormerRun& run) {
  const auto attempts = queue::list_attempts(db, run.id());
  return std::any_of(attempts.begin(), attempts.end(), [&](const queue::AttemptView& one) {
    return one.attempt == run.record.attempt && one.cause != queue::kUnreported.cause;
  });
}

void log_charge(const FormerRun& run, bool charged) {
  const ipc::RunRecord& task = run.record;
  const std::string id = run.id().text();
  log::warn("task.crashed", {{"task", id},
                             {"type", task.type},
                             trace_field(run.headers.trace.id()),
                             {"queue", task.queue_name},
                             {"partition", task.partition_no},
                             {"attempt", task.attempt},
                             {"max_attempts", task.max_attempts},
                             {"charged", charged},
                             {"cause", run.facts.cause},
                             {"error", run.facts.failure.message}});
  const Decision decision = decide(run.facts);
  if (!charged || decision.what != meter::Count::kDead) return;
  log_dead({id, task.type, task.queue_name, run.headers.trace.id()}, task.attempt,
           decision.ending->verdict);
}

// If a neighbour or an outside kill ended the worker, this task's attempt does not count. Gives it
// back only under the lease in which it was announced: since then others may have charged it.
void refund(const Tools& tools, const FormerRun& run) {
  queue::Ending back{queue::Ending::Verb::kRefund, run.record.attempt};
  back.begun = run.record.started_ns != 0;
  auto fenced = queue::Fenced::kLost;
  const auto fence = leased(tools, run);
  if (fence && fence->epoch == tools.slot.epoch.load()) fenced = write(tools, *fence, back);
  if (fenced == queue::Fenced::kLost) {
    fenced = write_detached(tools, run.id(), back).value_or(fenced);
  }
  if (fenced == queue::Fenced::kLost) return;
  log::info("task.not_started", {{"task", run.id().text()},
                                 {"reason", "its worker ended before a verdict was received"}});
}

// Spares tasks that ran concurrently, if it is unknown which one was at fault (`suspected`), or if
// another one was. Ends the lease, if it has not ended yet.
void spare(const Tools& tools, const std::vector<FormerRun*>& neighbours, bool suspected) {
  const auto verb = suspected ? queue::Ending::Verb::kSuspect : queue::Ending::Verb::kRefund;
  std::vector<queue::Fence> in_partition;
  for (const FormerRun* run : neighbours) {
    if (const auto fence = leased(tools, *run)) in_partition.push_back(*fence);
  }
  if (suspected && !in_partition.empty()) {
    static_cast<void>(queue::mark_called(tools.db, in_partition, true, queue::Then::kRelease));
  }
  for (const FormerRun* run : neighbours) {
    static_cast<void>(write_detached(tools, run->id(), {verb, run->record.attempt}));
    count(tools, *run, meter::Count::kInterrupted);
    log::info("task.interrupted_by_crash", {{"task", run->id().text()},
                                            {"type", run->record.type},
                                            trace_field(run->headers.trace.id()),
                                            {"charged", false},
                                            {"suspected", suspected}});
  }
}

// A14: no attempt of the spared tasks will record that they have begun. Comes before the lease
// ends.
void note_begun(const Tools& tools, const std::vector<FormerRun>& at_work) {
  std::vector<queue::Fence> fences;
  for (const FormerRun& run : at_work) {
    if (const auto fence = leased(tools, run)) fences.push_back(*fence);
  }
  if (fences.size() > 1) static_cast<void>(queue::mark_called(tools.db, fences, false));
}

void kill_former_connections(db::Connection& db, const ipc::Slot& slot) {
  std::vector<queue::FormerConnection> connections;
  for (std::size_t i = 0; i < std::size(slot.connection_ids); ++i) {
    connections.push_back(process::former_connection(slot, i));
  }
  queue::kill_connections(db, connections);
}

void count_failed(const config::Settings& settings) {
  if (settings.drain_budget.empty()) return;
  peer::DrainBudget* budget = peer::map_drain_budget(settings.drain_budget);
  if (budget != nullptr) ++budget->failed;
}

// Ends a task for whose end there is a request: nothing is charged or retried (B11).
void end_cancelled(const Tools& tools, const FormerRun& run) {
  const auto fenced = end_attempt(tools, run, queue::Then::kKeepLease);
  if (fenced == queue::Fenced::kLost && !was_charged(tools.db, run)) return;
  count_crash(tools, run);
  const bool as_done = run.facts.cancel->as_done;
  log_cancelled({run.id().text(), run.record.type, run.headers.trace.id()},
                run.facts.cancel->reason,
                run.facts.failure.message + (as_done ? ", and it counts as done" : ""));
}

void charge_culprits(const Tools& tools, const std::vector<FormerRun*>& culprits) {
  for (FormerRun* run : culprits) {
    find_earlier_crash(tools.db, run->id(), run->facts);
    // A first crash is retried in place in every queue (S10).
    if (run->facts.crashed_before) run->facts.in_order = in_order(tools.db, run->record);
    const bool last = run == culprits.back();
    const auto fenced =
        end_attempt(tools, *run, last ? queue::Then::kRelease : queue::Then::kKeepLease);
    const bool charged = fenced == queue::Fenced::kWritten || was_charged(tools.db, *run);
    log_charge(*run, charged);
    if (!charged) continue;
    count_failed(tools.settings);
    count_crash(tools, *run);
  }
}

// Settles every task in the slot, and the lease.
void settle_tasks(const Tools& tools, Remains remains) {
  if (mutant::removed("crash_charge")) remains.at_work.clear();
  for (FormerRun& run : remains.at_work) {
    run.headers = queue::find_headers(tools.db, run.id(), run.record.run_key);
    run.facts = facts_of(tools, run);
  }
  for (const FormerRun& run : remains.refunding) refund(tools, run);
  note_begun(tools, remains.at_work);
  auto blamed = culprits_of(tools.end, tools.slot, remains);
  const std::size_t culprits = blamed.size();
  std::erase_if(blamed, [](const FormerRun* run) { return run->facts.cancel.has_value(); });
  // Several tasks over their time were in one call (A13), and any of them may have hung: each is
  // charged once it runs alone.
  const bool unknown = culprits == 0 || (culprits > 1 && !blamed.empty());
  if (unknown) blamed.clear();
  std::vector<FormerRun*> spared;
  for (FormerRun& run : remains.at_work) {
    if (run.facts.cancel) {
      end_cancelled(tools, run);
    } else if (std::find(blamed.begin(), blamed.end(), &run) == blamed.end()) {
      spared.push_back(&run);
    }
  }
  // Tasks under the lease come last: the last of them ends it.
  std::stable_partition(blamed.begin(), blamed.end(),
                        [&](const FormerRun* run) { return !leased(tools, *run); });
  charge_culprits(tools, blamed);
  spare(tools, spared, unknown);
  ack_detached(tools, remains);
}

}  // namespace

void settle(const config::Settings& settings, const ipc::Slot& slot, const WorkerEnd& end,
            ipc::Board* board) {
  if (was_killed(end) && !end.out_of_memory.empty()) {
    log::warn("worker.out_of_memory",
              {{"slot", slot.index}, {"pid", slot.pid}, {"error", end.out_of_memory}});
  }
  const queue::Holder holder = holder_of(settings, slot);
  const Remains remains = read_remains(settings, slot, holder);
  const queue::LeaseStore leases(holder, settings.daemon.lease_ttl);
  const queue::DetachedStore detached(leases.holder(), leases.ttl());
  db::Connection db = process::connect(db::from_settings(settings));
  if (!mutant::removed("kill_connections")) kill_former_connections(db, slot);
  queue::ack(db, remains.partition, remains.finished);
  const auto epoch = leases.held_epoch(db, remains.partition);
  const auto meter = process::own_meter(settings, slot.index);
  if (meter != nullptr) meter->count(meter::Event::kSettled);
  Tools tools{settings, slot, end, db, detached, std::nullopt, meter.get()};
  if (epoch) tools.lease = queue::Lease{remains.partition, *epoch, holder.id, std::nullopt, {}};
  settle_tasks(tools, remains);
  // Releases the lease unless a charge ended it; then the epoch is another one by now.
  if (tools.lease) leases.release(db, *tools.lease);
  if (board != nullptr && slot.pool < std::size(board->pools)) {
    ipc::PoolBoard& pool = board->pools[slot.pool];
    push_urgent(pool, make_hint(remains.partition.queue_id, remains.partition.partition_no));
    peer::wake(pool.bell, 1);
  }
  log::info("worker.settled", {{"slot", slot.index},
                               {"pid", slot.pid},
                               {"queue", slot.queue_name},
                               {"partition", remains.partition.partition_no},
                               {"acknowledged", remains.finished.size()},
                               {"lease_held", epoch.has_value()}});
}

}  // namespace allot::worker
