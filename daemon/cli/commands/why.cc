// SPDX-License-Identifier: Apache-2.0
#include "json/why.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/commands/command.h"
#include "cli/remote/session.h"
#include "cli/words/instance_text.h"
#include "cli/words/task_view.h"
#include "cli/words/text.h"
#include "queue/look/inspect.h"

namespace allot::cli {
namespace {

struct WhyOptions {
  std::string id;
  bool json = false;
};

constexpr std::size_t kMostReasonText = 8192;

// allot why ID explains why a task is not running, or where it is.
int why(const Context& context, const WhyOptions& options) {
  const queue::TaskId id = parse_task_id(options.id);
  const config::Settings settings = context.settings();
  db::Connection db = connect(settings);
  const auto task = queue::show(db, id);
  if (!task) refuse_unknown(id);
  const std::string queue = queue::queue_name(db, id.partition.queue_id);
  const as_json::Neighbours here(settings.daemon.instance, config::runtime_dir(settings));
  const as_json::Reasons reasons = as_json::reasons_of(db, here, *task, queue);
  if (options.json) {
    print(as_json::why(*task, queue, reasons));
    return kExitOk;
  }
  for (const as_json::Reason& reason : reasons) std::printf("%s\n", reason.text.c_str());
  if (task->dead) return kExitOk;
  const InstanceView instance = read_instance(config::runtime_dir(settings));
  for (const std::string& line : instance_troubles(instance, settings)) {
    std::printf("%s\n", line.c_str());
  }
  return kExitOk;
}

int remote_why(const remote::Session& gateway, const WhyOptions& options) {
  const auto document = gateway.read("/tasks/" + parse_task_id(options.id).text() + "/why");
  if (options.json) {
    print(document);
    return kExitOk;
  }
  for (const auto& reason : document.at("reasons")) {
    std::printf("%s\n", printable(reason.at("text").get<std::string>(), kMostReasonText).c_str());
  }
  return kExitOk;
}

}  // namespace

void add_why(CLI::App& app, const Commands& commands) {
  const auto options = std::make_shared<WhyOptions>();
  CLI::App& command = *app.add_subcommand("why", "Explain why a task is not running");
  command.add_option("ID", options->id, "The task's id")->required();
  command.add_flag("--json", options->json, "As JSON");
  command.callback([commands, options] { commands.choose(why, options, remote_why); });
}

}  // namespace allot::cli
