// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/commands/command.h"
#include "cli/sources/documents.h"
#include "cli/words/listing.h"
#include "cli/words/text.h"

namespace allot::cli {
namespace {

using nlohmann::json;

constexpr std::size_t kShownAudit = 300;

struct AuditOptions {
  std::map<std::string, std::string> filter;  // by parameter of the operation; empty: any
  std::uint32_t limit = 50;
  bool json = false;
};

std::string text_in(const json& entry, const char* name) {
  const json& value = entry.at(name);
  return value.is_string() ? printable(value.get<std::string>(), kShownAudit) : "";
}

std::string joined(const std::string& one, const std::string& other) {
  return one.empty() || other.empty() ? one + other : one + "; " + other;
}

// "50 tasks to other; group af67".
std::string what_of(const json& entry) {
  std::string text;
  if (!entry.at("tasks").is_null()) {
    const auto tasks = entry.at("tasks").get<std::uint64_t>();
    text = std::to_string(tasks) + (tasks == 1 ? " task" : " tasks");
  }
  const std::string to = text_in(entry, "to_queue");
  if (!to.empty()) text += (text.empty() ? "to " : " to ") + to;
  return joined(text, text_in(entry, "detail"));
}

// allot audit lists the actions of operators, newest first.
int list_audit(const Operations& allot, const AuditOptions& options) {
  std::string path = "/audit";
  for (const auto& [name, value] : options.filter) {
    path = documents::with(path, name, value);
  }
  Listing list({"AT", "ACTOR", "SOURCE", "ACTION", "SUBJECT", "WHAT", "REASON"}, options.json);
  for (const json& entry : documents::items(allot, path, options.limit)) {
    list.add(entry,
             {text_in(entry, "at"), text_in(entry, "actor"), text_in(entry, "source"),
              text_in(entry, "action"), text_in(entry, "subject") + " " + text_in(entry, "name"),
              what_of(entry), text_in(entry, "reason")});
  }
  list.print();
  return kExitOk;
}

}  // namespace

void add_audit(CLI::App& app, const Commands& commands) {
  const auto options = std::make_shared<AuditOptions>();
  std::map<std::string, std::string>& filter = options->filter;
  CLI::App& audit = *app.add_subcommand("audit", "List actions of operators, newest first");
  audit
      .add_option("--actor", filter["actor"], "Only actions of this operator, as named in the list")
      ->type_name("NAME");
  audit.add_option("--action", filter["action"], "Only actions of this kind, such as pause")
      ->type_name("ACTION");
  audit
      .add_option("--subject", filter["subject"],
                  "Only this kind of subject: queue, task, schedule, route, lock or bulk")
      ->type_name("KIND");
  audit.add_option("--name", filter["name"], "Only the subject with this name or id")
      ->type_name("NAME");
  audit.add_option("--queue", filter["queue"], "Only subjects of this queue")->type_name("QUEUE");
  audit.add_option("--limit", options->limit, "Maximum number of entries")
      ->check(CLI::Range(1, kMostListed))
      ->type_name("ROWS")
      ->capture_default_str();
  audit.add_flag("--json", options->json, "As JSON");
  audit.callback([commands, options] { commands.choose(list_audit, options); });
}

}  // namespace allot::cli
