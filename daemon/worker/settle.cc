// SPDX-License-Identifier: Apache-2.0
#include "worker/settle.h"

#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "base/clock.h"
#include "db/from_settings.h"
#include "db/mutation.h"
#include "log/log.h"
#include "peer/doorbell.h"
#include "queue/retry_policy.h"
#include "queue/task_store.h"
#include "worker/connect.h"
#include "worker/hints.h"

namespace allot::worker {
namespace {

// What the dead worker left behind, read once from its slot.
struct Remains {
  queue::Partition partition;
  std::vector<queue::Finished> finished;
  std::optional<ipc::RunningTask> running;
};

Remains read_remains(const ipc::Slot& slot) {
  Remains remains;
  remains.partition = {slot.queue_id, slot.partition_no};
  const auto finished = std::min<std::size_t>(slot.finished_count.load(), ipc::kMaxFinished);
  for (std::size_t i = 0; i < finished; ++i) {
    const ipc::FinishedTask& task = slot.finished[i];
    const queue::TaskKey key{static_cast<std::uint32_t>(task.prio), task.run_key};
    remains.finished.push_back(
        {key, task.first_key != 0 ? std::optional(task.first_key) : std::nullopt});
  }
  if (slot.running_count.load() == 0) return remains;
  const ipc::RunningTask& running = slot.running[0];
  // A worker that died between "finished" and "no longer running" has finished.
  const bool done = std::any_of(remains.finished.begin(), remains.finished.end(), [&](auto& task) {
    return task.key == queue::TaskKey{running.prio, running.run_key};
  });
  if (!done) remains.running = running;
  return remains;
}

queue::Holder holder_of(const config::Settings& settings, const ipc::Slot& slot) {
  queue::Holder holder =
      queue::make_holder(settings.daemon.instance, config::runtime_dir(settings));
  holder.id = slot.holder_id;
  holder.pid = slot.pid;
  return holder;
}

std::string describe_death(int wait_status, const ipc::RunningTask& running) {
  const bool over_time = running.hard_deadline_ns != 0 && boot_ns() >= running.hard_deadline_ns;
  std::string text = over_time ? "ran over its time limit; " : "";
  if (WIFSIGNALED(wait_status)) {
    const int number = WTERMSIG(wait_status);
    const char* name = sigdescr_np(number);
    return text + "worker killed by signal " + std::to_string(number) + " (" +
           (name != nullptr ? name : "unknown") + ") inside the handler";
  }
  return text + "worker exited with status " + std::to_string(WEXITSTATUS(wait_status)) +
         " inside the handler";
}

queue::RetryPolicy policy_of(const config::Settings& settings, const char* queue_name) {
  const config::Queue* queue = config::find_queue(settings, queue_name);
  if (queue == nullptr) return {};
  return {queue->retry_delay, queue->retry_delay_max};
}

// S10: the first crash is retried without delay, where the task stands; later ones by the policy.
queue::Landed charge(db::Connection& db, const queue::TaskStore& tasks, const queue::Lease& lease,
                     const ipc::RunningTask& running, const queue::RetryPolicy& policy,
                     const queue::Verdict& verdict) {
  queue::Task task;
  task.key = {running.prio, running.run_key};
  task.first_key = running.first_key;
  const std::uint32_t attempt = running.attempt;
  if (attempt >= running.max_attempts) {
    return tasks.bury(db, lease, task, attempt, verdict, queue::Then::kRelease);
  }
  if (attempt == 1) {
    return tasks.charge(db, lease, task, attempt, verdict, queue::Then::kRelease);
  }
  const auto delay = policy.delay(attempt, std::random_device{}());
  return tasks.retry(db, lease, task, attempt, delay, verdict, queue::Then::kRelease);
}

void log_charge(const Remains& remains, const ipc::Slot& slot, const std::string& error,
                queue::Landed landed) {
  const ipc::RunningTask& running = *remains.running;
  const queue::TaskId id{remains.partition, running.prio, running.first_key};
  log::warn("task.crashed", {{"task", id.text()},
                             {"type", running.type},
                             {"queue", slot.queue_name},
                             {"partition", remains.partition.partition_no},
                             {"attempt", running.attempt},
                             {"of", running.max_attempts},
                             {"charged", landed == queue::Landed::kYes},
                             {"error", error}});
}

void kill_former_connections(db::Connection& db, const ipc::Slot& slot) {
  std::vector<queue::FormerConnection> connections;
  for (int i = 0; i < 2; ++i) {
    connections.push_back({slot.connection_ids[i].load(), slot.server_ids[i],
                           std::chrono::nanoseconds(boot_ns() - slot.connected_ns[i])});
  }
  queue::kill_connections(db, connections);
}

void put_first_in_line(ipc::Board& board, std::uint32_t pool, queue::Partition partition) {
  push_urgent(board.pools[pool], make_hint(partition.queue_id, partition.partition_no));
  peer::wake(board, 1);
}

}  // namespace

void settle(const config::Settings& settings, const ipc::Slot& slot, int wait_status,
            ipc::Board* board) {
  const Remains remains = read_remains(slot);
  const queue::Holder holder = holder_of(settings, slot);
  const queue::LeaseStore leases(holder, settings.daemon.lease_ttl);
  const queue::TaskStore tasks(leases.holder());
  db::Connection db = connect(db::from_settings(settings.database));
  if (!db::without("kill_connections")) kill_former_connections(db, slot);
  queue::TaskStore::ack(db, remains.partition, remains.finished);
  const auto epoch = leases.held_epoch(db, remains.partition);
  if (epoch) {
    const queue::Lease lease{remains.partition, *epoch, holder.id, std::nullopt};
    if (remains.running && !db::without("crash_charge")) {
      const std::string error = describe_death(wait_status, *remains.running);
      const auto landed = charge(db, tasks, lease, *remains.running,
                                 policy_of(settings, slot.queue_name), {"crash", error});
      log_charge(remains, slot, error, landed);
    } else {
      leases.release(db, lease);
    }
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
