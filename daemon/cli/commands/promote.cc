// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/commands/command.h"
#include "cli/words/text.h"
#include "config/networks.h"
#include "db/from_settings.h"
#include "db/migrate.h"
#include "db/writer.h"
#include "queue/model/server_change.h"

namespace allot::cli {
namespace {

struct PromoteOptions {
  std::string server;  // empty: the only one
  bool json = false;
};

std::string names_of(const db::ConnectOptions& options) {
  std::string names;
  for (const db::Server& server : options.servers) {
    names += (names.empty() ? "" : ", ") + place_of(options, &server);
  }
  return names;
}

// nullptr: the socket.
const db::Server* chosen_server(const db::ConnectOptions& options, const config::Settings& settings,
                                const std::string& word) {
  if (!options.socket.empty()) {
    if (word.empty()) return nullptr;
    throw Error("'" + printable(word, 100) + "': [database] has a socket, so there is one server",
                kExitUsage);
  }
  if (word.empty()) {
    if (options.servers.size() == 1) return &options.servers.front();
    throw Error("name the new writer: " + names_of(options), kExitUsage);
  }
  const auto named = config::parse_server(word, static_cast<std::uint16_t>(settings.database.port));
  const auto found =
      std::find_if(options.servers.begin(), options.servers.end(), [&](const db::Server& server) {
        return named && server.host == named->host && server.port == named->port;
      });
  if (found != options.servers.end()) return &*found;
  throw Error("server '" + printable(word, 100) + "' is not in [database] hosts (" +
                  names_of(options) + ")",
              kExitUsage);
}

// Terms of the other servers, and servers that accept writes although they are not the writer.
std::vector<std::string> others(const db::ConnectOptions& options, const std::string& chosen) {
  if (!options.socket.empty() || options.servers.size() < 2) return {};
  const auto answers = db::ask_servers(options, db::Asked::kAll, db::kAskWithin);
  db::learn_highest(answers, *options.memory);
  std::vector<std::string> writable;
  for (const db::ServerAnswer& answer : answers) {
    if (answer.where == chosen || !answer.connection) continue;
    if (!answer.connection->standing().galera) writable.push_back(answer.where);
  }
  return writable;
}

// allot promote makes a server the writer on an operator's request: its term becomes the highest.
int promote(const Context& context, const PromoteOptions& options) {
  const config::Settings settings = context.settings();
  const db::ConnectOptions connect = db::from_settings(settings);
  db::Connection db(connect, chosen_server(connect, settings, options.server));
  db::require_schema(db);
  const auto writable = others(connect, db.where());
  const std::uint64_t term = queue::promote(db, connect.memory->highest());
  connect.memory->saw(term);
  const nlohmann::ordered_json document{
      {"writer", db.where()}, {"term", term}, {"also_writable", writable}};
  return print_as(options.json, document, [&] {
    std::printf("%s is the writer, with term %llu\n", db.where().c_str(),
                static_cast<unsigned long long>(term));
    for (const std::string& where : writable) {
      std::printf("%s accepts writes, too: make it read-only, or attach it as a replica\n",
                  where.c_str());
    }
  });
}

}  // namespace

void add_promote(CLI::App& app, const Commands& commands) {
  const auto [command, options] =
      commands.add(app, "promote", "Make a database server the writer after a failover", promote);
  add_text(command, "server", "HOST:PORT", options->server,
           "Server, as listed in [database] hosts");
}

}  // namespace allot::cli
