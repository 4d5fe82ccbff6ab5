// SPDX-License-Identifier: Apache-2.0
#include "programs/section.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <map>
#include <stdexcept>

#include "programs/advice.h"

namespace programs {
namespace {

constexpr const char* kDefaultPath = "PATH=/usr/local/bin:/usr/bin:/bin";
const std::vector<std::string> kOfPrograms = {"command", "directory", "environment", "inherit"};

}  // namespace

std::optional<std::chrono::milliseconds> duration_of(std::string_view text) {
  constexpr std::size_t kMostDigits = 9;
  static const std::map<std::string_view, long> kUnits = {
      {"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}};
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto unit = kUnits.find(text.substr(digits));
  if (unit == kUnits.end() || digits == 0 || digits > kMostDigits) return std::nullopt;
  long number = 0;
  std::from_chars(text.data(), text.data() + digits, number);
  return std::chrono::milliseconds(number * unit->second);
}

Section::Section(const std::string& plugin, const std::string& type, const allot::Config& types)
    : group_("plugins." + plugin + ".types"), type_(type), section_(types.section(type)) {}

void Section::fail(const std::string& text) const {
  throw std::invalid_argument("[" + group_ + ".\"" + type_ + "\"] " + text);
}

void Section::refuse_unknown(const std::vector<std::string>& known) const {
  std::vector<std::string> all = kOfPrograms;
  all.insert(all.end(), known.begin(), known.end());
  for (const std::string& name : section_.names()) {
    if (std::find(all.begin(), all.end(), name) != all.end()) continue;
    fail(unknown_in_type(group_, type_, section_, name, all));
  }
}

Program Section::program(const std::string& reserved) const {
  Program program;
  program.argv = section_.list("command");
  if (program.argv.empty() || program.argv[0].rfind('/', 0) != 0) {
    fail("command = [\"/path/to/program\", \"argument\", ...] is needed, with the whole path");
  }
  for (const std::string& word : program.argv) {
    if (word.find('\0') != word.npos) fail("command: a NUL in one of its words");
  }
  program.directory = section_.get("directory", program.directory);
  if (program.directory.rfind('/', 0) != 0) fail("directory must be a whole path");
  program.environment = environment(reserved);
  return program;
}

std::vector<std::string> Section::environment(const std::string& reserved) const {
  std::map<std::string, std::string> variables;
  for (const std::string& name : section_.list("inherit")) {
    if (const char* value = std::getenv(name.c_str())) variables[name] = value;
  }
  const allot::Config set = section_.section("environment");
  for (const std::string& name : set.names()) {
    if (name.empty() || name.find('=') != name.npos) fail("environment: no name: '" + name + "'");
    if (!reserved.empty() && name.rfind(reserved, 0) == 0) {
      fail("environment: " + name + " is set from the task");
    }
    variables[name] = set.get(name);
  }
  std::vector<std::string> all;
  if (variables.count("PATH") == 0) all.emplace_back(kDefaultPath);
  for (const auto& [name, value] : variables) all.push_back(name + "=" + value);
  return all;
}

std::optional<std::chrono::milliseconds> Section::duration(const char* key) const {
  const std::string text = section_.get(key);
  if (text.empty()) return std::nullopt;
  const auto duration = duration_of(text);
  if (!duration) {
    fail(std::string(key) + " = \"" + text + "\" is no time; write \"300ms\", \"30s\", \"5m\"");
  }
  return duration;
}

std::vector<std::string> types_of(const std::string& plugin, const allot::Config& config) {
  for (const std::string& name : config.names()) {
    if (name == "types") continue;
    throw std::invalid_argument("[plugins." + plugin + "] has no key '" + name +
                                "'; write [plugins." + plugin + ".types.\"TYPE\"]");
  }
  return config.section("types").names();
}

}  // namespace programs
