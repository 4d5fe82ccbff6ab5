// SPDX-License-Identifier: Apache-2.0
#include "queue/views/figures.h"

#include <algorithm>
#include <cstddef>
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
  return up_to(kFigureBound, result.one().u64(0));
}

// The first queues, with the rows of queue_figures.sql.
std::vector<QueueFigures> lags_in(db::StatementResult& result, std::vector<QueueInfo> all) {
  all.resize(std::min(all.size(), kMostFigures));
  std::vector<QueueFigures> queues(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) queues[i].info = std::move(all[i]);
  while (const auto row = result.next()) {
    const auto at = std::find_if(queues.begin(), queues.end(), [&](const QueueFigures& one) {
      return one.info.queue_id == row->u64(0);
    });
    if (at == queues.end()) continue;
    std::optional<microseconds> due;
    microseconds now{0};
    row->read(1, at->leased, at->overdue, due, now);
    if (due && *due < now) at->oldest_due = now - *due;
  }
  return queues;
}

}  // namespace

std::vector<QueueFigures> queue_lags(db::Connection& db, std::vector<QueueInfo> queues) {
  auto results = db.run({db::Statement(sql::k_queue_figures)});
  return lags_in(results.front(), std::move(queues));
}

Figures figures(db::Connection& db) {
  Figures all;
  std::vector<QueueInfo> queues = list_queues(db);
  all.all_queues = queues.size();
  std::vector<db::Statement> ask{db::Statement(sql::k_queue_figures)};
  ask.emplace_back(sql::k_late_schedules).set("after_us", kLateSchedule).set("limit", kFigureBound);
  ask.emplace_back(sql::k_held_locks).set("limit", kFigureBound);
  for (std::size_t i = 0; i < std::min(queues.size(), kMostFigures); ++i) {
    for (const sql::SqlText* count : kCountsOfQueue) {
      ask.emplace_back(*count).set("queue_id", queues[i].queue_id).set("bound", kFigureBound);
    }
  }
  std::vector<db::StatementResult> results = db.run(ask);
  all.queues = lags_in(results[0], std::move(queues));
  results[1].one().read(0, all.late_schedules, all.latest_schedule);
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
