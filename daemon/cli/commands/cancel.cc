// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/commands/command.h"
#include "cli/words/task_view.h"
#include "cli/words/text.h"

namespace allot::cli {
namespace {

using nlohmann::json;

struct CancelOptions {
  std::string id;
  bool as_done = false;
  bool json = false;
};

void print_cancelled(const json& cancelled) {
  const std::string id = cancelled.at("task");
  const bool as_done = cancelled.at("as_done");
  const std::string holder = cell_of(cancelled, "leased_by");
  const std::string who = holder.empty() ? "a worker" : holder;
  if (cancelled.at("requested").get<bool>()) {
    std::printf("asked %s to end %s%s\n", who.c_str(), id.c_str(), as_done ? " as done" : "");
    return;
  }
  std::printf("cancelled %s%s\n", id.c_str(), as_done ? ", it is done" : "");
  if (!cancelled.at("may_run").get<bool>()) return;
  std::printf("%s leased its partition in the meantime: it may have run, or may still run\n",
              who.c_str());
}

// allot task cancel ID turns a waiting task into a dead or finished one, and requests the end of a
// running one.
int cancel_task(const Operations& allot, const CancelOptions& options) {
  const json cancelled =
      allot.post(task_path(options.id) + "/cancel", {{"as_done", options.as_done}});
  return print_as(options.json, cancelled, [&] { print_cancelled(cancelled); });
}

}  // namespace

void add_cancel(CLI::App& task, const Commands& commands) {
  const auto [cancel, options] = commands.add(
      task, "cancel",
      "Cancel a waiting or running task, which is then dead, or done with --as-done", cancel_task);
  cancel.add_option("ID", options->id, "The task's id")->required();
  commands.add_reason(cancel);
  cancel.add_flag("--as-done", options->as_done,
                  "End it as if it had succeeded: it is done, not dead");
}

}  // namespace allot::cli
