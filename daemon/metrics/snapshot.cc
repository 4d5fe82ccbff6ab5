// SPDX-License-Identifier: Apache-2.0
#include "metrics/snapshot.h"

#include <chrono>
#include <utility>

namespace allot::metrics {
namespace {

double seconds_of(Nanos time) {
  return static_cast<double>(time) / 1e9;
}
double seconds_of(std::chrono::microseconds time) {
  return static_cast<double>(time.count()) / 1e6;
}

void add_queue(Page& page, const queue::QueueFigures& queue) {
  const std::vector<std::string_view> name{queue.info.name};
  page.add(Metric::kWaiting, static_cast<double>(queue.waiting.value), name);
  page.add(Metric::kDetachedNow, static_cast<double>(queue.detached.value), name);
  page.add(Metric::kDead, static_cast<double>(queue.dead.value), name);
  page.add(Metric::kOldestDue, queue.oldest_due ? seconds_of(*queue.oldest_due) : 0, name);
  page.add(Metric::kPaused, queue.info.paused ? 1 : 0, name);
  page.add(Metric::kPartitions, queue.info.partitions(), name);
  page.add(Metric::kLeased, static_cast<double>(queue.leased), name);
  page.add(Metric::kOverdue, static_cast<double>(queue.overdue), name);
}

}  // namespace

Snapshot take_snapshot(db::Connection* db,
                       const std::function<void(const std::exception&)>& failed) {
  Snapshot snapshot;
  const Nanos began = boot_ns();
  if (db != nullptr) {
    try {
      snapshot.figures = queue::figures(*db);
    } catch (const std::exception& error) {
      if (failed) failed(error);
    }
  }
  snapshot.at_ns = boot_ns();
  snapshot.took_ns = snapshot.at_ns - began;
  return snapshot;
}

void add_snapshot(Page& page, const Snapshot& snapshot, Nanos now) {
  page.add(Metric::kDatabaseUp, snapshot.figures ? 1 : 0);
  page.add(Metric::kSnapshotAge, now > snapshot.at_ns ? seconds_of(now - snapshot.at_ns) : 0);
  page.add(Metric::kSnapshotTook, seconds_of(snapshot.took_ns));
  if (!snapshot.figures) return;
  const queue::Figures& figures = *snapshot.figures;
  for (const queue::QueueFigures& queue : figures.queues) add_queue(page, queue);
  page.add(Metric::kQueues, static_cast<double>(figures.all_queues));
  page.add(Metric::kLateSchedules, static_cast<double>(figures.late_schedules));
  page.add(Metric::kLatestSchedule, seconds_of(figures.latest_schedule));
  page.add(Metric::kHeldLocks, static_cast<double>(figures.held_locks));
  page.add(Metric::kLeaderless, static_cast<double>(figures.leaderless_duties));
}

Snapshots::Taken Snapshots::get(Nanos now) {
  const MutexLock held(mutex_);
  if (last_ && (renewing_ || now - last_->at_ns < good_for_)) return last_;
  renewing_ = true;
  return nullptr;
}

Snapshots::Taken Snapshots::put(Snapshot snapshot) {
  const MutexLock held(mutex_);
  last_ = std::make_shared<const Snapshot>(std::move(snapshot));
  renewing_ = false;
  return last_;
}

}  // namespace allot::metrics
