// SPDX-License-Identifier: Apache-2.0
#include "worker/settle/recovery.h"

#include <algorithm>
#include <iterator>
#include <random>
#include <string_view>
#include <utility>

#include "log/log.h"
#include "peer/doorbell.h"
#include "queue/model/task_facts.h"
#include "queue/verbs/cancel_request.h"
#include "worker/run/run.h"
#include "worker/run/run_log.h"
#include "worker/run/served_queue.h"

namespace allot::worker {
namespace {

std::string name_of(const std::vector<queue::QueueInfo>& queues, std::uint32_t queue_id) {
  const auto at = std::find_if(queues.begin(), queues.end(),
                               [&](const auto& queue) { return queue.queue_id == queue_id; });
  return at == queues.end() ? std::string() : at->name;
}

bool any_crash_before(db::Connection& db, const queue::TaskId& id, std::uint32_t attempt) {
  // Recorded causes that count as crashes. A task that lost its host may have brought it down.
  constexpr std::string_view kCrashes[] = {
      "signal", "exit", "timeout", "frozen", "lease", "memory", queue::kUnreported.cause};
  const auto earlier = queue::list_attempts(db, id);
  return std::any_of(earlier.begin(), earlier.end(), [&](const queue::AttemptView& one) {
    return one.attempt < attempt &&
           std::find(std::begin(kCrashes), std::end(kCrashes), one.cause) != std::end(kCrashes);
  });
}

Crashed crashed(const queue::DetachedObservation& observed, const std::string& queue_name) {
  return {observed.id, queue_name, observed.type, observed.attempt, observed.headers};
}

// A crash always has something to write.
queue::Fenced end_recovered(db::Connection& db, const queue::DetachedStore& store,
                            const queue::Fence& fence, Facts& facts) {
  find_earlier_crash(db, fence.id, facts);
  return queue::write(db, store.holder(), fence, *decide(facts).ending);
}

void log_recovery(const queue::DetachedObservation& observed, const std::string& queue_name,
                  const Facts& facts) {
  log::warn("task.recovered", {{"task", observed.id.text()},
                               {"type", observed.type},
                               trace_field(observed.headers.trace.id()),
                               {"queue", queue_name},
                               {"partition", observed.id.partition.partition_no},
                               {"attempt", observed.attempt},
                               {"max_attempts", facts.most},
                               {"from", observed.holder}});
  if (decide(facts).what != meter::Count::kDead) return;
  log_dead({observed.id.text(), observed.type, queue_name, observed.headers.trace.id()},
           observed.attempt, queue::kUnreported);
}

}  // namespace

Facts facts_of_crash(db::Connection& db, const config::Settings& settings, const Crashed& crashed) {
  const config::Queue* queue = config::find_queue(settings, crashed.queue_name);
  const config::Queue& keys = queue != nullptr ? *queue : config::Queue{};
  Facts facts;
  facts.outcome = Facts::Outcome::kCrash;
  facts.attempt = crashed.attempt;
  facts.most = crashed.headers.max_attempts != 0
                   ? crashed.headers.max_attempts
                   : config::max_attempts(settings, keys, crashed.type);
  facts.verdicts = crashed.headers.verdicts_of(crashed.attempt - 1);
  facts.max_losses = crashed.headers.max_losses;
  facts.cancel = queue::find_cancel(db, crashed.id);
  facts.retry_delay = config::retry_delays(settings, keys, crashed.type)
                          .delay(crashed.attempt, std::random_device{}());
  facts.cause = queue::kUnreported.cause;
  facts.failure.message = queue::kUnreported.error;
  facts.on_dead = on_dead(keys);
  if (keeps_history(keys)) facts.record = queue::Record{{}, 0, crashed.attempt, {}};
  return facts;
}

void find_earlier_crash(db::Connection& db, const queue::TaskId& id, Facts& facts) {
  if (facts.cancel || facts.attempt >= facts.most) return;
  facts.crashed_before = any_crash_before(db, id, facts.attempt);
}

void reclaim_detached(db::Connection& db, const config::Settings& settings,
                      const queue::DetachedStore& store) {
  const auto queues = queue::list_queues(db);
  for (const queue::DetachedObservation& observed : store.former(db)) {
    const auto mine = store.recover(db, observed, queue::DetachedStore::Gone::kFormer);
    if (!mine) continue;
    const std::string name = name_of(queues, observed.id.partition.queue_id);
    Facts facts = facts_of_crash(db, settings, crashed(observed, name));
    if (end_recovered(db, store, *mine, facts) == queue::Fenced::kWritten) {
      log_recovery(observed, name, facts);
    }
  }
}

Recovery::Recovery(process::Session& session, const queue::DetachedStore& store,
                   const config::Settings& settings, std::vector<queue::QueueInfo> queues,
                   process::SlotWriter& slot, ipc::Board& board)
    : session_(session),
      store_(store),
      settings_(settings),
      queues_(std::move(queues)),
      slot_(slot),
      board_(board),
      watched_(session, in_nanos(settings.daemon.lease_ttl)) {
  for (const queue::QueueInfo& queue : queues_) queue_ids_.push_back(queue.queue_id);
}

void Recovery::run_due() {
  watched_.poll(
      [](const peer::StandingLease& one) -> std::optional<queue::TaskId> {
        if ((one.flags & peer::StandingLease::kDetached) == 0) return std::nullopt;
        return queue::TaskId{{one.queue_id, one.partition_no}, one.prio, one.first_key};
      },
      [this](const queue::TaskId& id) {
        const auto at = std::find(queue_ids_.begin(), queue_ids_.end(), id.partition.queue_id);
        return at != queue_ids_.end();
      },
      [this] {
        return session_.call(
            [&](db::Connection& db) { return queue::DetachedStore::watch(db, queue_ids_); });
      });
  while (const auto still = watched_.take()) recover(still->observed, still->stale);
}

// This takes two round trips. If this worker dies in between, another one recovers the task again.
void Recovery::recover(const queue::DetachedObservation& observed, bool stale) {
  using Gone = queue::DetachedStore::Gone;
  const auto mine = session_.call([&](db::Connection& db) {
    return store_.recover(db, observed, stale ? Gone::kStale : Gone::kExpired);
  });
  if (!mine) return;
  const std::string name = name_of(queues_, observed.id.partition.queue_id);
  Facts facts;
  const auto fenced = session_.call([&](db::Connection& db) {
    facts = facts_of_crash(db, settings_, crashed(observed, name));
    return end_recovered(db, store_, *mine, facts);
  });
  if (fenced == queue::Fenced::kLost) return;
  slot_.count(meter::Event::kRecovered);
  log_recovery(observed, name, facts);
  peer::Ringer(board_).ring({{observed.id.partition.queue_id, 1}});
}

}  // namespace allot::worker
