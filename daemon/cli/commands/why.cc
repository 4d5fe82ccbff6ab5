// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/commands/command.h"
#include "cli/sources/local.h"
#include "cli/words/instance_text.h"
#include "cli/words/task_view.h"
#include "cli/words/text.h"

namespace allot::cli {
namespace {

struct WhyOptions {
  std::string id;
  bool json = false;
};

constexpr std::size_t kMostReasonText = 8192;

// allot why ID explains why a task is not running, or where it is. On its host it also shows what
// is wrong with the instance.
int why(const Operations& allot, const WhyOptions& options) {
  const auto document = allot.read(task_path(options.id) + "/why");
  if (options.json) {
    print(document);
    return kExitOk;
  }
  for (const auto& reason : document.at("reasons")) {
    std::printf("%s\n", printable(reason.at("text").get<std::string>(), kMostReasonText).c_str());
  }
  const Local* here = allot.local();
  if (here == nullptr || document.at("state") == "dead") return kExitOk;
  const InstanceView instance = read_instance(config::runtime_dir(here->settings()));
  for (const std::string& line : instance_troubles(instance, here->settings())) {
    std::printf("%s\n", line.c_str());
  }
  return kExitOk;
}

}  // namespace

void add_why(CLI::App& app, const Commands& commands) {
  const auto [command, options] =
      commands.add(app, "why", "Explain why a task is not running", why);
  command.add_option("ID", options->id, "The task's id")->required();
}

}  // namespace allot::cli
