// SPDX-License-Identifier: Apache-2.0
#include "metrics/catalog.h"

namespace allot::metrics {
namespace {

const std::vector<Described>& table() {
  static const std::vector<Described> kTable{
      {Metric::kBuild,
       Kind::kGauge,
       "allot_build_info",
       {"version"},
       "1, of the program that prints this."},
      {Metric::kDaemonUp,
       Kind::kGauge,
       "allot_daemon_up",
       {},
       "Whether allotd of this instance runs on this host."},
      {Metric::kWorkers,
       Kind::kGauge,
       "allot_workers",
       {"pool", "state"},
       "Workers of this host by what they do."},
      {Metric::kRunning,
       Kind::kGauge,
       "allot_tasks_running",
       {"pool"},
       "Tasks in handlers on this host."},
      {Metric::kUnsettled,
       Kind::kGauge,
       "allot_workers_unsettled",
       {},
       "Dead workers of this host whose tasks and leases nobody has settled yet."},
      {Metric::kWithoutDatabase,
       Kind::kGauge,
       "allot_workers_without_database",
       {},
       "Workers and stewards of this host whose last call found no database."},
      {Metric::kStewards,
       Kind::kGauge,
       "allot_stewards",
       {},
       "Stewards of this host: one, and for a moment two in a reload."},
      {Metric::kTasks,
       Kind::kCounter,
       "allot_tasks_total",
       {"queue", "type", "verdict"},
       "Attempts that ended on this host, by what became of the task."},
      {Metric::kRuntime,
       Kind::kHistogram,
       "allot_task_runtime_seconds",
       {"queue", "type"},
       "How long handlers ran, of the attempts in allot_tasks_total."},
      {Metric::kCrashed,
       Kind::kCounter,
       "allot_tasks_crashed_total",
       {"queue", "type"},
       "Attempts during which their worker died; they are in allot_tasks_total, too."},
      {Metric::kDetached,
       Kind::kCounter,
       "allot_tasks_detached_total",
       {"queue", "type"},
       "Tasks that ran long and left their partition."},
      {Metric::kDeferred,
       Kind::kCounter,
       "allot_tasks_deferred_total",
       {"queue", "type"},
       "How often a task was put back because no handler here knows its type."},
      {Metric::kStarts,
       Kind::kCounter,
       "allot_worker_starts_total",
       {},
       "Workers that started on this host."},
      {Metric::kSettled,
       Kind::kCounter,
       "allot_workers_settled_total",
       {},
       "Workers of this host that died and left something to heal."},
      {Metric::kLeases,
       Kind::kCounter,
       "allot_leases_total",
       {},
       "Leases that workers of this host took."},
      {Metric::kTakeovers,
       Kind::kCounter,
       "allot_lease_takeovers_total",
       {},
       "Leases among them that another holder had let stand."},
      {Metric::kLost,
       Kind::kCounter,
       "allot_leases_lost_total",
       {},
       "Leases that workers of this host lost while they had them."},
      {Metric::kDeadlocks,
       Kind::kCounter,
       "allot_database_deadlocks_total",
       {},
       "Deadlocks (1213) that workers and stewards of this host met."},
      {Metric::kLockWaits,
       Kind::kCounter,
       "allot_database_lock_timeouts_total",
       {},
       "Waits for a row lock that lasted too long (1205), likewise."},
  };
  return kTable;
}

}  // namespace

std::span<const Described> catalog() {
  return table();
}

const Described& described(Metric metric) {
  return table()[static_cast<std::size_t>(metric)];
}

}  // namespace allot::metrics
