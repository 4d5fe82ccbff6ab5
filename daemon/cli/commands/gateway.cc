// SPDX-License-Identifier: Apache-2.0
// allot gateway: tools for an operator of the gateway, in addition to its configuration.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/commands/command.h"
#include "cli/words/text.h"
#include "config/check.h"
#include "config/networks.h"
#include "config/reader.h"
#include "config/rows.h"
#include "config/settings.h"
#include "gateway/access/login_code.h"
#include "gateway/access/token.h"
#include "json/queue_json.h"

namespace allot::cli {
namespace {

using config::Kind;

struct TokenOptions {
  std::string name;
  std::vector<std::string> read;
  std::vector<std::string> submit;
  std::vector<std::string> operate;
  std::string expires;
  bool json = false;
};

// A duration from now, or a date; empty: never.
std::string expiry_of(const std::string& text) {
  using namespace std::chrono;
  if (text.empty() || config::parse_time(text)) return text;
  const auto lasts = config::parse_duration(text);
  // Longest duration that still gives a valid calendar date.
  if (!lasts || lasts->count() == 0 || *lasts > hours(24 * 36'500)) {
    throw Error("--expires is '" + printable(text, 60) +
                    "'; write a duration, such as 90d, or a date, such as 2027-01-31",
                kExitUsage);
  }
  return as_json::moment_text(floor<seconds>(system_clock::now() + *lasts));
}

std::string section_of(const TokenOptions& options, const std::string& hash) {
  const bool bare = config::is_word(options.name, "-_");
  std::string text = "[gateway.tokens." +
                     (bare ? options.name : config::written(Kind::kText, options.name)) + "]\n";
  text += "sha256 = " + config::written(Kind::kText, hash) + "\n";
  for (const auto& [role, queues] : {std::pair{"read", &options.read},
                                     {"submit", &options.submit},
                                     {"operate", &options.operate}}) {
    if (!queues->empty()) {
      text.append(role).append(" = ").append(config::written(Kind::kNames, *queues)).append("\n");
    }
  }
  const std::string expires = expiry_of(options.expires);
  return expires.empty() ? text
                         : text + "expires = " + config::written(Kind::kTime, expires) + "\n";
}

// Validates the section with the check of the daemon, so that the messages are the same.
void require_good(const std::string& section) {
  config::Settings settings;
  config::Problems problems;
  config::read_settings(section + "[gateway.database]\nuser = \"some\"\n", "", settings, problems);
  if (problems.empty()) config::check_gateway(settings, problems);
  if (!problems.empty()) throw Error(problems.front().text, kExitUsage);
}

int make_token(const Context&, const TokenOptions& options) {
  const std::string token = gateway::access::make_token();
  const std::string hash = gateway::access::hex_of(gateway::access::hash_of(token));
  const std::string section = section_of(options, hash);
  require_good(section);
  const nlohmann::json made{
      {"name", options.name}, {"token", token}, {"sha256", hash}, {"section", section}};
  return print_as(options.json, made, [&] {
    std::printf(
        "%s\n\n"
        "# This is the token; it cannot be shown again. Add this to the configuration of the "
        "gateway, then\n# reload it:\n\n%s",
        token.c_str(), section.c_str());
  });
}

struct CodeOptions {
  std::string name;
  bool json = false;
};

// Address of the dashboard for a browser on this host. Throws Error if there is none.
std::string local_address(const config::Gateway& settings) {
  for (const config::Server& each : settings.addresses) {
    const auto address = config::parse_address(each.host);
    const bool any = address && (each.host == "0.0.0.0" || each.host == "::");
    if (!address || !(any || config::is_loopback(*address))) continue;
    const std::string scheme = settings.tls_cert.empty() ? "http" : "https";
    const bool six = each.host.find(':') != std::string::npos && !any;
    return scheme + "://" + (six ? "[::1]" : "localhost") + ":" + std::to_string(each.port) +
           settings.base_path + "/ui/login";
  }
  throw Error(
      "[gateway] listen has no TCP address of this host, which a browser needs: for example listen "
      "= [\"127.0.0.1:8080\"]",
      kExitConfig);
}

int make_code(const Context& context, const CodeOptions& options) {
  const config::Settings& settings = context.settings();
  if (!settings.gateway || !settings.gateway->ui) {
    throw Error("the configuration has no dashboard: it needs [gateway], without ui = false",
                kExitConfig);
  }
  const auto& tokens = settings.gateway->tokens;
  if (std::none_of(tokens.begin(), tokens.end(),
                   [&](const config::GatewayToken& each) { return each.name == options.name; })) {
    throw Error("the configuration has no section [gateway.tokens." + printable(options.name, 60) +
                    "]; allot gateway token makes one",
                kExitBadInput);
  }
  const std::string address = local_address(*settings.gateway);
  using namespace std::chrono;
  const std::string code = gateway::access::make_login_code(
      config::runtime_dir(settings), options.name, floor<seconds>(system_clock::now()));
  const std::string link = address + "?code=" + code;
  const nlohmann::json made{{"address", link},
                            {"seconds", gateway::access::kLoginCodeLength.count()}};
  return print_as(options.json, made, [&] { std::printf("%s\n", link.c_str()); });
}

}  // namespace

void add_gateway(CLI::App& app, const Commands& commands) {
  CLI::App& gateway = *app.add_subcommand("gateway", "Make tokens and login codes for the gateway");
  gateway.require_subcommand(1);
  const auto [token, options] = commands.add(
      gateway, "token", "Create a token, and its section for the configuration", make_token);
  token.add_option("NAME", options->name, "Name of the token in the configuration and the log")
      ->required();
  token.add_option("--read", options->read, "Queues that its bearer may read; '*': all");
  token.add_option("--submit", options->submit, "Queues that its bearer may submit to");
  token.add_option("--operate", options->operate, "Queues that its bearer may operate");
  for (const char* role : {"--read", "--submit", "--operate"}) {
    token.get_option(role)->delimiter(',')->type_name("QUEUE,...");
  }
  add_text(token, "--expires", "TIME", options->expires, "Lifetime, or date of expiry");
  const auto code = commands.add(
      gateway, "code",
      "Print an address that logs in a browser on this host, once, within a minute", make_code);
  code.command
      .add_option("NAME", code.options->name,
                  "Name of the token whose roles it has: [gateway.tokens.NAME]")
      ->required();
}

}  // namespace allot::cli
