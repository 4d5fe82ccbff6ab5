// SPDX-License-Identifier: Apache-2.0
#include "command.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <stdexcept>

namespace exec_plugin {
namespace {

constexpr const char* kDefaultPath = "PATH=/usr/local/bin:/usr/bin:/bin";
constexpr int kTempFail = 75;  // EX_TEMPFAIL of sysexits.h

bool is_digits(const std::string& text) {
  return !text.empty() && text.size() <= 9 && text.find_first_not_of("0123456789") == text.npos;
}

// The section of one type. Every failure names it.
class Reader {
 public:
  Reader(const std::string& type, const allot::Config& section)
      : where_("[plugins.exec.types.\"" + type + "\"] "), section_(section) {}

  Command read() {
    refuse_unknown();
    Command command;
    command.argv = section_.list("command");
    if (command.argv.empty() || command.argv[0].rfind('/', 0) != 0) {
      fail("command = [\"/path/to/program\", \"argument\", ...] is needed, with the whole path");
    }
    for (const std::string& word : command.argv) {
      if (word.find('\0') != word.npos) fail("command: a NUL in one of its words");
    }
    command.directory = section_.get("directory", command.directory);
    if (command.directory.rfind('/', 0) != 0) fail("directory must be a whole path");
    command.environment = environment();
    command.codes = codes();
    command.other_codes = outcome_of("otherwise", section_.get("otherwise", "retry"));
    command.timeout = duration("timeout");
    command.kill_after = duration("kill_after").value_or(command.kill_after);
    command.stop_grace = duration("stop_grace").value_or(command.stop_grace);
    const std::string to = section_.get("stdout", "discard");
    if (to != "discard" && to != "error") fail("stdout must be \"discard\" or \"error\"");
    command.keep_stdout = to == "error";
    return command;
  }

 private:
  [[noreturn]] void fail(const std::string& text) const {
    throw std::invalid_argument(where_ + text);
  }

  void refuse_unknown() const {
    static const char* const kKeys[] = {"command", "directory",  "environment", "inherit",
                                        "success", "retry",      "fail",        "otherwise",
                                        "timeout", "kill_after", "stop_grace",  "stdout"};
    for (const std::string& name : section_.names()) {
      if (std::find(std::begin(kKeys), std::end(kKeys), name) != std::end(kKeys)) continue;
      std::string known;
      for (const char* key : kKeys) known += known.empty() ? key : std::string(", ") + key;
      fail("unknown key '" + name + "'; known: " + known);
    }
  }

  [[nodiscard]] std::vector<std::string> environment() const {
    std::map<std::string, std::string> variables;
    for (const std::string& name : section_.list("inherit")) {
      if (const char* value = std::getenv(name.c_str())) variables[name] = value;
    }
    const allot::Config set = section_.section("environment");
    for (const std::string& name : set.names()) {
      if (name.empty() || name.find('=') != name.npos) fail("environment: no name: '" + name + "'");
      if (name.rfind("ALLOT_TASK_", 0) == 0) {
        fail("environment: " + name + " is set from the task");
      }
      variables[name] = set.get(name);
    }
    std::vector<std::string> all;
    if (variables.count("PATH") == 0) all.emplace_back(kDefaultPath);
    for (const auto& [name, value] : variables) all.push_back(name + "=" + value);
    return all;
  }

  [[nodiscard]] int outcome_of(const std::string& key, const std::string& word) const {
    if (word == "success") return ALLOT_SUCCESS;
    if (word == "retry") return ALLOT_RETRY;
    if (word != "fail") fail(key + " must be \"success\", \"retry\" or \"fail\"");
    return ALLOT_FAIL;
  }

  [[nodiscard]] std::map<int, int> codes() const {
    std::map<int, int> codes;
    for (const char* word : {"success", "retry", "fail"}) {
      for (const std::string& text : section_.list(word)) {
        const int code = is_digits(text) ? std::stoi(text) : -1;
        if (code < 0 || code > 255) {
          fail(std::string(word) + ": '" + text + "' is no exit code; they are 0 to 255");
        }
        const auto [at, is_new] = codes.emplace(code, outcome_of(word, word));
        if (!is_new && at->second != outcome_of(word, word)) {
          fail("exit code " + text + " stands in two lists");
        }
      }
    }
    codes.emplace(0, ALLOT_SUCCESS);  // unless the section says otherwise
    codes.emplace(kTempFail, ALLOT_RETRY);
    return codes;
  }

  [[nodiscard]] std::optional<std::chrono::milliseconds> duration(const char* key) const {
    const std::string text = section_.get(key);
    if (text.empty()) return std::nullopt;
    static const std::map<std::string, long> kUnits = {
        {"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}};
    const std::size_t unit = text.find_first_not_of("0123456789");
    const auto known = kUnits.find(unit == text.npos ? "" : text.substr(unit));
    if (known == kUnits.end() || !is_digits(text.substr(0, unit))) {
      fail(std::string(key) + " = \"" + text + "\" is no time; write \"300ms\", \"30s\", \"5m\"");
    }
    return std::chrono::milliseconds(std::stol(text.substr(0, unit)) * known->second);
  }

  std::string where_;
  allot::Config section_;
};

}  // namespace

std::map<std::string, Command> read_commands(const allot::Config& config) {
  for (const std::string& name : config.names()) {
    if (name == "types") continue;
    throw std::invalid_argument("[plugins.exec] has no key '" + name +
                                "'; write [plugins.exec.types.\"TYPE\"]");
  }
  std::map<std::string, Command> commands;
  const allot::Config types = config.section("types");
  for (const std::string& type : types.names()) {
    commands.emplace(type, Reader(type, types.section(type)).read());
  }
  return commands;
}

}  // namespace exec_plugin
