// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "config/served.h"
#include "log/log.h"
#include "peer/doorbell.h"
#include "queue/notices/stuck.h"
#include "queue/submit/submitter.h"
#include "steward/chores.h"

namespace allot::steward {
namespace {

using nlohmann::json;
using std::chrono::microseconds;

constexpr Nanos kStuckEvery = 10 * kSecond;
// How long the unique key of a hook's task outlasts it: longer than any attempt, and longer than
// the hour.
constexpr std::chrono::hours kPerAttempt{24 * 30};
constexpr std::chrono::hours kPerHour{2};
constexpr const char* kRunning = "running";
constexpr const char* kWaiting = "waiting";
constexpr const char* kNoHandler = "no_handler";

std::string payload_of(const char* what, const queue::Stuck& stuck, const config::Queue& queue) {
  const json text = {{"event", "stuck"},
                     {"state", what},
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
                            {"state", what},
                            {"task", stuck.id.text()},
                            {"type", stuck.type},
                            {"since", stuck.since},
                            {"worker", stuck.worker},
                            {"hook", queue.on_stuck}});
}

class StuckReports {
 public:
  StuckReports(process::Session& session, ipc::Board& board, UnknownTasks& unknown)
      : session_(session), submitter_({.ringer = peer::Ringer(board)}), unknown_(unknown) {}

  void report_stuck(const Served& queue);
  void report_unknown(const Served& queue);

 private:
  std::string report(const Served& queue, const std::set<std::string>& reported, const char* what,
                     const queue::Stuck& stuck);
  bool submit(const Served& queue, const std::string& payload, const queue::SubmitOptions& options);

  process::Session& session_;
  const queue::Submitter submitter_;
  UnknownTasks& unknown_;
  // Keys of the last findings, by queue.
  std::map<std::uint32_t, std::set<std::string>> reported_;
  std::map<std::uint32_t, std::set<std::string>> reported_unknown_;
};

// Unique keys limit reports to one for an attempt, and one an hour for a queue, on whichever host.
// Earlier findings of this host are not reported again: the key of a dead report is free.
void StuckReports::report_stuck(const Served& queue) {
  const microseconds after = queue.keys->stuck_after;
  const std::uint32_t queue_id = queue.info.queue_id;
  std::set<std::string>& reported = reported_[queue_id];
  std::set<std::string> found;
  for (const queue::Stuck& stuck : ask(session_, [&](db::Connection& db) {
         return queue::stuck_running(db, queue_id, after);
       })) {
    found.insert(report(queue, reported, kRunning, stuck));
  }
  const auto waiting =
      ask(session_, [&](db::Connection& db) { return queue::stuck_waiting(db, queue_id, after); });
  if (waiting) found.insert(report(queue, reported, kWaiting, *waiting));
  reported = std::move(found);
}

// Each host does this for itself: the others do not know the tasks that local workers have
// deferred, and the keys prevent duplicate reports.
void StuckReports::report_unknown(const Served& queue) {
  const auto ids = unknown_.of(queue.info.queue_id);
  if (ids.empty()) return;
  const microseconds after = queue.keys->stuck_after;
  std::set<std::string>& reported = reported_unknown_[queue.info.queue_id];
  std::set<std::string> found;
  for (const queue::Stuck& stuck :
       ask(session_, [&](db::Connection& db) { return queue::stuck_unknown(db, ids, after); })) {
    found.insert(report(queue, reported, kNoHandler, stuck));
  }
  reported = std::move(found);
}

// Reports it, unless its key is in `reported`; returns its key.
std::string StuckReports::report(const Served& queue, const std::set<std::string>& reported,
                                 const char* what, const queue::Stuck& stuck) {
  std::string key = key_of(what, stuck);
  if (reported.count(key) > 0) return key;
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

// False: another host reported it already.
bool StuckReports::submit(const Served& queue, const std::string& payload,
                          const queue::SubmitOptions& options) {
  const auto target = config::hook_target(queue.keys->on_stuck);
  if (!target) return false;
  const auto into = ask(session_, [&](db::Connection& db) {
    return queue::address(db, target->queue, target->type);
  });
  if (!into || into->shape.placement != queue::Placement::kSpread) {
    throw Error("on_stuck: " + target->queue + (into ? " is not spread" : " is not there"));
  }
  const queue::Submission task{*into, target->type, payload, options};
  // A lost reply does no harm: the unique key allows sending it again.
  const bool existed = ask(session_, [&](db::Connection& db) {
    try {
      return submitter_.submit(db, {&task, 1}).front().existed();
    } catch (const queue::OutcomeUnknown&) {
      return submitter_.submit(db, {&task, 1}).front().existed();
    }
  });
  return !existed;
}

}  // namespace

std::vector<Chore> stuck_reports(process::Session& session, ipc::Board& board,
                                 UnknownTasks& unknown, const std::vector<Served>& served) {
  const auto own = std::make_shared<StuckReports>(session, board, unknown);
  std::vector<Chore> all;
  const auto add = [&](const Served& queue, const std::string& name,
                       const std::vector<queue::DutyName>& duties,
                       void (StuckReports::*report)(const Served& queue)) {
    const auto once = [own, report, &queue](bool /*fresh*/) {
      (*own.*report)(queue);
      return kDone;
    };
    all.push_back({.name = queue.info.name + name,
                   .duties = duties,
                   .every = kStuckEvery,
                   .run_once = once,
                   .at_drain = true});
  };
  for (const Served& queue : served) {
    if (queue.keys->on_stuck.empty()) continue;
    add(queue, "/stuck", {{queue.info.queue_id, "stuck"}}, &StuckReports::report_stuck);
    add(queue, "/no_handler", {}, &StuckReports::report_unknown);
  }
  return all;
}

}  // namespace allot::steward
