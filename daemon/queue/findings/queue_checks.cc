// SPDX-License-Identifier: Apache-2.0
// Checks of queues: leases and lease rows, duties and pools.
#include <chrono>
#include <string>
#include <utility>

#include "config/served.h"
#include "queue/findings/checks.h"
#include "queue/minutes/instances.h"
#include "queue/minutes/minute_view.h"
#include "queue/model/catalog.h"
#include "queue/operate/purge.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

constexpr std::uint32_t kMostLeases = 10'000;
constexpr std::size_t kShownLeases = 5;
constexpr std::uint64_t kMostFarTasks = 10'000;
constexpr std::chrono::hours kPurgeLate{1};
// Six terms, the time in which a daemon restarts.
constexpr std::chrono::seconds kLeaderlessFor{30};
constexpr std::chrono::hours kFar{12};
constexpr std::chrono::hours kUnusuallyFar{24 * 300};

// Tasks that are due later than a duration from now.
struct FarTasks {
  std::uint64_t count = 0;  // up to kMostFarTasks
  std::string last;         // when the last one is due: UTC, ISO 8601
};

FarTasks far_tasks(db::Connection& db, std::chrono::microseconds after) {
  db::Statement places(sql::k_far_places);
  places.set("after_us", after);
  FarTasks far;
  db.each_row(places, [&](const db::Row& row) {
    if (far.last.empty()) far.last = row.text(3);
    if (far.count >= kMostFarTasks) return;
    db::Statement count(sql::k_count_far);
    count.set("queue_id", row.u64(0))
        .set("partition_no", row.u64(1))
        .set("prio", row.u64(2))
        .set("after_us", after)
        .set("limit", kMostFarTasks - far.count);
    far.count += db.read_number(count);
  });
  return far;
}

std::string far_text(const FarTasks& tasks, const std::string& from_now) {
  const bool more = tasks.count >= kMostFarTasks;
  return std::string(more ? "at least " : "") + std::to_string(tasks.count) + " due later than " +
         from_now + " from now, the last one at " + tasks.last;
}

// Rows of queues that this configuration lacks, or has without such a duty, belong to other hosts
// or are left over.
bool wants(const config::Settings& settings, const DutyView& duty) {
  if (duty.queue_id == 0) return true;
  const config::Queue* keys = config::find_queue(settings, duty.queue);
  return keys != nullptr &&
         config::wants_duty(config::is_served(settings, keys->name), *keys, duty.duty);
}

Finding failed_duty(const DutyView& duty) {
  return {Level::kWarn, "duties", name_of(duty) + " failed: " + *duty.last_error,
          duty.led ? "see the log of " + duty.host + "/" + duty.instance : "", duty.queue};
}

}  // namespace

// S12: leases are only shown. For processes of other hosts, renewals are the only sign.
Findings check_leases(db::Connection& db, const Observer& by) {
  const auto leases = held_leases(db, kMostLeases);
  std::vector<std::string> lost;
  for (const HeldLease& lease : leases) {
    const bool gone = by.gone(lease);
    if (!gone && !lease.overdue && !lease.silent_since) continue;
    lost.push_back(lease.queue + "/" + std::to_string(lease.partition_no) + " of " + lease.host +
                   "/" + std::to_string(lease.pid) +
                   (gone            ? " (gone)"
                    : lease.overdue ? " (over since " + lease.until + ")"
                                    : " (silent since " + *lease.silent_since + ")"));
  }
  if (lost.empty()) return {{Level::kOk, "leases", std::to_string(leases.size()) + " held"}};
  std::string text = std::to_string(lost.size()) + " of " + std::to_string(leases.size()) +
                     " seem to have lost their holders: ";
  for (std::size_t i = 0; i < lost.size() && i < kShownLeases; ++i) {
    text += (i == 0 ? "" : ", ") + lost[i];
  }
  if (lost.size() > kShownLeases) text += ", ...";
  return {{Level::kWarn, "leases", text,
           "workers take them over automatically; if not, check that workers are running"}};
}

// S59
Findings check_lease_rows(db::Connection& db, const Observer& /*by*/) {
  Findings all;
  for (const QueueHoles& hole : queue_holes(db)) {
    all.push_back({Level::kWarn, "lease rows",
                   "queue " + hole.queue + ": " + std::to_string(hole.missing) +
                       " are missing; tasks of these partitions wait",
                   "run 'allot migrate', or wait for a steward; they can be leased after the "
                   "longest lease has ended",
                   hole.queue});
  }
  if (all.empty()) all.push_back({Level::kOk, "lease rows", "every partition has its row"});
  return all;
}

// Tasks left by a clock that was ahead. They cannot be bounded: the delay of a task is not stored.
Findings check_far_tasks(db::Connection& db, const Observer& /*by*/) {
  const FarTasks years = far_tasks(db, kUnusuallyFar);
  if (years.count > 0) {
    return {{Level::kWarn, "far tasks", far_text(years, "300 days"),
             "if the database's clock was ahead when they were submitted, cancel and submit them "
             "again"}};
  }
  const FarTasks far = far_tasks(db, kFar);
  if (far.count > 0) return {{Level::kOk, "far tasks", far_text(far, "12 hours")}};
  return {{Level::kOk, "far tasks", "none is due later than 12 hours from now"}};
}

Findings check_failed_duties(db::Connection& db, const Observer& by) {
  Findings all;
  for (const DutyView& duty : list_duties(db)) {
    if (wants(by.settings, duty) && duty.last_error) all.push_back(failed_duty(duty));
  }
  return all;
}

Findings check_duties(db::Connection& db, const Observer& by) {
  Findings all;
  std::size_t led = 0;
  std::string left;
  for (const DutyView& duty : list_duties(db)) {
    if (!wants(by.settings, duty)) continue;
    led += duty.led ? 1U : 0U;
    if (duty.leaderless && *duty.leaderless > kLeaderlessFor) {
      left += (left.empty() ? "" : ", ") + name_of(duty) + " for " +
              std::to_string(duty.leaderless->count()) + " s";
    }
    if (duty.last_error) all.push_back(failed_duty(duty));
  }
  if (!left.empty()) {
    all.push_back({Level::kWarn, "duties", "no steward has led " + left,
                   "check that a daemon is running with its steward"});
  }
  if (all.empty()) all.push_back({Level::kOk, "duties", std::to_string(led) + " led"});
  return all;
}

// C10: a configuration knows only the retentions of its own queues.
Findings check_purge(db::Connection& db, const Observer& by) {
  Findings all;
  for (const config::Queue& keys : by.settings.queues) {
    if (keys.history.count() == 0 && keys.dead_retention.count() == 0) continue;
    const auto there = find_queue(db, keys.name);
    if (!there) continue;
    const auto lag = purge_lag(db, there->queue_id, keys.history, keys.dead_retention);
    for (const auto& [what, over] :
         {std::pair{"history", lag.history}, std::pair{"dead tasks", lag.dead}}) {
      if (!over || *over < kPurgeLate) continue;
      all.push_back({Level::kWarn, "history",
                     "queue " + keys.name + ": the oldest of the " + what + " is " +
                         std::to_string(over->count()) + " s past its retention",
                     "check that a daemon that serves the queue has its steward: run allot status "
                     "on its host",
                     keys.name});
    }
  }
  if (all.empty()) all.push_back({Level::kOk, "history", "no row is long past its retention"});
  return all;
}

Findings check_served(db::Connection& db, const Observer& /*by*/) {
  Findings all;
  const auto instances = list_instances(db);
  std::size_t served = 0;
  for (const QueueInfo& queue : list_queues(db)) {
    const auto pools = pools_that_serve(instances, queue.name);
    if (!pools || !pools->empty()) {
      ++served;
      continue;
    }
    all.push_back({Level::kWarn, "queue " + queue.name,
                   "no pool of a running daemon serves it: its tasks wait",
                   "add it to the queues of a pool, and reload its daemon", queue.name});
  }
  if (served > 0) all.push_back({Level::kOk, "queues", std::to_string(served) + " served"});
  return all;
}

}  // namespace allot::queue
