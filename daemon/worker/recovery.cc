// SPDX-License-Identifier: Apache-2.0
#include "worker/recovery.h"

#include <algorithm>
#include <iterator>
#include <random>
#include <string_view>
#include <utility>

#include "log/log.h"
#include "peer/doorbell.h"
#include "queue/cancel_request.h"
#include "queue/dead_letter.h"
#include "queue/inspect.h"
#include "queue/retry_policy.h"
#include "worker/run_hooks.h"

namespace allot::worker {
namespace {

std::string name_of(const std::vector<queue::QueueInfo>& queues, std::uint32_t queue_id) {
  const auto at = std::find_if(queues.begin(), queues.end(),
                               [&](const auto& queue) { return queue.queue_id == queue_id; });
  return at == queues.end() ? std::string() : at->name;
}

void log_recovery(const queue::DetachedSighting& sighting, const std::string& queue_name,
                  const CrashPolicy& policy) {
  log::warn("task.recovered", {{"task", sighting.id.text()},
                               {"type", sighting.type},
                               {"queue", queue_name},
                               {"partition", sighting.id.partition.partition_no},
                               {"attempt", sighting.attempt},
                               {"of", policy.max_attempts},
                               {"from", sighting.holder}});
  if (sighting.attempt < policy.max_attempts) return;
  log_dead(sighting.id.text(), sighting.type, sighting.attempt, queue::kLost);
}

}  // namespace

bool crashed_before(db::Connection& db, const queue::TaskId& id, std::uint32_t attempt) {
  // The recorded causes that are crashes. A task that lost its host may have brought it down.
  constexpr std::string_view kCrashes[] = {"signal", "exit",   "timeout",         "frozen",
                                           "lease",  "memory", queue::kLost.cause};
  const auto earlier = queue::list_attempts(db, id);
  return std::any_of(earlier.begin(), earlier.end(), [&](const queue::AttemptView& one) {
    return one.attempt < attempt &&
           std::find(std::begin(kCrashes), std::end(kCrashes), one.cause) != std::end(kCrashes);
  });
}

CrashPolicy crash_policy(const config::Settings& settings, const std::string& queue_name,
                         const std::string& type, std::uint32_t attempt) {
  const config::Queue* queue = config::find_queue(settings, queue_name);
  const config::Queue& keys = queue != nullptr ? *queue : config::Queue{};
  auto [first, most, list] = config::pauses(settings, keys, type);
  const queue::RetryPolicy pauses{first, most, std::move(list)};
  return {config::max_attempts(settings, keys, type), pauses.delay(attempt, std::random_device{}()),
          on_dead(keys), keeps_history(keys)};
}

queue::Landed charge_detached(db::Connection& db, const queue::Detached& detached,
                              std::uint32_t attempt, const CrashPolicy& policy,
                              const queue::Verdict& verdict) {
  using queue::DetachedStore;
  const auto asked = queue::find_cancel(db, detached.id);
  if (asked && asked->as_done) {
    std::optional<queue::Record> record;
    if (policy.keeps_history) record = queue::Record{{}, 0, attempt, verdict.usage};
    return DetachedStore::ack(db, detached, record);
  }
  if (asked) {
    return DetachedStore::bury(db, detached, attempt,
                               {queue::kCancelled, asked->reason, verdict.usage});
  }
  if (attempt >= policy.max_attempts) {
    return DetachedStore::bury(db, detached, attempt, verdict, policy.on_dead);
  }
  if (!crashed_before(db, detached.id, attempt)) {
    return DetachedStore::charge(db, detached, attempt, verdict);
  }
  return DetachedStore::retry(db, detached, attempt, policy.delay, verdict);
}

void log_dead(const std::string& id, std::string_view type, std::uint32_t last,
              const queue::Verdict& verdict) {
  log::error("task.dead", {{"task", id},
                           {"type", type},
                           {"attempt", last},
                           {"cause", verdict.cause},
                           {"error", verdict.error}});
}

void reclaim_detached(db::Connection& db, const config::Settings& settings,
                      const queue::DetachedStore& store) {
  const auto queues = queue::list_queues(db);
  for (const queue::DetachedSighting& sighting : store.former(db)) {
    const auto mine = store.recover(db, sighting, true);
    if (!mine) continue;
    const std::string name = name_of(queues, sighting.id.partition.queue_id);
    const CrashPolicy policy = crash_policy(settings, name, sighting.type, sighting.attempt);
    const auto landed = charge_detached(db, *mine, sighting.attempt, policy, queue::kLost);
    if (landed == queue::Landed::kYes) log_recovery(sighting, name, policy);
  }
}

Recovery::Recovery(Session& session, const queue::DetachedStore& store,
                   const config::Settings& settings, std::vector<queue::QueueInfo> queues,
                   ipc::Board& board)
    : session_(session),
      store_(store),
      settings_(settings),
      queues_(std::move(queues)),
      board_(board),
      watched_(static_cast<Nanos>(settings.daemon.lease_ttl.count()) * kMilli) {
  for (const queue::QueueInfo& queue : queues_) queue_ids_.push_back(queue.queue_id);
}

void Recovery::look() {
  if (!watched_.due(boot_ns())) return;
  std::vector<std::pair<queue::TaskId, queue::DetachedSighting>> seen;
  for (queue::DetachedSighting& sighting : session_.call(
           [&](db::Connection& db) { return queue::DetachedStore::watch(db, queue_ids_); })) {
    seen.emplace_back(sighting.id, std::move(sighting));
  }
  watched_.saw(std::move(seen), session_.generation(), boot_ns());
  while (const auto still = watched_.take(boot_ns())) recover(still->sighting, still->stale);
}

// This takes two trips. If this worker dies in between, another one recovers the task once more.
void Recovery::recover(const queue::DetachedSighting& sighting, bool stale) {
  const auto mine =
      session_.call([&](db::Connection& db) { return store_.recover(db, sighting, stale); });
  if (!mine) return;
  const std::string name = name_of(queues_, sighting.id.partition.queue_id);
  const CrashPolicy policy = crash_policy(settings_, name, sighting.type, sighting.attempt);
  const auto landed = session_.call([&](db::Connection& db) {
    return charge_detached(db, *mine, sighting.attempt, policy, queue::kLost);
  });
  if (landed == queue::Landed::kLeaseGone) return;
  log_recovery(sighting, name, policy);
  peer::ring(board_, sighting.id.partition.queue_id, 1);
}

}  // namespace allot::worker
