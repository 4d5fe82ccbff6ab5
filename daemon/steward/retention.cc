// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "config/served.h"
#include "queue/fireworq/jobs.h"
#include "queue/locks/lock_store.h"
#include "queue/minutes/minute_store.h"
#include "queue/operate/bulk_work.h"
#include "queue/operate/purge.h"
#include "queue/verbs/deferred.h"
#include "steward/chores.h"

namespace allot::steward {
namespace {

constexpr Nanos kOften = 10 * kSecond;
constexpr Nanos kEachHalfMinute = 30 * kSecond;
constexpr Nanos kEachMinute = 60 * kSecond;
constexpr Nanos kEachHour = 3600 * kSecond;

// Removes one batch. True: there may be more.
using Batch = std::function<bool(db::Connection&)>;

std::function<Again(bool)> run_of(process::Session& session, Batch batch) {
  return [&session, batch = std::move(batch)](bool /*fresh*/) {
    return ask(session, batch) ? kMore : kDone;
  };
}

// A sweep goes through all rows in the order of their keys: a batch begins behind the one before.
template <typename Key, typename Sweep>
std::function<Again(bool)> sweep_of(process::Session& session, Sweep sweep) {
  return [&session, sweep, after = Key()](bool fresh) mutable {
    if (fresh) after = Key();
    return ask(session, [&](db::Connection& db) {
      Key next = after;
      const bool more = sweep(db, next);
      after = std::move(next);
      return more ? kMore : kDone;
    });
  };
}

Batch purge_of(const Served& queue) {
  return [&queue](db::Connection& db) {
    const config::Queue& keys = *queue.keys;
    const std::uint32_t id = queue.info.queue_id;
    bool more = keys.history.count() > 0 && queue::purge_history(db, id, keys.history);
    if (keys.dead_retention.count() > 0) {
      more = queue::purge_dead(db, id, keys.dead_retention) || more;
    }
    return more;
  };
}

}  // namespace

std::vector<Chore> retention(process::Session& session, const std::vector<Served>& served) {
  std::vector<Chore> all;
  for (const Served& queue : served) {
    const std::uint32_t id = queue.info.queue_id;
    const auto add = [&](const char* duty, Nanos every, std::function<Again(bool)> run) {
      if (!config::wants_duty(queue.by_this_host, *queue.keys, duty)) return;
      all.push_back({.name = queue.info.name + "/" + duty,
                     .duties = {{id, duty}},
                     .every = every,
                     .run_once = std::move(run),
                     .at_drain = true});
    };
    add("purge", kOften, run_of(session, purge_of(queue)));
    add("unique", kEachHour,
        sweep_of<std::string>(session, [id](db::Connection& db, std::string& after) {
          return queue::purge_unique(db, id, after);
        }));
  }
  // Rows of the cluster, on the host that leads a duty of another chore. Two hosts do no harm.
  const auto add = [&](const char* name, queue::DutyName duty, Nanos every,
                       std::function<Again(bool)> run) {
    all.push_back({.name = name,
                   .duties = {std::move(duty)},
                   .every = every,
                   .run_once = std::move(run),
                   .reports = false});
  };
  add("audit", queue::bulk_duty(), kEachHour, run_of(session, queue::purge_audit));
  add("ended_bulk", queue::bulk_duty(), kEachHour, run_of(session, queue::purge_bulk));
  add("job_numbers", queue::bulk_duty(), kEachHour,
      sweep_of<std::uint64_t>(session, queue::sweep_numbers));
  add("old_minutes", {0, queue::kMinutesDuty}, kEachMinute, run_of(session, queue::purge_minutes));
  add("lock_tickets", {0, "locks"}, kEachMinute, run_of(session, queue::purge_tickets));
  add("deferred_types", {0, "schedules"}, kEachHalfMinute, run_of(session, queue::purge_deferred));
  return all;
}

}  // namespace allot::steward
