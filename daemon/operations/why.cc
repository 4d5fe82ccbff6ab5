// SPDX-License-Identifier: Apache-2.0
#include "operations/why.h"

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/names.h"
#include "json/printable.h"
#include "json/task_json.h"
#include "queue/minutes/instances.h"
#include "queue/verbs/ending.h"

namespace allot::operations {
namespace {

using as_json::how_long;
using as_json::printable;

constexpr std::size_t kWholeError = 1000;

struct Reason {
  const char* word;  // for programs
  std::string text;  // for people
};
using Reasons = std::vector<Reason>;

std::string attempts_text(std::uint32_t attempts) {
  return std::to_string(attempts) + " attempt" + (attempts == 1 ? "" : "s");
}

Reasons why_dead_or_detached(const host::LocalProcesses& local, const queue::TaskView& task) {
  if (task.dead) {
    return {{task.cause == queue::kCancelled ? "cancelled" : "dead",
             "dead since " + task.at + ", after " + attempts_text(task.attempts) + ": " +
                 why_dead(task, kWholeError) + "; allot dead retry " + task.id.text() +
                 " puts it back"}};
  }
  const std::string where = printable(task.holder, 100);
  Reasons reasons{{"running", "runs on " + where + ", detached from its partition since " +
                                  task.since + ", attempt " + std::to_string(task.attempts)}};
  if (task.overdue) {
    reasons.push_back({"lost", "its lease ended at " + task.until + ": " + where +
                                   " sends no heartbeat; another worker puts the task back"});
  } else if (local.gone(task.origin, task.pid)) {
    reasons.push_back({"lost", where +
                                   " is gone: its daemon puts the task back, or another worker "
                                   "when its lease has ended at " +
                                   task.until});
  } else if (task.silent_since) {
    reasons.push_back({"lost", where + " has sent no heartbeat since " + *task.silent_since +
                                   ": if it is gone, another worker puts the task back when its "
                                   "lease has ended at " +
                                   task.until});
  }
  return reasons;
}

// A running task that is not detached is visible only on the host of its worker.
std::optional<Reason> seen_running(const host::LocalProcesses& local, const queue::TaskView& task) {
  for (const host::WorkerView& worker : local.workers()) {
    for (const auto& running : worker.running) {
      if (running.task != task.id.text()) continue;
      return Reason{"running", "is running on this host in worker " + std::to_string(worker.pid) +
                                   " for " + how_long(running.running_ms) + ", attempt " +
                                   std::to_string(running.attempt)};
    }
  }
  return std::nullopt;
}

std::string delay_text(const queue::TaskView& task) {
  std::string before;
  if (task.attempts > 0) before = attempts_text(task.attempts) + " failed, ";
  if (task.headers.unstarted > 0) {
    before += std::to_string(task.headers.unstarted) + " did not start (task.put_off in the log), ";
  }
  return before.empty() ? "due at " : before + "the next is due at ";
}

void add_due(Reasons& reasons, const queue::TaskView& task, const queue::Standing& standing) {
  const std::string type = "'" + printable(task.type, kMaxTypeName) + "'";
  if (task.no_handler) {
    // In an ordered queue the task keeps its place, and its partition waits.
    const std::string& again = standing.defer_until ? *standing.defer_until : task.at;
    reasons.push_back({"no_handler", "no worker that read it has a handler for its type " + type +
                                         "; it is read again at " + again +
                                         ", or when an instance with such a handler starts"});
  } else if (!standing.due) {
    reasons.push_back({"delayed", delay_text(task) + task.at});
  }
}

void add_lease(Reasons& reasons, const host::LocalProcesses& local, const queue::TaskView& task,
               const queue::Standing& standing) {
  if (standing.defer_until) {
    reasons.push_back({"deferred", "its partition waits until " + *standing.defer_until});
  }
  if (!standing.leased) return;
  const std::string partition = std::to_string(task.id.partition.partition_no);
  const std::string holder = printable(standing.holder, 100);
  if (standing.overdue) {
    reasons.push_back({"lost", "its partition " + partition + " is leased by " + holder +
                                   ", whose lease ended at " + standing.until +
                                   ": if it is gone, another worker takes the partition over"});
    return;
  }
  if (local.gone(standing.origin, standing.pid)) {
    reasons.push_back({"lost", "its partition " + partition + " is leased by " + holder +
                                   ", which is gone: its daemon frees it, or another worker takes "
                                   "it over when the lease has ended at " +
                                   standing.until});
    return;
  }
  if (standing.silent_since) {
    reasons.push_back({"lost", "its partition " + partition + " is leased by " + holder +
                                   ", which has sent no heartbeat since " + *standing.silent_since +
                                   ": if it is gone, another worker takes the partition over when "
                                   "the lease has ended at " +
                                   standing.until});
    return;
  }
  reasons.push_back({"leased", "its partition " + partition + " is leased by " + holder +
                                   " until " + standing.until +
                                   ", and renews the lease while its tasks run"});
}

void add_ahead(Reasons& reasons, const queue::Standing& standing) {
  const auto& ahead = standing.ahead;
  if (ahead.value == 0) return;
  const std::string count =
      ahead.at_least ? "more than " + std::to_string(ahead.value) : std::to_string(ahead.value);
  reasons.push_back({"ahead", count + (ahead.value == 1 ? " task runs" : " tasks run") +
                                  " before it in its partition"});
}

void add_not_served(Reasons& reasons, db::Connection& db, const std::string& queue) {
  const auto pools = queue::pools_that_serve(queue::list_instances(db), queue);
  if (!pools || !pools->empty()) return;
  reasons.push_back({"not_served", "no pool of a running daemon serves queue " + queue +
                                       ": add it to the queues of a pool, and reload its daemon"});
}

Reasons why_waiting(db::Connection& db, const host::LocalProcesses& local,
                    const queue::TaskView& task, const queue::Standing& standing,
                    const std::string& queue) {
  if (auto running = seen_running(local, task)) return {*running};
  Reasons reasons;
  if (standing.paused) {
    const std::string& reason = standing.paused->reason;
    reasons.push_back({"paused", "queue " + queue + " is paused since " + standing.paused->at +
                                     (reason.empty() ? "" : ": " + printable(reason, 300))});
  }
  if (standing.resizing) {
    reasons.push_back({"resizing", "queue " + queue +
                                       " is being resized: tasks submitted before the change run "
                                       "first, in their old partitions"});
  }
  add_due(reasons, task, standing);
  if (standing.due && standing.rate_wait && standing.rate_wait->count() > 0) {
    const auto wait_ms = std::chrono::ceil<std::chrono::milliseconds>(*standing.rate_wait);
    reasons.push_back({"rate", "it waits for the rate limit: the next task of queue " + queue +
                                   " may start in about " + std::to_string(wait_ms.count()) +
                                   " ms"});
  }
  if (standing.due) {
    add_lease(reasons, local, task, standing);
    add_ahead(reasons, standing);
  }
  if (!standing.leased) add_not_served(reasons, db, queue);
  if (reasons.empty()) {
    reasons.push_back({"next", "it is next: a worker that serves queue " + queue +
                                   " takes it within about a second; if not, run allot status to "
                                   "see whether a worker serves the queue"});
  }
  return reasons;
}

void add_cancel(Reasons& reasons, const queue::TaskView& task,
                const std::optional<queue::CancelRequest>& request) {
  if (!request || task.dead) return;
  reasons.push_back({"cancel_requested", cancel_text(*request)});
}

// Adds the last error of a task that waits for another attempt, or the reason of its handler.
void add_last_error(Reasons& reasons, db::Connection& db, const queue::TaskView& task) {
  const bool runs = !reasons.empty() && reasons.front().word == std::string_view("running");
  if (task.dead || task.running || task.attempts == 0 || runs) return;
  const auto attempts = queue::list_attempts(db, task.id);
  if (attempts.empty()) return;
  const queue::AttemptView& last = attempts.back();
  reasons.push_back({"failed", "attempt " + std::to_string(last.attempt) + " ended at " +
                                   last.ended_at + ": " +
                                   printable(last.cause + ": " + last.error, kWholeError)});
}

queue::Standing must_stand(db::Connection& db, const queue::TaskView& task) {
  auto standing = queue::standing(db, task);
  if (!standing) throw Error("the partition of task " + task.id.text() + " does not exist");
  return std::move(*standing);
}

}  // namespace

std::string why_dead(const queue::TaskView& task, std::size_t most) {
  return printable(task.error.empty() ? task.cause : task.cause + ": " + task.error, most);
}

std::string cancel_text(const queue::CancelRequest& request) {
  const std::string reason = request.reason.empty() ? "" : ": " + request.reason;
  return printable((request.as_done ? "completion as done" : "cancellation") +
                       std::string(" was requested at ") + request.requested_at + reason,
                   as_json::kShownError);
}

nlohmann::json explain(db::Connection& db, const host::LocalProcesses& local,
                       const queue::TaskView& task, const std::string& queue) {
  Reasons reasons = task.dead || task.running
                        ? why_dead_or_detached(local, task)
                        : why_waiting(db, local, task, must_stand(db, task), queue);
  add_last_error(reasons, db, task);
  add_cancel(reasons, task, queue::find_cancel(db, task.id));
  nlohmann::json view = as_json::task(task, queue);
  view["reasons"] = nlohmann::json::array();
  for (const Reason& reason : reasons) {
    view["reasons"].push_back({{"reason", reason.word}, {"text", reason.text}});
  }
  return view;
}

}  // namespace allot::operations
