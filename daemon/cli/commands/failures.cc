// SPDX-License-Identifier: Apache-2.0
// allot failures: recent failures, including those that are retried, grouped by error.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/commands/command.h"
#include "cli/sources/documents.h"
#include "cli/words/text.h"
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
  print_list(found.at("items"), options.json,
             {{"GROUP", "group"},
              {"QUEUE", "queue"},
              {"TYPE", "type"},
              {"RETRIED", "retried"},
              {"DEAD", "dead"},
              {"NEWEST TASK", "newest_task"},
              {"WHY", "error"}});
  if (found.at("truncated").get<bool>() && !options.json) {
    std::printf("Older failures are not shown: name a --queue.\n");
  }
  return kExitOk;
}

}  // namespace

void add_failures(CLI::App& app, const Commands& commands) {
  const auto [list, options] = commands.add(
      app, "failures", "Show recent failures by error group, including retried attempts",
      list_failures);
  list.add_option("QUEUE", options->queue, "Only failures of this queue");
  add_time(list, "--since", options->since, "Period to look back: 30m, 7d [24h]");
}

}  // namespace allot::cli
