// SPDX-License-Identifier: Apache-2.0
#include "queue/views/figures.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "db/statement.h"
#include "queue/views/health.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

using std::chrono::microseconds;

// Counts of each queue, in this order.
constexpr const sql::SqlText* kCountsOfQueue[] = {&sql::k_count_waiting, &sql::k_count_running,
                                                  &sql::k_count_dead};

BoundedCount bounded_figure(db::StatementResult& result) {
  const std::uint64_t count = result.one().u64(0);
  return up_to(kFigureBound, count);
}

void read_queue_figures(db::StatementResult& result, std::vector<QueueFigures>& queues) {
  while (const auto row = result.next()) {
    const auto at = std::find_if(queues.begin(), queues.end(), [&](const QueueFigures& one) {
      return one.info.queue_id == row->u64(0);
    });
    if (at == queues.end()) continue;
    at->leased = row->u64(1);
    at->overdue = row->u64(2);
    const std::uint64_t now = row->u64(4);
    if (const auto due = row->maybe_u64(3); due && *due < now) {
      at->oldest_due = microseconds(now - *due);
    }
  }
}

std::vector<QueueFigures> first_queues(std::vector<QueueInfo> all) {
  std::vector<QueueFigures> queues;
  for (QueueInfo& info : all) {
    if (queues.size() == kMostFigures) break;
    queues.push_back({std::move(info), {}, {}, {}});
  }
  return queues;
}

}  // namespace

std::vector<QueueLag> queue_lags(db::Connection& db, std::vector<QueueInfo> all) {
  std::vector<QueueFigures> queues = first_queues(std::move(all));
  auto results = db.run({db::Statement(sql::k_queue_figures)});
  read_queue_figures(results.front(), queues);
  std::vector<QueueLag> lags;
  for (QueueFigures& each : queues) {
    lags.push_back({std::move(each.info.name), each.leased, each.overdue, each.oldest_due});
  }
  return lags;
}

Figures figures(db::Connection& db) {
  Figures all;
  std::vector<QueueInfo> queues = list_queues(db);
  all.all_queues = queues.size();
  all.queues = first_queues(std::move(queues));
  std::vector<db::Statement> ask(3, db::Statement(sql::k_queue_figures));
  ask[1] = db::Statement(sql::k_late_schedules);
  ask[1].set("after_us", microseconds(kLateSchedule).count()).set("limit", kFigureBound);
  ask[2] = db::Statement(sql::k_held_locks);
  ask[2].set("limit", kFigureBound);
  for (const QueueFigures& queue : all.queues) {
    for (const sql::SqlText* count : kCountsOfQueue) {
      ask.emplace_back(*count).set("queue_id", queue.info.queue_id).set("bound", kFigureBound);
    }
  }
  std::vector<db::StatementResult> results = db.run(std::span<const db::Statement>(ask));
  read_queue_figures(results[0], all.queues);
  const db::Row late = results[1].one();
  all.late_schedules = late.u64(0);
  all.latest_schedule = microseconds(late.u64(1));
  all.held_locks = results[2].one().u64(0);
  std::size_t at = 3;
  for (QueueFigures& queue : all.queues) {
    queue.waiting = bounded_figure(results[at++]);
    queue.detached = bounded_figure(results[at++]);
    queue.dead = bounded_figure(results[at++]);
  }
  const std::vector<DutyView> duties = list_duties(db);
  all.leaderless_duties = static_cast<std::uint64_t>(
      std::count_if(duties.begin(), duties.end(), [](const DutyView& duty) { return !duty.led; }));
  return all;
}

}  // namespace allot::queue
