// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/commands/command.h"
#include "cli/sources/documents.h"
#include "cli/words/text.h"

namespace allot::cli {
namespace {

using nlohmann::json;

struct AuditOptions {
  std::map<std::string, std::string> filter;  // by parameter of the operation; empty: any
  std::uint32_t limit = 50;
  bool json = false;
};

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
  const std::string to = cell_of(entry, "to_queue");
  if (!to.empty()) text += (text.empty() ? "to " : " to ") + to;
  return joined(text, cell_of(entry, "detail"));
}

// allot audit lists the actions of operators, newest first.
int list_audit(const Operations& allot, const AuditOptions& options) {
  std::string path = "/audit";
  for (const auto& [name, value] : options.filter) {
    path = documents::with(path, name, value);
  }
  return print_list(
      documents::items(allot, path, options.limit), options.json,
      {{"AT", "at"},
       {"ACTOR", "actor"},
       {"SOURCE", "source"},
       {"ACTION", "action"},
       {"SUBJECT",
        [](const json& entry) { return cell_of(entry, "subject") + " " + cell_of(entry, "name"); }},
       {"WHAT", what_of},
       {"REASON", "reason"}});
}

}  // namespace

void add_audit(CLI::App& app, const Commands& commands) {
  const auto [audit, options] =
      commands.add(app, "audit", "List actions of operators, newest first", list_audit);
  const auto add = [&filter = options->filter, &command = audit](
                       const std::string& field, const char* value, const char* text) {
    command.add_option("--" + field, filter[field], text)->type_name(value);
  };
  add("actor", "NAME", "Only actions of this operator, as named in the list");
  add("action", "ACTION", "Only actions of this kind, such as pause");
  add("subject", "KIND", "Only this kind of subject: queue, task, schedule, route, lock or bulk");
  add("name", "NAME", "Only the subject with this name or id");
  add("queue", "QUEUE", "Only subjects of this queue");
  add_limit(audit, options->limit);
}

}  // namespace allot::cli
