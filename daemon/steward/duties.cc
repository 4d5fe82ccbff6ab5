// SPDX-License-Identifier: Apache-2.0
#include "steward/duties.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "config/hooks.h"
#include "config/served.h"
#include "log/log.h"
#include "peer/doorbell.h"
#include "queue/look/stuck.h"
#include "queue/operate/purge.h"
#include "queue/submit/address.h"
#include "queue/verbs/duty.h"
#include "steward/ask.h"

namespace allot::steward {
namespace {

using nlohmann::json;
using std::chrono::microseconds;

// Interval of the leading host.
constexpr std::chrono::seconds kEvery{10};
constexpr std::chrono::hours kSweepEvery{1};
// How long the unique key of a hook's task outlasts it: longer than any attempt, and longer than
// the hour.
constexpr std::chrono::hours kPerAttempt{24 * 30};
constexpr std::chrono::hours kPerHour{2};
constexpr const char* kRunning = "running";
constexpr const char* kWaiting = "waiting";
constexpr const char* kNoHandler = "no_handler";
// Longest run of a purge, and the pause after it for the other users of the database.
constexpr Nanos kAtOnce = 50 * kMilli;
constexpr Nanos kPause = 100 * kMilli;
constexpr Nanos kFinish = kSecond;  // for all duties, when a drain leaves

Nanos nanos(microseconds time) {
  return static_cast<Nanos>(time.count()) * kMicro;
}

std::string payload_of(const char* what, const queue::Stuck& stuck, const config::Queue& queue) {
  const json text = {{"event", "stuck"},
                     {"what", what},
                     {"task", stuck.id.text()},
                     {"queue", queue.name},
                     {"partition", stuck.id.partition.partition_no},
                     {"type", stuck.type},
                     {"attempts", stuck.attempt},
                     {"since", stuck.since},
                     {"stuck_after_ms", queue.stuck_after.count()},
                     {"worker", stuck.worker}};
  return text.dump(-1, ' ', false, json::error_handler_t::replace);
}

// Scope of a single report: an attempt, or a queue in an hour, or a type of a queue in an hour.
std::string key_of(const char* what, const queue::Stuck& stuck) {
  if (what == kRunning) {
    return "stuck:" + stuck.id.text() + ":" + std::to_string(stuck.attempt) + ":" + stuck.since;
  }
  const auto hour = std::chrono::duration_cast<std::chrono::hours>(
                        std::chrono::system_clock::now().time_since_epoch())
                        .count();
  const std::string queue = "stuck:" + std::to_string(stuck.id.partition.queue_id);
  const std::string type = what == kNoHandler ? ":" + stuck.type : "";
  return queue + type + ":" + std::to_string(hour);
}

void log_stuck(const char* what, const queue::Stuck& stuck, const config::Queue& queue) {
  log::warn("queue.stuck", {{"queue", queue.name},
                            {"what", what},
                            {"task", stuck.id.text()},
                            {"type", stuck.type},
                            {"since", stuck.since},
                            {"worker", stuck.worker},
                            {"hook", queue.on_stuck}});
}

}  // namespace

Duties::Duties(Session& session, ipc::Board& board, Leadership& leadership, UnknownTasks& unknown,
               const std::vector<Served>& served)
    : session_(session), board_(board), leadership_(leadership), unknown_(unknown) {
  const std::pair<Kind, const char*> all[] = {
      {Kind::kPurge, "purge"}, {Kind::kStuck, "stuck"}, {Kind::kUnique, "unique"}};
  for (const Served& queue : served) {
    for (const auto& [kind, name] : all) {
      if (config::wants_duty(queue.by_this_host, *queue.keys, name)) add(kind, name, queue);
    }
  }
}

void Duties::add(Kind kind, const char* name, const Served& queue) {
  duties_.push_back({kind, queue, {queue.info.queue_id, name}});
  leadership_.want(duties_.back().name);
}

void Duties::look() {
  const Nanos now = boot_ns();
  if (now < next_ns_) return;
  for (Duty& duty : duties_) {
    if (boot_ns() >= duty.again_ns) do_now(duty);
  }
  next_ns_ = boot_ns() + nanos(kEvery);
  for (const Duty& duty : duties_) next_ns_ = std::min(next_ns_, duty.again_ns);
}

void Duties::finish() {
  const Nanos until = boot_ns() + kFinish;
  for (Duty& duty : duties_) {
    while (do_now(duty) && boot_ns() < until) {
    }
  }
}

// The sweep runs once an hour over all hosts, whichever host led before.
Nanos Duties::until_due(const Duty& duty) const {
  if (duty.kind != Kind::kUnique || duty.under_way) return 0;
  const auto since = leadership_.since_last_run(duty.name);
  return since && *since < nanos(kSweepEvery) ? nanos(kSweepEvery) - *since : 0;
}

bool Duties::do_now(Duty& duty) {
  const Nanos now = boot_ns();
  try {
    if (duty.kind == Kind::kStuck && now >= duty.unknown_ns) {
      duty.unknown_ns = now + nanos(kEvery);
      tell_unknown(duty);
    }
    if (!leadership_.leads(duty.name)) {
      duty.under_way = false;
      // It may become the leader in the next round.
      duty.again_ns = std::max(leadership_.next_ns(), now + kMilli);
      return false;
    }
    const Nanos wait = until_due(duty);
    duty.again_ns = now + (wait > 0 ? wait : nanos(kEvery));
    return wait == 0 && do_as_leader(duty);
  } catch (const db::DbError& error) {
    duty.under_way = false;
    duty.again_ns = now + nanos(kEvery);
    leadership_.failed(duty.name, error.what());
    log::error(
        "duty.failed",
        {{"queue", duty.queue.info.name}, {"duty", duty.name.name}, {"error", error.what()}});
    return false;
  }
}

bool Duties::do_as_leader(Duty& duty) {
  const Nanos now = boot_ns();
  unusable_.clear();
  bool more = duty.kind != Kind::kStuck;
  if (!more) tell_stuck(duty);
  while (more && boot_ns() - now < kAtOnce && leadership_.leads(duty.name)) {
    more = duty.kind == Kind::kPurge ? purge(duty) : sweep(duty);
  }
  duty.under_way = more;
  if (more) {
    duty.again_ns = boot_ns() + kPause;
  } else if (!unusable_.empty()) {
    leadership_.failed(duty.name, unusable_);
  } else {
    leadership_.ran(duty.name);
  }
  return more;
}

bool Duties::purge(const Duty& duty) {
  const config::Queue& keys = *duty.queue.keys;
  const std::uint32_t queue_id = duty.queue.info.queue_id;
  return ask(session_, [&](db::Connection& db) {
    bool more = false;
    if (keys.history.count() > 0) more = queue::purge_history(db, queue_id, keys.history);
    if (keys.dead_retention.count() > 0) {
      more = queue::purge_dead(db, queue_id, keys.dead_retention) || more;
    }
    return more;
  });
}

bool Duties::sweep(Duty& duty) {
  return ask(session_, [&](db::Connection& db) {
    std::string after = duty.after;
    const bool more = queue::purge_unique(db, duty.queue.info.queue_id, after);
    duty.after = std::move(after);
    return more;
  });
}

// Unique keys limit reports to one for an attempt, and one an hour for a queue, on whichever host.
// Earlier findings of this host are not reported again: the key of a dead report is free.
void Duties::tell_stuck(Duty& duty) {
  const Served& queue = duty.queue;
  const microseconds after = queue.keys->stuck_after;
  const std::uint32_t queue_id = queue.info.queue_id;
  std::set<std::string> found;
  for (const queue::Stuck& stuck : ask(session_, [&](db::Connection& db) {
         return queue::stuck_running(db, queue_id, after);
       })) {
    found.insert(tell(queue, duty.told, kRunning, stuck));
  }
  const auto waiting =
      ask(session_, [&](db::Connection& db) { return queue::stuck_waiting(db, queue_id, after); });
  if (waiting) found.insert(tell(queue, duty.told, kWaiting, *waiting));
  duty.told = std::move(found);
}

// Each host does this for itself: the others do not know the tasks that local workers have
// deferred, and the keys prevent duplicate reports.
void Duties::tell_unknown(Duty& duty) {
  const auto ids = unknown_.of(duty.name.queue_id);
  if (ids.empty()) return;
  const microseconds after = duty.queue.keys->stuck_after;
  std::set<std::string> found;
  for (const queue::Stuck& stuck :
       ask(session_, [&](db::Connection& db) { return queue::stuck_unknown(db, ids, after); })) {
    found.insert(tell(duty.queue, duty.told_unknown, kNoHandler, stuck));
  }
  duty.told_unknown = std::move(found);
}

// Reports it, unless its key is in `told`; returns its key.
std::string Duties::tell(const Served& queue, const std::set<std::string>& told, const char* what,
                         const queue::Stuck& stuck) {
  std::string key = key_of(what, stuck);
  if (told.count(key) > 0) return key;
  queue::SubmitOptions options;
  options.unique_key = key;
  options.unique_for = what == kRunning ? kPerAttempt : kPerHour;
  const auto trace = queue::child_of(stuck.headers.trace, stuck.id.text(), stuck.attempt);
  options.traceparent = trace.parent;
  options.tracestate = trace.state;
  if (submit(queue, payload_of(what, stuck, *queue.keys), options)) {
    log_stuck(what, stuck, *queue.keys);
  }
  return key;
}

// False: another host reported it already, or nothing can be submitted.
bool Duties::submit(const Served& queue, const std::string& payload,
                    const queue::SubmitOptions& options) {
  const auto target = config::hook_target(queue.keys->on_stuck);
  if (!target) return false;
  const auto into = ask(session_, [&](db::Connection& db) {
    return queue::address(db, target->queue, target->type);
  });
  if (!into || into->shape.placement != queue::Placement::kSpread) {
    unusable_ = "on_stuck: " + target->queue + (into ? " is not spread" : " is not there");
    log::error("hook.unusable", {{"queue", queue.info.name}, {"on_stuck", queue.keys->on_stuck}});
    return false;
  }
  const queue::Submission task{*into, target->type, payload, options};
  // A lost reply does no harm: the unique key allows sending it again.
  const bool existed = ask(session_, [&](db::Connection& db) {
    try {
      return queue::submit(db, {&task, 1}).front().existed;
    } catch (const queue::OutcomeUnknown&) {
      return queue::submit(db, {&task, 1}).front().existed;
    }
  });
  if (!existed) peer::ring(board_, into->queue_id, 1);
  return !existed;
}

std::vector<Duties::Served> served_by(Session& session, const config::Settings& settings) {
  std::vector<Duties::Served> served;
  for (const config::Queue& queue : settings.queues) {
    const bool here = config::is_served(settings, queue.name);
    if (!here && queue.on_stuck.empty()) continue;
    auto info = session.call([&](db::Connection& db) {
      return queue::ensure_queue(db, queue.name, queue::shape_of(queue));
    });
    served.push_back({std::move(info), &queue, here});
  }
  return served;
}

void check_hooks(Session& session, const config::Settings& settings,
                 const std::vector<Duties::Served>& served) {
  for (const Duties::Served& queue : served) {
    for (const std::string* hook : {&queue.keys->on_dead, &queue.keys->on_stuck}) {
      const auto target = config::hook_target(*hook);
      if (!target) continue;
      const config::Queue* described = config::find_queue(settings, target->queue);
      const auto there = session.call([&](db::Connection& db) -> std::optional<queue::QueueInfo> {
        if (described == nullptr) return queue::find_queue(db, target->queue);
        return queue::ensure_queue(db, target->queue, queue::shape_of(*described));
      });
      if (there && there->shape.placement == queue::Placement::kSpread) continue;
      log::error("hook.unusable",
                 {{"queue", queue.info.name},
                  {"hook", *hook},
                  {"reason", there ? "queue " + target->queue + " is " +
                                         queue::text_of(there->shape) + ", not spread"
                                   : "there is no queue " + target->queue}});
    }
  }
}

}  // namespace allot::steward
