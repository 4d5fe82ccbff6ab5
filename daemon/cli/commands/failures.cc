// SPDX-License-Identifier: Apache-2.0
// allot failures: recent failures, including those that are retried, grouped by error.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/commands/command.h"
#include "cli/sources/documents.h"
#include "cli/words/listing.h"
#include "cli/words/text.h"
#include "json/due.h"
#include "json/fields.h"
#include "queue/minutes/minute_view.h"

namespace allot::cli {
namespace {

using nlohmann::json;
using std::chrono::minutes;

struct FailuresOptions {
  std::string queue;  // empty: all
  std::chrono::microseconds since = std::chrono::hours(24);
  bool json = false;
};

minutes since_of(const FailuresOptions& options) {
  const auto since = std::chrono::ceil<minutes>(options.since);
  if (since < minutes(1) || since > queue::kMinutesKept) {
    throw Error("--since takes 1m to 7d", kExitBadInput);
  }
  return since;
}

int list_failures(const Operations& allot, const FailuresOptions& options) {
  const std::string path = "/failures?since=" + std::to_string(since_of(options).count());
  const json found = allot.read(documents::with(path, "queue", options.queue));
  Listing list({"GROUP", "QUEUE", "TYPE", "RETRIED", "DEAD", "NEWEST TASK", "WHY"}, options.json);
  for (const json& group : found.at("items")) {
    const auto text = [&](const char* name) {
      return printable(group.at(name).get<std::string>(), 200);
    };
    list.add(group,
             {text("group"), text("queue"), text("type"), group.at("retried").dump(),
              group.at("dead").dump(), as_json::text_in(group, "newest_task"), text("error")});
  }
  list.print();
  if (found.at("truncated").get<bool>() && !options.json) {
    std::printf("Older failures are not shown: name a --queue.\n");
  }
  return kExitOk;
}

}  // namespace

void add_failures(CLI::App& app, const Commands& commands) {
  const auto options = std::make_shared<FailuresOptions>();
  CLI::App& list = *app.add_subcommand(
      "failures", "Show recent failures by error group, including retried attempts");
  list.add_option("QUEUE", options->queue, "Only failures of this queue");
  list.add_option_function<std::string>(
          "--since",
          [options](const auto& text) { options->since = as_json::parse_delay("--since", text); },
          "Period to look back: 30m, 7d [24h]")
      ->type_name("TIME");
  list.add_flag("--json", options->json, "As JSON");
  list.callback([commands, options] { commands.choose(list_failures, options); });
}

}  // namespace allot::cli
