// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>

#include "base/error.h"
#include "log/log.h"
#include "worker/oneshot/check.h"

namespace allot::worker {
namespace {

using nlohmann::ordered_json;

struct Verdict {
  ExitCode code = kExitOk;
  std::string error;  // one line for each mistake of a configuration file
};

Verdict examine(const config::LoadOptions& load, Findings& findings) {
  try {
    const config::Settings settings = config::load(load);
    for (const std::string& text : settings.warnings) {
      findings.warnings.push_back({"config.warning", text});
    }
    check_config(settings, findings);
    check_database(settings, false, findings);
    return {};
  } catch (const Error& error) {
    return {error.exit_code(), error.what()};
  }
}

template <typename Take>
void each_line(const std::string& text, Take&& take) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) take(line);
}

void print_json(const Findings& findings, const Verdict& verdict) {
  ordered_json all = {{"ok", verdict.code == kExitOk},
                      {"exit_code", static_cast<int>(verdict.code)},
                      {"errors", ordered_json::array()},
                      {"warnings", ordered_json::array()},
                      {"server", nullptr},
                      {"connections_needed", nullptr},
                      {"connections_allowed", nullptr}};
  each_line(verdict.error, [&](const std::string& line) { all["errors"].push_back(line); });
  for (const auto& warning : findings.warnings) {
    all["warnings"].push_back({{"event", warning.event}, {"text", warning.text}});
  }
  if (!findings.server.empty()) all["server"] = findings.server;
  if (findings.connections_needed != 0) {
    all["connections_needed"] = findings.connections_needed;
    all["connections_allowed"] = findings.connections_allowed;
  }
  std::printf("%s\n", all.dump(2, ' ', false, ordered_json::error_handler_t::replace).c_str());
}

}  // namespace

int check_all(const config::LoadOptions& load, bool json) {
  Findings findings;
  const Verdict verdict = examine(load, findings);
  // systemctl reload runs this: its journal takes the level of a line from sd-daemon(3)'s prefix.
  const bool journal = log::parse_format("auto") == LogFormat::kJournald;
  for (const auto& warning : findings.warnings) {
    std::fprintf(stderr, "%sallot: warning: %s\n", journal ? "<4>" : "", warning.text.c_str());
  }
  each_line(verdict.error, [&](const std::string& line) {
    std::fprintf(stderr, "%sallot: %s\n", journal ? "<3>" : "", line.c_str());
  });
  if (json) print_json(findings, verdict);
  return verdict.code;
}

}  // namespace allot::worker
