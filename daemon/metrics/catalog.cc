// SPDX-License-Identifier: Apache-2.0
#include "metrics/catalog.h"

namespace allot::metrics {
namespace {

constexpr std::span<const std::string_view> kNone;
constexpr std::string_view kVersionLabel[] = {"version"};
constexpr std::string_view kPoolState[] = {"pool", "state"};
constexpr std::string_view kPool[] = {"pool"};
constexpr std::string_view kPoolSlot[] = {"pool", "slot"};
constexpr std::string_view kQueueTypeOutcome[] = {"queue", "type", "outcome"};
constexpr std::string_view kQueueType[] = {"queue", "type"};
constexpr std::string_view kQueue[] = {"queue"};
constexpr std::string_view kRouteStatus[] = {"route", "status"};
constexpr std::string_view kRoute[] = {"route"};

// In the order of the enum.
constexpr Described kTable[] = {
    {Metric::kBuild, MetricType::Gauge, "allot_build_info", kVersionLabel,
     "Version of the program that prints this; the value is 1."},
    {Metric::kDaemonUp, MetricType::Gauge, "allot_daemon_up", kNone,
     "Whether allotd of this instance runs on this host."},
    {Metric::kWorkers, MetricType::Gauge, "allot_workers", kPoolState,
     "Workers of this host by state."},
    {Metric::kRunning, MetricType::Gauge, "allot_tasks_running", kPool,
     "Tasks in handlers on this host."},
    {Metric::kProgress, MetricType::Gauge, "allot_worker_progress_percent", kPoolSlot,
     "Progress of the task of a worker of this host as reported by its handler; of several tasks "
     "the least."},
    {Metric::kUnsettled, MetricType::Gauge, "allot_workers_unsettled", kNone,
     "Dead workers of this host whose tasks and leases are not settled yet."},
    {Metric::kWithoutDatabase, MetricType::Gauge, "allot_workers_without_database", kNone,
     "Workers and stewards of this host whose last call found no database."},
    {Metric::kStewards, MetricType::Gauge, "allot_stewards", kNone,
     "Stewards of this host: one, briefly two during a reload."},
    {Metric::kTasks, MetricType::Counter, "allot_tasks_total", kQueueTypeOutcome,
     "Attempts that ended on this host, by outcome."},
    {Metric::kRuntime, MetricType::Histogram, "allot_task_runtime_seconds", kQueueType,
     "Running time of handlers, for the attempts in allot_tasks_total."},
    {Metric::kCrashed, MetricType::Counter, "allot_tasks_crashed_total", kQueueType,
     "Attempts whose worker died; also included in allot_tasks_total."},
    {Metric::kDetached, MetricType::Counter, "allot_tasks_detached_total", kQueueType,
     "Tasks that ran long and were detached."},
    {Metric::kDeferred, MetricType::Counter, "allot_tasks_deferred_total", kQueueType,
     "Tasks put back because this host has no handler for their type."},
    {Metric::kStarts, MetricType::Counter, "allot_worker_starts_total", kNone,
     "Workers that started on this host."},
    {Metric::kSettled, MetricType::Counter, "allot_workers_settled_total", kNone,
     "Workers of this host that died with tasks or leases to recover."},
    {Metric::kLeases, MetricType::Counter, "allot_leases_total", kNone,
     "Leases taken by workers of this host."},
    {Metric::kTakeovers, MetricType::Counter, "allot_lease_takeovers_total", kNone,
     "Leases among them that were taken over from an expired holder."},
    {Metric::kLost, MetricType::Counter, "allot_leases_lost_total", kNone,
     "Leases that workers of this host lost while holding them."},
    {Metric::kRecovered, MetricType::Counter, "allot_tasks_recovered_total", kNone,
     "Detached tasks of expired holders that workers of this host recovered."},
    {Metric::kDeadlocks, MetricType::Counter, "allot_database_deadlocks_total", kNone,
     "Deadlocks (1213) of workers and stewards of this host."},
    {Metric::kLockWaits, MetricType::Counter, "allot_database_lock_timeouts_total", kNone,
     "Lock wait timeouts (1205) of workers and stewards of this host."},
    {Metric::kDatabaseUp, MetricType::Gauge, "allot_database_up", kNone,
     "Whether the last query for the following metrics succeeded."},
    {Metric::kSnapshotAge, MetricType::Gauge, "allot_database_snapshot_age_seconds", kNone,
     "Age of the last query."},
    {Metric::kSnapshotTook, MetricType::Gauge, "allot_database_snapshot_duration_seconds", kNone,
     "Duration of the last query."},
    {Metric::kWaiting, MetricType::Gauge, "allot_queue_waiting_tasks", kQueue,
     "Waiting tasks, including those due later; 10000 means 10000 or more."},
    {Metric::kDetachedNow, MetricType::Gauge, "allot_queue_detached_tasks", kQueue,
     "Detached tasks on all hosts; 10000 means 10000 or more."},
    {Metric::kDead, MetricType::Gauge, "allot_queue_dead_tasks", kQueue,
     "Dead tasks; 10000 means 10000 or more."},
    {Metric::kOldestDue, MetricType::Gauge, "allot_queue_oldest_due_seconds", kQueue,
     "Time since the first unacknowledged task was due; 0: no task is due."},
    {Metric::kPaused, MetricType::Gauge, "allot_queue_paused", kQueue,
     "Whether the queue is paused."},
    {Metric::kPartitions, MetricType::Gauge, "allot_queue_partitions", kQueue,
     "Partitions that new tasks go to."},
    {Metric::kLeased, MetricType::Gauge, "allot_queue_leased_partitions", kQueue,
     "Partitions leased by a worker of any host."},
    {Metric::kOverdue, MetricType::Gauge, "allot_queue_overdue_leases", kQueue,
     "Leases among them that were not renewed in time."},
    {Metric::kQueues, MetricType::Gauge, "allot_queues", kNone,
     "Number of queues; only the first 1000 by name are shown."},
    {Metric::kLateSchedules, MetricType::Gauge, "allot_schedules_late", kNone,
     "Schedules that have been due for 30 seconds or longer."},
    {Metric::kLatestSchedule, MetricType::Gauge, "allot_schedule_late_seconds", kNone,
     "Time since the first of these schedules was due."},
    {Metric::kHeldLocks, MetricType::Gauge, "allot_locks_held", kNone,
     "Held slots of named locks, among the first 10000."},
    {Metric::kLeaderless, MetricType::Gauge, "allot_duties_leaderless", kNone,
     "Duties without a leading host."},
    {Metric::kRequests, MetricType::Counter, "allot_gateway_requests_total", kRouteStatus,
     "Requests by route and status class."},
    {Metric::kRequestSeconds, MetricType::Histogram, "allot_gateway_request_seconds", kRoute,
     "Time from the complete request to its response, except streams of lines."},
};

}  // namespace

std::span<const Described> catalog() {
  return kTable;
}

const Described& described(Metric metric) {
  return kTable[static_cast<std::size_t>(metric)];
}

}  // namespace allot::metrics
