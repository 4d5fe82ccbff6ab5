// SPDX-License-Identifier: Apache-2.0
// allot failures: recent failures, including those that are retried, grouped by error.
#include "queue/minutes/failures.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/commands/command.h"
#include "cli/remote/address.h"
#include "cli/remote/session.h"
#include "cli/sources/queues.h"
#include "cli/words/listing.h"
#include "cli/words/text.h"
#include "json/due.h"
#include "json/minutes_json.h"
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

void print_failures(const std::vector<json>& groups, bool more, const FailuresOptions& options) {
  Listing list({"GROUP", "QUEUE", "TYPE", "RETRIED", "DEAD", "NEWEST TASK", "WHY"}, options.json);
  for (const json& group : groups) {
    const auto text = [&](const char* name) {
      return printable(group.at(name).get<std::string>(), 200);
    };
    const json& newest = group.at("newest_task");
    list.add(group, {text("group"), text("queue"), text("type"), group.at("retried").dump(),
                     group.at("dead").dump(), newest.is_null() ? "" : newest.get<std::string>(),
                     text("error")});
  }
  list.print();
  if (more && !options.json) std::printf("Older failures are not shown: name a --queue.\n");
}

int list_failures(const Context& context, const FailuresOptions& options) {
  const minutes since = since_of(options);
  db::Connection db = connect(context.settings());
  if (!options.queue.empty()) static_cast<void>(chosen_queues(db, options.queue));
  const queue::Failures found = queue::list_failures(db, options.queue, since);
  std::vector<json> groups;
  for (const queue::FailureGroup& group : found.list) groups.push_back(as_json::failure(group));
  print_failures(groups, found.more, options);
  return kExitOk;
}

int remote_failures(const remote::Session& gateway, const FailuresOptions& options) {
  std::string path = "/failures?since=" + std::to_string(since_of(options).count());
  if (!options.queue.empty()) path += "&queue=" + remote::escaped(options.queue);
  const json answer = gateway.read(path);
  print_failures(answer.at("items").get<std::vector<json>>(), answer.at("more").get<bool>(),
                 options);
  return kExitOk;
}

}  // namespace

void add_failures(CLI::App& app, const Commands& commands) {
  const auto options = std::make_shared<FailuresOptions>();
  CLI::App& list = *app.add_subcommand(
      "failures", "Show recent failures by group of errors, including retried attempts");
  list.add_option("QUEUE", options->queue, "Only of this queue");
  list.add_option_function<std::string>(
          "--since",
          [options](const auto& text) { options->since = as_json::parse_delay("--since", text); },
          "Period to look back: 30m, 7d [24h]")
      ->type_name("TIME");
  list.add_flag("--json", options->json, "As JSON");
  list.callback([commands, options] { commands.choose(list_failures, options, remote_failures); });
}

}  // namespace allot::cli
