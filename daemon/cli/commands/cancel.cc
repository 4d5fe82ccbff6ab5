// SPDX-License-Identifier: Apache-2.0
#include "queue/operate/cancel.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/commands/command.h"
#include "cli/remote/session.h"
#include "cli/words/task_view.h"
#include "cli/words/text.h"
#include "json/shown_reader.h"
#include "json/task_json.h"

namespace allot::cli {
namespace {

struct CancelOptions {
  std::string id;
  bool as_done = false;
  bool json = false;
};

void print_cancelled(const CancelOptions& options, const queue::TaskId& id,
                     const queue::Cancelled& cancelled) {
  const std::string& holder = cancelled.holder;
  if (options.json) {
    print(as_json::cancelled(cancelled, id, options.as_done));
    return;
  }
  const std::string who = holder.empty() ? "a worker" : printable(holder, 100);
  if (cancelled.asked) {
    std::printf("asked %s to end %s%s\n", who.c_str(), id.text().c_str(),
                options.as_done ? " as done" : "");
    return;
  }
  std::printf("cancelled %s%s\n", id.text().c_str(), options.as_done ? ", it is done" : "");
  if (!cancelled.may_run) return;
  std::printf("%s leased its partition in the meantime: it may have run, or may still run\n",
              who.c_str());
}

bool keeps_history(const config::Settings& settings, const std::string& queue) {
  const config::Queue* keys = config::find_queue(settings, queue);
  return keys != nullptr && keys->history.count() > 0;
}

// allot task cancel ID turns a waiting task into a dead or finished one, and requests the end of a
// running one.
int cancel_task(const Context& context, const CancelOptions& options) {
  const queue::TaskId id = parse_task_id(options.id);
  const config::Settings settings = context.settings();
  db::Connection db = connect_as_operator(context, settings);
  std::optional<queue::AsDone> end;
  if (options.as_done) {
    end =
        queue::as_done_here(keeps_history(settings, queue::queue_name(db, id.partition.queue_id)));
  }
  const queue::Cancelled cancelled = queue::cancel_task(db, id, context.reason, end);
  if (!cancelled.task) refuse_unknown(id);
  if (cancelled.otherwise) {
    throw Error("task " + id.text() + " is to end as " + (options.as_done ? "cancelled" : "done") +
                ": this was requested before, and the first request stays in effect");
  }
  const queue::TaskView& task = *cancelled.task;
  if (task.dead) throw Error("task " + id.text() + " is dead already: " + why_dead(task, 300));
  print_cancelled(options, id, cancelled);
  return kExitOk;
}

int remote_cancel_task(const remote::Session& gateway, const CancelOptions& options) {
  const queue::TaskId id = parse_task_id(options.id);
  const auto document =
      gateway.post("/tasks/" + id.text() + "/cancel", {{"as_done", options.as_done}});
  print_cancelled(options, id, as_json::cancelled_of(document));
  return kExitOk;
}

}  // namespace

void add_cancel(CLI::App& task, const Commands& commands) {
  const auto options = std::make_shared<CancelOptions>();
  CLI::App& cancel = *task.add_subcommand(
      "cancel", "Cancel a task, also a running one; it is dead afterwards, or done with --as-done");
  cancel.add_option("ID", options->id, "The task's id")->required();
  commands.add_reason(cancel);
  cancel.add_flag("--as-done", options->as_done,
                  "End it as if it had succeeded: it is done, not dead");
  cancel.add_flag("--json", options->json, "As JSON");
  cancel.callback(
      [commands, options] { commands.choose(cancel_task, options, remote_cancel_task); });
}

}  // namespace allot::cli
