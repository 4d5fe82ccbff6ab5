// SPDX-License-Identifier: Apache-2.0
#include "worker/settle.h"

#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/mutant.h"
#include "db/from_settings.h"
#include "log/log.h"
#include "peer/doorbell.h"
#include "peer/drain_budget.h"
#include "queue/block.h"
#include "queue/cancel_request.h"
#include "queue/dead_letter.h"
#include "queue/detached_store.h"
#include "queue/inspect.h"
#include "worker/cancel_watch.h"
#include "worker/connect.h"
#include "worker/former_connection.h"
#include "worker/hints.h"
#include "worker/own_holder.h"
#include "worker/recovery.h"
#include "worker/run_hooks.h"

namespace allot::worker {
namespace {

// A task that the slot names.
struct Left {
  ipc::RunningTask task;
  Facts facts{};  // only of a task that was in its handler
  [[nodiscard]] queue::TaskId id() const {
    return {{task.queue_id, task.partition_no}, task.prio, task.first_key};
  }
  [[nodiscard]] queue::TaskKey key() const { return {task.prio, task.run_key}; }
};

// What the dead worker left behind, read once from its slot.
struct Remains {
  queue::Partition partition;  // the partition of its lease
  std::vector<queue::Finished> finished;
  std::vector<Left> running;      // tasks inside their handlers
  std::vector<Left> interrupted;  // tasks whose written attempts have to be given back
  std::vector<Left> detached;     // finished, but not acknowledged
};

void read_finished(const ipc::Slot& slot, Remains& remains) {
  const auto finished = std::min<std::size_t>(slot.finished_count.load(), ipc::kMaxFinished);
  for (std::size_t i = 0; i < finished; ++i) {
    const ipc::FinishedTask& task = slot.finished[i];
    const queue::TaskKey key{static_cast<std::uint32_t>(task.prio), task.run_key};
    remains.finished.push_back({key,
                                task.first_key != 0 ? std::optional(task.first_key) : std::nullopt,
                                task.unique != 0, true, std::nullopt});
  }
}

Remains read_remains(const ipc::Slot& slot) {
  Remains remains;
  remains.partition = {slot.queue_id, slot.partition_no};
  read_finished(slot, remains);
  const std::uint32_t running = slot.running_count.load();
  for (std::uint32_t i = 0; i < ipc::kMaxRunning; ++i) {
    const Left left{.task = slot.running[i]};
    if (left.task.attempt == 0) continue;
    const bool done = left.id().partition == remains.partition &&
                      std::any_of(remains.finished.begin(), remains.finished.end(),
                                  [&](const auto& one) { return one.key == left.key(); });
    if (left.task.announced == 1) {
      remains.interrupted.push_back(left);
    } else if (left.task.announced == 0 && i < running && !done) {
      remains.running.push_back(left);
    } else if (left.task.announced != 0 || i < running) {
      remains.detached.push_back(left);  // if it was detached: only then is its row left
    }
  }
  return remains;
}

// For a queue that keeps a history. The slot does not say what the tasks used, and nobody knows it
// now.
std::optional<queue::Record> record_of(const config::Settings& settings, const char* queue_name,
                                       const queue::Holder& holder, std::uint32_t attempt) {
  const config::Queue* queue = config::find_queue(settings, queue_name);
  if (queue == nullptr || !keeps_history(*queue)) return std::nullopt;
  return queue::Record{holder.host, holder.pid, attempt, {}};
}

void keep_records(const config::Settings& settings, const ipc::Slot& slot,
                  const queue::Holder& holder, Remains& remains) {
  for (queue::Finished& one : remains.finished) {
    const auto last =
        std::find_if(remains.detached.begin(), remains.detached.end(), [&](const Left& left) {
          return left.id().partition == remains.partition && left.key() == one.key;
        });
    const std::uint32_t attempt = last != remains.detached.end() ? last->task.attempt : 0;
    one.record = record_of(settings, slot.queue_name, holder, attempt);
  }
}

queue::Holder holder_of(const config::Settings& settings, const ipc::Slot& slot) {
  queue::Holder holder = own_holder(settings);
  holder.id = slot.holder_id;
  holder.pid = slot.pid;
  return holder;
}

// Why the attempt ended: a word and a text (queue::Verdict).
struct Death {
  std::string_view cause;
  std::string text;
};

// When the worker died; the settler may have waited for the database since.
Nanos death_of(const ipc::Slot& slot) {
  return slot.died_ns != 0 ? slot.died_ns : boot_ns();
}

// Whether the supervisor killed the worker for this task, as in supervisor/workers.
bool over_time(const ipc::Slot& slot, const ipc::RunningTask& running) {
  return running.hard_deadline_ns != 0 && death_of(slot) >= running.hard_deadline_ns;
}
bool lease_in_doubt(const ipc::Slot& slot, const ipc::RunningTask& running) {
  const Nanos deadline = slot.lease_deadline_ns;
  return slot.exclusive != 0 && running.detached == 0 && deadline != 0 &&
         death_of(slot) >= deadline;
}

bool was_killed(const WorkerEnd& end) {
  return WIFSIGNALED(end.wait_status) && WTERMSIG(end.wait_status) == SIGKILL;
}

// The tasks that are at fault for the death. Of several running tasks, only those for which the
// supervisor killed the worker are known to be.
std::vector<Left> culprits_of(const WorkerEnd& end, const ipc::Slot& slot, const Remains& remains) {
  if (remains.running.size() < 2) return remains.running;
  std::vector<Left> found;
  if (!was_killed(end) || !end.out_of_memory.empty()) return found;
  for (const auto by : {&over_time, &lease_in_doubt}) {
    std::copy_if(remains.running.begin(), remains.running.end(), std::back_inserter(found),
                 [&](const Left& left) { return by(slot, left.task); });
    if (!found.empty()) break;
  }
  return found;
}

Death describe_death(const WorkerEnd& end, const ipc::Slot& slot, const ipc::RunningTask& running) {
  if (!WIFSIGNALED(end.wait_status)) {
    return {"exit", "worker exited with status " + std::to_string(WEXITSTATUS(end.wait_status)) +
                        " inside the handler"};
  }
  // The kernel kills all of a worker's cgroup at once, so it was nobody else.
  if (was_killed(end) && !end.out_of_memory.empty()) {
    return {"memory", end.out_of_memory + "; killed by the kernel inside the handler"};
  }
  const int number = WTERMSIG(end.wait_status);
  const char* name = sigdescr_np(number);
  const std::string text = "worker killed by signal " + std::to_string(number) + " (" +
                           (name != nullptr ? name : "unknown") + ") inside the handler";
  if (number == SIGKILL && slot.frozen != 0) {
    return {"frozen", "the worker gave no sign of life for longer than frozen_after; " + text};
  }
  if (number == SIGKILL && over_time(slot, running)) {
    const bool silent = running.limited_by == static_cast<std::uint32_t>(ipc::Limit::kProgress);
    return {"timeout", (silent ? "made no progress for longer than its handler promised; "
                               : "ran over its time limit; ") +
                           text};
  }
  if (number == SIGKILL && lease_in_doubt(slot, running)) {
    return {"lease", "its lease was in doubt; " + text};
  }
  return {"signal", text};
}

// All that is known about a process that is gone.
queue::Usage usage_of(const ipc::Slot& slot, const ipc::RunningTask& running) {
  const Nanos died = death_of(slot);
  if (running.started_ns == 0 || died < running.started_ns) return {};
  return {(died - running.started_ns) / kMicro, std::nullopt, std::nullopt};
}

bool in_order(db::Connection& db, const ipc::RunningTask& running) {
  const auto queue = queue::find_queue(db, running.queue_name);
  return queue && queue->shape.placement == queue::Placement::kOrdered;
}

// The objects that the settler works with.
struct Tools {
  db::Connection& db;
  const queue::DetachedStore& detached;
  std::optional<queue::Lease> lease;  // the dead worker's, if it still has one
};

// The claim on a task under the dead worker's lease. nullopt: it has none, or the task left its
// partition.
std::optional<queue::Claim> leased(const Tools& tools, const Left& left) {
  if (!tools.lease || tools.lease->partition != left.id().partition || left.task.detached != 0) {
    return std::nullopt;
  }
  const queue::Lease& lease = *tools.lease;
  return queue::Claim{left.id(),    left.task.run_key, lease.epoch,
                      lease.holder, lease.time,        queue::Claim::Place::kPartition};
}

queue::Fenced write(const Tools& tools, const queue::Claim& claim, const queue::Ending& ending,
                    queue::Then then = queue::Then::kKeepLease) {
  return queue::write(tools.db, tools.detached.holder(), claim, ending, then);
}

// The slot says how often the task may be tried, as decided when it began.
Facts facts_of(const Tools& tools, const config::Settings& settings, const ipc::Slot& slot,
               const WorkerEnd& end, const Left& left) {
  const ipc::RunningTask& task = left.task;
  Facts facts = facts_of_crash(
      tools.db, settings, {left.id(), task.queue_name, task.type, task.attempt, task.max_attempts});
  Death death = describe_death(end, slot, task);
  facts.cause = death.cause;
  facts.error = std::move(death.text);
  facts.usage = usage_of(slot, task);
  facts.record = record_of(settings, task.queue_name, tools.detached.holder(), task.attempt);
  if (facts.record) facts.record->usage = facts.usage;
  return facts;
}

// Ends it under the partition's lease, if the dead worker still has it; else the task was detached,
// or another worker has it by now. The order matters: a detach whose last packet is still executing
// locks the lease's row, so a look after that row is final.
queue::Fenced end_attempt(const Tools& tools, const Left& left, queue::Then then) {
  const queue::Ending ending = *decide(left.facts).ending;  // a crash has something to write
  auto fenced = queue::Fenced::kLost;
  if (const auto claim = leased(tools, left)) fenced = write(tools, *claim, ending, then);
  // A lease that stays says nothing about a task that was detached beside others.
  if (fenced == queue::Fenced::kWritten && then == queue::Then::kRelease) return fenced;
  const auto held = tools.detached.held(tools.db, left.id());
  return held ? write(tools, *held, ending) : fenced;
}

// The task that finished last may have been detached: then its row there is left. Looks after the
// lease's row, as end_attempt() does.
void ack_detached(const Tools& tools, const config::Settings& settings, const Remains& remains) {
  std::vector<std::pair<queue::TaskId, std::optional<queue::Record>>> ended;
  for (const Left& left : remains.detached) {
    ended.emplace_back(left.id(), record_of(settings, left.task.queue_name, tools.detached.holder(),
                                            left.task.attempt));
  }
  if (!remains.finished.empty()) {
    const queue::Finished& last = remains.finished.back();
    ended.push_back({{remains.partition, last.key.prio, last.first_key.value_or(last.key.run_key)},
                     last.record});
  }
  for (const auto& [id, record] : ended) {
    const auto held = tools.detached.held(tools.db, id);
    if (held)
      static_cast<void>(write(tools, *held, {queue::Ending::Verb::kAck, 0, {}, {}, {}, record}));
  }
}

// Without the lease nothing is charged, because another worker has the task; unless an earlier
// settler charged it, and ended before it could say so.
bool was_charged(db::Connection& db, const Left& left) {
  const auto attempts = queue::list_attempts(db, left.id());
  return std::any_of(attempts.begin(), attempts.end(), [&](const queue::AttemptView& one) {
    return one.attempt == left.task.attempt && one.cause != queue::kLost.cause;
  });
}

void log_charge(const Left& left, bool charged) {
  const ipc::RunningTask& task = left.task;
  const std::string id = left.id().text();
  log::warn("task.crashed", {{"task", id},
                             {"type", task.type},
                             {"queue", task.queue_name},
                             {"partition", task.partition_no},
                             {"attempt", task.attempt},
                             {"of", task.max_attempts},
                             {"charged", charged},
                             {"cause", left.facts.cause},
                             {"error", left.facts.error}});
  if (!charged || task.attempt < task.max_attempts) return;
  log_dead(id, task.type, task.attempt, {left.facts.cause, left.facts.error});
}

// When a neighbour or somebody outside ended the worker, this task's attempt does not count. Gives
// it back only under the lease in which it was announced: since then others may have charged it.
void refund(const Tools& tools, const ipc::Slot& slot, const Left& left) {
  const queue::Ending back{queue::Ending::Verb::kRefund, left.task.attempt};
  auto fenced = queue::Fenced::kLost;
  const auto claim = leased(tools, left);
  if (claim && claim->epoch == slot.epoch.load()) fenced = write(tools, *claim, back);
  if (fenced == queue::Fenced::kLost) {
    const auto held = tools.detached.held(tools.db, left.id());
    if (held) fenced = write(tools, *held, back);
  }
  if (fenced == queue::Fenced::kLost) return;
  log::info("task.not_started",
            {{"task", left.id().text()}, {"reason", "its worker ended before it had a verdict"}});
}

// Spares tasks that ran beside others, when nobody knows which was at fault (`suspected`), or when
// another one was. Ends the lease, if it has not ended yet.
void spare(const Tools& tools, const std::vector<Left>& neighbours, bool suspected) {
  using Verb = queue::Ending::Verb;
  std::vector<queue::Claim> in_partition;
  for (const Left& left : neighbours) {
    if (const auto claim = leased(tools, left)) in_partition.push_back(*claim);
  }
  if (suspected && !in_partition.empty()) {
    static_cast<void>(queue::suspect(tools.db, in_partition, queue::Then::kRelease));
  }
  for (const Left& left : neighbours) {
    if (const auto held = tools.detached.held(tools.db, left.id())) {
      static_cast<void>(
          write(tools, *held, {suspected ? Verb::kSuspect : Verb::kRefund, left.task.attempt}));
    }
    log::info("task.beside_a_crash", {{"task", left.id().text()},
                                      {"type", left.task.type},
                                      {"charged", false},
                                      {"suspected", suspected}});
  }
}

void kill_former_connections(db::Connection& db, const ipc::Slot& slot) {
  std::vector<queue::FormerConnection> connections;
  for (std::size_t i = 0; i < std::size(slot.connection_ids); ++i) {
    connections.push_back(former_connection(slot, i));
  }
  queue::kill_connections(db, connections);
}

void count_crash(const config::Settings& settings) {
  if (settings.drain_budget.empty()) return;
  peer::DrainBudget* budget = peer::map_drain_budget(settings.drain_budget);
  if (budget != nullptr) ++budget->failed;
}

// Ends the tasks whose end somebody asked for now: nothing is charged, and nothing tried again
// (B11).
std::vector<Left> end_cancelled(const Tools& tools, const std::vector<Left>& running) {
  std::vector<Left> ended;
  for (const Left& left : running) {
    const auto& cancel = left.facts.cancel;
    if (!cancel) continue;
    ended.push_back(left);
    const auto fenced = end_attempt(tools, left, queue::Then::kKeepLease);
    if (fenced == queue::Fenced::kLost && !was_charged(tools.db, left)) continue;
    log_cancelled(left.id().text(), left.task.type, cancel->reason,
                  left.facts.error + (cancel->as_done ? ", and it counts as done" : ""));
  }
  return ended;
}

std::vector<Left> all_but(const std::vector<Left>& these, const std::vector<Left>& those) {
  std::vector<Left> rest;
  std::copy_if(these.begin(), these.end(), std::back_inserter(rest), [&](const Left& one) {
    return std::none_of(those.begin(), those.end(),
                        [&](const Left& other) { return one.id() == other.id(); });
  });
  return rest;
}

void charge_culprits(const Tools& tools, const config::Settings& settings,
                     std::vector<Left> culprits) {
  for (Left& left : culprits) {
    look_back(tools.db, left.id(), left.facts);
    // A first crash is tried again where the task is in every queue.
    if (left.facts.crashed_before) left.facts.in_order = in_order(tools.db, left.task);
    const bool last = &left == &culprits.back();
    const auto fenced =
        end_attempt(tools, left, last ? queue::Then::kRelease : queue::Then::kKeepLease);
    const bool charged = fenced == queue::Fenced::kWritten || was_charged(tools.db, left);
    log_charge(left, charged);
    if (charged) count_crash(settings);
  }
}

// Settles every task that the slot names, and the lease.
void settle_tasks(const Tools& tools, const config::Settings& settings, const ipc::Slot& slot,
                  Remains remains, const WorkerEnd& end) {
  if (mutant::removed("crash_charge")) remains.running.clear();
  for (Left& left : remains.running) left.facts = facts_of(tools, settings, slot, end, left);
  for (const Left& left : remains.interrupted) refund(tools, slot, left);
  const auto culprits = culprits_of(end, slot, remains);
  const auto cancelled = end_cancelled(tools, remains.running);
  auto blamed = all_but(culprits, cancelled);
  // Several tasks over their time were in one call (A13), and any of them may have hung: each is
  // charged once it runs alone.
  const bool unknown = culprits.empty() || (culprits.size() > 1 && !blamed.empty());
  if (unknown) blamed.clear();
  // Tasks under the lease come last: the last of them ends it.
  std::stable_partition(blamed.begin(), blamed.end(),
                        [&](const Left& left) { return !leased(tools, left); });
  charge_culprits(tools, settings, blamed);
  spare(tools, all_but(all_but(remains.running, blamed), cancelled), unknown);
  ack_detached(tools, settings, remains);
}

void put_first_in_line(ipc::Board& board, std::uint32_t pool, queue::Partition partition) {
  push_urgent(board.pools[pool], make_hint(partition.queue_id, partition.partition_no));
  peer::wake(board.pools[pool], 1);
}

}  // namespace

void settle(const config::Settings& settings, const ipc::Slot& slot, const WorkerEnd& end,
            ipc::Board* board) {
  if (was_killed(end) && !end.out_of_memory.empty()) {
    log::warn("worker.out_of_memory",
              {{"slot", slot.index}, {"pid", slot.pid}, {"error", end.out_of_memory}});
  }
  Remains remains = read_remains(slot);
  const queue::Holder holder = holder_of(settings, slot);
  keep_records(settings, slot, holder, remains);
  const queue::LeaseStore leases(holder, settings.daemon.lease_ttl);
  const queue::DetachedStore detached(leases.holder(), leases.ttl());
  db::Connection db = connect(db::from_settings(settings.database));
  if (!mutant::removed("kill_connections")) kill_former_connections(db, slot);
  queue::ack(db, remains.partition, remains.finished);
  const auto epoch = leases.held_epoch(db, remains.partition);
  Tools tools{db, detached, std::nullopt};
  if (epoch) tools.lease = queue::Lease{remains.partition, *epoch, holder.id, std::nullopt, {}};
  settle_tasks(tools, settings, slot, remains, end);
  // Releases the lease unless a charge ended it; then the epoch is another one by now.
  if (tools.lease) leases.release(db, *tools.lease);
  if (board != nullptr && slot.pool < ipc::kMaxPools) {
    put_first_in_line(*board, slot.pool, remains.partition);
  }
  log::info("worker.settled", {{"slot", slot.index},
                               {"pid", slot.pid},
                               {"queue", slot.queue_name},
                               {"partition", remains.partition.partition_no},
                               {"acknowledged", remains.finished.size()},
                               {"lease_held", epoch.has_value()}});
}

}  // namespace allot::worker
