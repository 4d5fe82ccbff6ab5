// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "cli/commands/command.h"
#include "cli/commands/grant_files.h"  // generated from sql/grants
#include "cli/words/text.h"
#include "config/rows.h"

namespace allot::cli {
namespace {

struct GrantsOptions {
  std::string role;
  std::optional<std::string> user;  // default: allot_ROLE
  std::string host = "%";
  std::string database = "allot";
  bool json = false;
};

// Requires a word that needs no escaping in a statement, in quotes or as a database name.
void require_plain(const char* option, const std::string& word, std::string_view also) {
  if (word.size() <= 64 && config::is_word(word, std::string(also) + "_")) return;
  throw Error(std::string(option) + " '" + printable(word, 100) + "' (letters, digits, '_'" +
                  (also.empty() ? std::string() : " and '" + std::string(also) + "'") +
                  ", at most 64)",
              kExitUsage);
}

std::string roles() {
  std::string names;
  for (const auto& [file, text] : grant_files::kFiles) {
    names += (names.empty() ? "" : ", ") + std::string(file.substr(0, file.rfind('.')));
  }
  return names;
}

// allot grants prints statements and does not connect to a database.
int grants(const Context& /*context*/, const GrantsOptions& options) {
  require_plain("--database", options.database, "");
  require_plain("--host", options.host, "%.:-/");
  const std::string user = options.user.value_or("allot_" + options.role);
  require_plain("--user", user, ".-");
  for (const auto& [file, text] : grant_files::kFiles) {
    if (file != options.role + ".sql") continue;
    std::string statements(text);
    replace_all(statements, " allot.", " " + options.database + ".");
    replace_all(statements, "'allot_" + options.role + "'@'%'",
                "'" + user + "'@'" + options.host + "'");
    const nlohmann::json document{{"role", options.role},
                                  {"user", user},
                                  {"host", options.host},
                                  {"database", options.database},
                                  {"sql", statements}};
    return print_as(options.json, document, [&] { std::printf("%s", statements.c_str()); });
  }
  throw Error("unknown role '" + printable(options.role, 100) + "' (" + roles() + ")", kExitUsage);
}

}  // namespace

void add_grants(CLI::App& app, const Commands& commands) {
  const auto [command, options] = commands.add(
      app, "grants", "Print the SQL that creates a database account for a role", grants);
  command.add_option("role", options->role, "Role: " + roles())->required()->type_name("ROLE");
  command.add_option("--user", options->user, "Name of the account; default: allot_ROLE")
      ->type_name("NAME");
  add_text(command, "--host", "PATTERN", options->host, "Host from which it may connect");
  add_text(command, "--database", "NAME", options->database, "Database with Allot's tables");
}

}  // namespace allot::cli
