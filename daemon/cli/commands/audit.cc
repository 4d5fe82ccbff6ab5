// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/commands/command.h"
#include "cli/remote/address.h"
#include "cli/remote/session.h"
#include "cli/sources/far.h"
#include "cli/words/listing.h"
#include "cli/words/text.h"
#include "json/audit_json.h"
#include "queue/look/audit_entries.h"

namespace allot::cli {
namespace {

using nlohmann::json;

constexpr std::size_t kShownAudit = 300;

struct AuditOptions {
  queue::AuditFilter filter;
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

void print_entries(const std::vector<json>& entries, bool as_json) {
  Listing list({"AT", "WHO", "DOOR", "ACTION", "SUBJECT", "WHAT", "REASON"}, as_json);
  for (const json& entry : entries) {
    list.add(entry,
             {text_in(entry, "at"), text_in(entry, "who"), text_in(entry, "door"),
              text_in(entry, "action"), text_in(entry, "subject") + " " + text_in(entry, "name"),
              what_of(entry), text_in(entry, "reason")});
  }
  list.print();
}

// allot audit lists the actions of operators, newest first.
int list_audit(const Context& context, const AuditOptions& options) {
  db::Connection db = connect(context.settings());
  std::vector<json> entries;
  std::optional<std::uint64_t> before = UINT64_MAX;
  while (before && entries.size() < options.limit) {
    const auto left = options.limit - static_cast<std::uint32_t>(entries.size());
    const auto page = queue::page_audit(db, options.filter, *before, left,
                                        [](const queue::AuditEntry&) { return true; });
    for (const queue::AuditEntry& entry : page.entries) {
      entries.push_back(as_json::audit_entry(entry));
    }
    before = page.next;
  }
  print_entries(entries, options.json);
  return kExitOk;
}

int remote_list_audit(const remote::Session& gateway, const AuditOptions& options) {
  const queue::AuditFilter& filter = options.filter;
  std::string path = "/audit";
  const auto add = [&path](const char* name, const std::string& value) {
    if (value.empty()) return;
    path += (path.find('?') == std::string::npos ? "?" : "&") + std::string(name) + "=" +
            remote::escaped(value);
  };
  add("who", filter.who);
  add("action", filter.action);
  add("subject", filter.subject);
  add("name", filter.name);
  add("queue", filter.queue);
  print_entries(far::items(gateway, path, options.limit), options.json);
  return kExitOk;
}

}  // namespace

void add_audit(CLI::App& app, const Commands& commands) {
  const auto options = std::make_shared<AuditOptions>();
  queue::AuditFilter& filter = options->filter;
  CLI::App& audit = *app.add_subcommand("audit", "List actions of operators, newest first");
  audit.add_option("--who", filter.who, "Only actions of this operator, as named in the list")
      ->type_name("NAME");
  audit.add_option("--action", filter.action, "Only actions of this kind, such as pause")
      ->type_name("ACTION");
  audit
      .add_option("--subject", filter.subject,
                  "Only this kind of subject: queue, task, schedule, route, lock or bulk")
      ->type_name("KIND");
  audit.add_option("--name", filter.name, "Only the subject with this name or id")
      ->type_name("NAME");
  audit.add_option("--queue", filter.queue, "Only subjects of this queue")->type_name("QUEUE");
  audit.add_option("--limit", options->limit, "Limit of entries")
      ->check(CLI::Range(1, kMostListed))
      ->type_name("ROWS")
      ->capture_default_str();
  audit.add_flag("--json", options->json, "As JSON");
  audit.callback([commands, options] { commands.choose(list_audit, options, remote_list_audit); });
}

}  // namespace allot::cli
