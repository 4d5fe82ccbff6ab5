// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands/command.h"
#include "cli/sources/here.h"
#include "cli/sources/instance_view.h"
#include "cli/sources/queues.h"
#include "cli/words/pause_view.h"
#include "cli/words/task_view.h"
#include "cli/words/text.h"
#include "json/task_json.h"
#include "queue/look/inspect.h"
#include "queue/verbs/cancel_request.h"
#include "queue/verbs/ending.h"

namespace allot::cli {
namespace {

using nlohmann::json;

struct WhyOptions {
  std::string id;
  bool json = false;
};

constexpr std::size_t kWholeError = 1000;

// One reason that keeps a task from running, or that says where it is.
struct Reason {
  const char* word;  // for programs
  std::string text;  // for people
};
using Reasons = std::vector<Reason>;

std::string attempts_text(std::uint32_t attempts) {
  return std::to_string(attempts) + " attempt" + (attempts == 1 ? "" : "s");
}

Reasons why_dead_or_detached(const config::Settings& settings, const queue::TaskView& task) {
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
                                   " gives no sign of life; another worker puts it back"});
  } else if (Here(settings).gone(task.origin, task.pid)) {
    reasons.push_back({"lost", where +
                                   " is gone: its daemon puts the task back, or another worker "
                                   "when its lease has ended at " +
                                   task.until});
  } else if (task.silent_since) {
    reasons.push_back({"lost", where + " has given no sign of life since " + *task.silent_since +
                                   ": if it is gone, another worker puts the task back when its "
                                   "lease has ended at " +
                                   task.until});
  }
  return reasons;
}

// Only this host's workers are visible when they run a task that is not detached.
std::optional<Reason> seen_running(const config::Settings& settings, const queue::TaskView& task) {
  for (const WorkerView& worker : read_instance(config::runtime_dir(settings)).workers) {
    for (const auto& running : worker.running) {
      if (running.task != task.id.text()) continue;
      return Reason{"running", "runs here in worker " + std::to_string(worker.pid) + " for " +
                                   how_long(running.running_ms) + ", attempt " +
                                   std::to_string(running.attempt)};
    }
  }
  return std::nullopt;
}

void add_due(Reasons& reasons, const queue::TaskView& task, const queue::Standing& standing) {
  const std::string type = "'" + printable(task.type, queue::kMaxName) + "'";
  if (task.no_handler) {
    // In an ordered queue it keeps its place, and its partition waits.
    const std::string& again = standing.hold_until ? *standing.hold_until : task.at;
    reasons.push_back({"no_handler", "no worker that looked at it has a handler of its type " +
                                         type + "; looked at again at " + again});
  } else if (!standing.due) {
    reasons.push_back({"delayed", (task.attempts > 0 ? attempts_text(task.attempts) +
                                                           " failed, the next is due at "
                                                     : "due at ") +
                                      task.at});
  }
}

void add_lease(Reasons& reasons, const config::Settings& settings, const queue::TaskView& task,
               const queue::Standing& standing) {
  if (standing.hold_until) {
    reasons.push_back({"held", "its partition waits until " + *standing.hold_until});
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
  if (Here(settings).gone(standing.origin, standing.pid)) {
    reasons.push_back({"lost", "its partition " + partition + " is leased by " + holder +
                                   ", which is gone: its daemon frees it, or another worker takes "
                                   "it over when the lease has ended at " +
                                   standing.until});
    return;
  }
  if (standing.silent_since) {
    reasons.push_back({"lost", "its partition " + partition + " is leased by " + holder +
                                   ", which has given no sign of life since " +
                                   *standing.silent_since +
                                   ": if it is gone, another worker takes the partition over when "
                                   "the lease has ended at " +
                                   standing.until});
    return;
  }
  reasons.push_back({"leased", "its partition " + partition + " is leased by " + holder +
                                   " until " + standing.until + ", longer while its tasks run"});
}

void add_ahead(Reasons& reasons, const queue::Standing& standing) {
  const auto& ahead = standing.ahead;
  if (ahead.value == 0) return;
  const std::string count =
      ahead.at_least ? "more than " + std::to_string(ahead.value) : std::to_string(ahead.value);
  reasons.push_back({"ahead", count + (ahead.value == 1 ? " task runs" : " tasks run") +
                                  " before it in its partition"});
}

Reasons why_waiting(const config::Settings& settings, const queue::TaskView& task,
                    const queue::Standing& standing, const std::string& queue) {
  if (auto running = seen_running(settings, task)) return {*running};
  Reasons reasons;
  if (standing.paused) {
    const queue::QueueInfo info{task.id.partition.queue_id, queue, {}, standing.paused};
    reasons.push_back({"paused", "queue " + queue + " is paused " + pause_text(info)});
  }
  if (standing.resizing) {
    reasons.push_back({"resizing", "queue " + queue +
                                       " is being resized: tasks that were submitted to it before "
                                       "that run first, in the partitions they have"});
  }
  add_due(reasons, task, standing);
  if (standing.due && standing.rate_wait && standing.rate_wait->count() > 0) {
    const auto wait_ms = std::chrono::ceil<std::chrono::milliseconds>(*standing.rate_wait);
    reasons.push_back({"rate", "it waits for the rate of its queue: the next task of queue " +
                                   queue + " may start in about " +
                                   std::to_string(wait_ms.count()) + " ms"});
  }
  if (standing.due) {
    add_lease(reasons, settings, task, standing);
    add_ahead(reasons, standing);
  }
  if (reasons.empty()) {
    reasons.push_back({"next", "it is next: a worker that serves queue " + queue +
                                   " takes it within about a second; if none does, see whether "
                                   "one serves it with allot status"});
  }
  return reasons;
}

void add_cancel(Reasons& reasons, const queue::TaskView& task,
                const std::optional<queue::CancelRequest>& request) {
  if (!request || task.dead) return;
  reasons.push_back({"cancel_asked", cancel_text(*request)});
}

queue::TaskView must_show(db::Connection& db, const queue::TaskId& id) {
  auto task = queue::show(db, id);
  if (!task) refuse_unknown(id);
  return std::move(*task);
}

queue::Standing must_stand(db::Connection& db, const queue::TaskView& task) {
  auto standing = queue::standing(db, task);
  if (!standing) throw Error("the partition of task " + task.id.text() + " does not exist");
  return std::move(*standing);
}

json why_json(const queue::TaskView& task, const std::string& queue, const Reasons& reasons) {
  json view = as_json::task(task, queue);
  view["reasons"] = json::array();
  for (const Reason& reason : reasons) {
    view["reasons"].push_back({{"reason", reason.word}, {"text", reason.text}});
  }
  return view;
}

// allot why ID says in words why a task is not running, or where it is.
int why(const Context& context, const WhyOptions& options) {
  const queue::TaskId id = parse_task_id(options.id);
  const config::Settings settings = context.settings();
  db::Connection db = connect(settings);
  const queue::TaskView task = must_show(db, id);
  const std::string queue = queue::queue_name(db, id.partition.queue_id);
  Reasons reasons = task.dead || task.running
                        ? why_dead_or_detached(settings, task)
                        : why_waiting(settings, task, must_stand(db, task), queue);
  add_cancel(reasons, task, queue::find_cancel(db, id));
  if (options.json) {
    print(why_json(task, queue, reasons));
    return kExitOk;
  }
  for (const Reason& reason : reasons) std::printf("%s\n", reason.text.c_str());
  return kExitOk;
}

}  // namespace

void add_why(CLI::App& app, const Commands& commands) {
  const auto options = std::make_shared<WhyOptions>();
  CLI::App& command = *app.add_subcommand("why", "Say in words why a task is not running");
  command.add_option("ID", options->id, "The task's id")->required();
  command.add_flag("--json", options->json, "As JSON");
  command.callback([commands, options] { commands.choose(why, options); });
}

}  // namespace allot::cli
