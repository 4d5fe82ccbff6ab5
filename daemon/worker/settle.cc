// SPDX-License-Identifier: Apache-2.0
#include "worker/settle.h"

#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "db/from_settings.h"
#include "db/mutation.h"
#include "log/log.h"
#include "peer/doorbell.h"
#include "peer/tally.h"
#include "queue/cancel_request.h"
#include "queue/dead_letter.h"
#include "queue/detached_store.h"
#include "queue/inspect.h"
#include "queue/task_store.h"
#include "worker/cancel_watch.h"
#include "worker/connect.h"
#include "worker/hints.h"
#include "worker/recovery.h"
#include "worker/run_hooks.h"

namespace allot::worker {
namespace {

// What became of the task that the slot names.
enum class Last {
  kNone,         // there is nothing to it
  kInterrupted,  // its attempt is written, and to be given back
  kRunning,      // inside its handler
  kFinished      // the worker died before it could say so
};

// What the dead worker left behind, read once from its slot.
struct Remains {
  queue::Partition partition;
  std::vector<queue::Finished> finished;
  Last last = Last::kNone;
  ipc::RunningTask task{};  // of which `last` tells
  [[nodiscard]] queue::TaskId id() const { return {partition, task.prio, task.first_key}; }
};

Remains read_remains(const ipc::Slot& slot) {
  Remains remains;
  remains.partition = {slot.queue_id, slot.partition_no};
  const auto finished = std::min<std::size_t>(slot.finished_count.load(), ipc::kMaxFinished);
  for (std::size_t i = 0; i < finished; ++i) {
    const ipc::FinishedTask& task = slot.finished[i];
    const queue::TaskKey key{static_cast<std::uint32_t>(task.prio), task.run_key};
    remains.finished.push_back({key,
                                task.first_key != 0 ? std::optional(task.first_key) : std::nullopt,
                                task.unique != 0, true, std::nullopt});
  }
  const ipc::RunningTask& task = remains.task = slot.running[0];
  if (slot.running_count.load() == 0) {
    if (task.announced != 0) remains.last = Last::kInterrupted;
    return remains;
  }
  const bool finished_it =
      std::any_of(remains.finished.begin(), remains.finished.end(), [&](const auto& one) {
        return one.key == queue::TaskKey{task.prio, task.run_key};
      });
  remains.last = finished_it ? Last::kFinished : Last::kRunning;
  return remains;
}

// For a queue that keeps a history. What they used is not in the slot, and nobody knows it now.
void keep_records(const config::Settings& settings, const ipc::Slot& slot,
                  const queue::Holder& holder, Remains& remains) {
  const config::Queue* queue = config::find_queue(settings, slot.queue_name);
  if (queue == nullptr || !keeps_history(*queue)) return;
  for (queue::Finished& one : remains.finished) {
    const bool last = remains.last == Last::kFinished &&
                      one.key == queue::TaskKey{remains.task.prio, remains.task.run_key};
    one.record = queue::Record{holder.host, holder.pid, last ? remains.task.attempt : 0, {}};
  }
}

queue::Holder holder_of(const config::Settings& settings, const ipc::Slot& slot) {
  queue::Holder holder =
      queue::make_holder(settings.daemon.instance, config::runtime_dir(settings));
  holder.id = slot.holder_id;
  holder.pid = slot.pid;
  return holder;
}

// Why the attempt ended: a word and a text (queue::Verdict).
struct Death {
  std::string_view cause;
  std::string text;
};

// When it died; the database may have let the settler wait since.
Nanos death_of(const ipc::Slot& slot) {
  return slot.died_ns != 0 ? slot.died_ns : boot_ns();
}

Death describe_death(int wait_status, const ipc::Slot& slot, const ipc::RunningTask& running) {
  if (!WIFSIGNALED(wait_status)) {
    return {"exit", "worker exited with status " + std::to_string(WEXITSTATUS(wait_status)) +
                        " inside the handler"};
  }
  const int number = WTERMSIG(wait_status);
  const char* name = sigdescr_np(number);
  const std::string text = "worker killed by signal " + std::to_string(number) + " (" +
                           (name != nullptr ? name : "unknown") + ") inside the handler";
  const Nanos died = death_of(slot);
  const auto over = [died](Nanos deadline) { return deadline != 0 && died >= deadline; };
  // What the supervisor kills for, as in supervisor/workers.
  if (number == SIGKILL && over(running.hard_deadline_ns)) {
    const bool silent = running.limited_by == static_cast<std::uint32_t>(ipc::Limit::kProgress);
    return {"timeout", (silent ? "made no progress for longer than its handler promised; "
                               : "ran over its time limit; ") +
                           text};
  }
  if (number == SIGKILL && slot.exclusive != 0 && over(slot.lease_deadline_ns)) {
    return {"lease", "its lease was in doubt; " + text};
  }
  return {"signal", text};
}

// All that is known of a process that is gone.
queue::Usage usage_of(const ipc::Slot& slot, const ipc::RunningTask& running) {
  const Nanos died = death_of(slot);
  if (running.started_ns == 0 || died < running.started_ns) return {};
  return {(died - running.started_ns) / kMicro, std::nullopt, std::nullopt};
}

// Of the task that was running; how often it may be tried was decided when it began.
CrashPolicy policy_of(const config::Settings& settings, const ipc::Slot& slot,
                      const ipc::RunningTask& running) {
  CrashPolicy policy = crash_policy(settings, slot.queue_name, running.type, running.attempt);
  policy.max_attempts = running.max_attempts;
  return policy;
}

bool in_order(db::Connection& db, const ipc::Slot& slot) {
  const auto queue = queue::find_queue(db, slot.queue_name);
  return queue && queue->shape.placement == queue::Placement::kOrdered;
}

// S10: the first crash is retried without delay, where the task stands; later ones by the policy.
// In an ordered queue it is the partition that waits (S16).
queue::Landed charge_leased(db::Connection& db, const queue::TaskStore& tasks,
                            const queue::Lease& lease, const ipc::RunningTask& running,
                            const CrashPolicy& policy, const queue::Verdict& verdict,
                            bool in_order) {
  queue::Task task;
  task.key = {running.prio, running.run_key};
  task.first_key = running.first_key;
  const std::uint32_t attempt = running.attempt;
  if (attempt >= policy.max_attempts) {
    return tasks.bury(db, lease, task, attempt, verdict, queue::Then::kRelease, policy.on_dead);
  }
  if (!crashed_before(db, {lease.partition, running.prio, running.first_key}, attempt)) {
    return tasks.charge(db, lease, task, attempt, verdict, queue::Then::kRelease);
  }
  if (in_order) {
    return tasks.charge(db, lease, task, attempt, verdict, queue::Then::kRelease, policy.delay);
  }
  return tasks.retry(db, lease, task, attempt, policy.delay, verdict, queue::Then::kRelease);
}

// Under its partition's lease, if that is still the dead worker's; else it was detached, or is
// somebody's by now. In this order: a detach whose last packet is still executing has the lease's
// row, so that what is found after a look at that row is final.
queue::Landed charge(db::Connection& db, const queue::TaskStore& tasks,
                     const queue::DetachedStore& detached, const std::optional<queue::Lease>& lease,
                     const Remains& remains, const CrashPolicy& policy,
                     const queue::Verdict& verdict, bool in_order) {
  if (lease && charge_leased(db, tasks, *lease, remains.task, policy, verdict, in_order) ==
                   queue::Landed::kYes) {
    return queue::Landed::kYes;
  }
  const auto held = detached.held(db, remains.id());
  if (!held) return queue::Landed::kLeaseGone;
  return charge_detached(db, *held, remains.task.attempt, policy, verdict);
}

// What finished last may have been detached: then its row there is left of it. After a look at the
// lease's row, as in charge().
void ack_detached(db::Connection& db, const queue::DetachedStore& detached,
                  const Remains& remains) {
  if (remains.finished.empty()) return;
  const queue::Finished& last = remains.finished.back();
  const queue::TaskId id{remains.partition, last.key.prio,
                         last.first_key.value_or(last.key.run_key)};
  const auto held = detached.held(db, id);
  if (held) static_cast<void>(queue::DetachedStore::ack(db, *held, last.record));
}

// Without the lease nothing is charged, and the task is somebody else's; unless an earlier settler
// charged it, and ended before it could say so.
bool was_charged(db::Connection& db, const Remains& remains) {
  const auto attempts = queue::list_attempts(db, remains.id());
  return std::any_of(attempts.begin(), attempts.end(), [&](const queue::AttemptView& one) {
    return one.attempt == remains.task.attempt && one.cause != queue::kLost.cause;
  });
}

void log_charge(const Remains& remains, const ipc::Slot& slot, const Death& death, bool charged) {
  const ipc::RunningTask& task = remains.task;
  const std::string id = remains.id().text();
  log::warn("task.crashed", {{"task", id},
                             {"type", task.type},
                             {"queue", slot.queue_name},
                             {"partition", remains.partition.partition_no},
                             {"attempt", task.attempt},
                             {"of", task.max_attempts},
                             {"charged", charged},
                             {"cause", death.cause},
                             {"error", death.text}});
  if (!charged || task.attempt < task.max_attempts) return;
  log_dead(id, task.type, task.attempt, {death.cause, death.text});
}

// What a neighbour or somebody outside did to the worker is not this task's attempt. Only under the
// lease in which it was announced: since then others may have charged it.
void give_back(db::Connection& db, const queue::TaskStore& tasks,
               const queue::DetachedStore& detached, const std::optional<queue::Lease>& lease,
               const ipc::Slot& slot, const Remains& remains) {
  queue::Task task;
  task.key = {remains.task.prio, remains.task.run_key};
  task.first_key = remains.task.first_key;
  auto landed = queue::Landed::kLeaseGone;
  if (lease && lease->epoch == slot.epoch.load()) {
    landed = tasks.give_back(db, *lease, task, remains.task.attempt);
  }
  if (landed == queue::Landed::kLeaseGone) {
    const auto held = detached.held(db, remains.id());
    if (held) landed = queue::DetachedStore::give_back(db, *held, remains.task.attempt);
  }
  if (landed == queue::Landed::kLeaseGone) return;
  log::info("task.not_started", {{"task", remains.id().text()},
                                 {"reason", "its worker ended before it had a verdict"}});
}

void kill_former_connections(db::Connection& db, const ipc::Slot& slot) {
  std::vector<queue::FormerConnection> connections;
  for (int i = 0; i < 2; ++i) {
    connections.push_back({slot.connection_ids[i].load(), slot.server_ids[i],
                           std::chrono::nanoseconds(boot_ns() - slot.connected_ns[i])});
  }
  queue::kill_connections(db, connections);
}

void count_crash(const config::Settings& settings) {
  if (settings.tally.empty()) return;
  peer::Tally* tally = peer::map_tally(settings.tally);
  if (tally != nullptr) ++tally->failed;
}

// The task that was running. One of which somebody asked the end is dead now: nothing is charged,
// and nothing tried again (B11).
void charge_running(const config::Settings& settings, db::Connection& db,
                    const queue::TaskStore& tasks, const queue::DetachedStore& detached,
                    const std::optional<queue::Lease>& lease, const ipc::Slot& slot,
                    int wait_status, const Remains& remains) {
  const auto cancel = queue::find_cancel(db, remains.id());
  const Death death = cancel ? Death{queue::kCancelled, cancel->reason}
                             : describe_death(wait_status, slot, remains.task);
  CrashPolicy policy = policy_of(settings, slot, remains.task);
  if (cancel) policy.max_attempts = 0;
  const auto landed =
      charge(db, tasks, detached, lease, remains, policy,
             {death.cause, death.text, usage_of(slot, remains.task)}, in_order(db, slot));
  const bool charged = landed == queue::Landed::kYes || was_charged(db, remains);
  if (cancel && charged) {
    return log_cancelled(remains.id().text(), remains.task.type, cancel->reason,
                         describe_death(wait_status, slot, remains.task).text);
  }
  log_charge(remains, slot, death, charged);
  if (charged) count_crash(settings);
}

void put_first_in_line(ipc::Board& board, std::uint32_t pool, queue::Partition partition) {
  push_urgent(board.pools[pool], make_hint(partition.queue_id, partition.partition_no));
  peer::wake(board, 1);
}

}  // namespace

void settle(const config::Settings& settings, const ipc::Slot& slot, int wait_status,
            ipc::Board* board) {
  Remains remains = read_remains(slot);
  const queue::Holder holder = holder_of(settings, slot);
  keep_records(settings, slot, holder, remains);
  const queue::LeaseStore leases(holder, settings.daemon.lease_ttl);
  const queue::TaskStore tasks(leases.holder());
  const queue::DetachedStore detached(leases.holder(), leases.ttl());
  db::Connection db = connect(db::from_settings(settings.database));
  if (!db::without("kill_connections")) kill_former_connections(db, slot);
  queue::TaskStore::ack(db, remains.partition, remains.finished);
  const auto epoch = leases.held_epoch(db, remains.partition);
  std::optional<queue::Lease> lease;
  if (epoch) lease = queue::Lease{remains.partition, *epoch, holder.id, std::nullopt};
  if (remains.last == Last::kRunning && !db::without("crash_charge")) {
    charge_running(settings, db, tasks, detached, lease, slot, wait_status, remains);
  } else {
    if (remains.last == Last::kInterrupted) give_back(db, tasks, detached, lease, slot, remains);
    if (lease) leases.release(db, *lease);
    ack_detached(db, detached, remains);
  }
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
