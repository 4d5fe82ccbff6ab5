// SPDX-License-Identifier: Apache-2.0
#include "programs/section.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "base/nearest.h"

namespace programs {
namespace {

constexpr const char* kDefaultPath = "PATH=/usr/local/bin:/usr/bin:/bin";

// Reports a key that is not among `known`, with the nearest known key, or with all.
std::string unknown_key(const std::string& name, const std::vector<std::string>& known) {
  const std::string text = "unknown key '" + name + "'; ";
  const std::string near(allot::nearest(name, known));
  if (!near.empty()) return text + "did you mean '" + near + "'?";
  std::string list;
  for (const std::string& key : known) list += (list.empty() ? "" : ", ") + key;
  return text + "known: " + list;
}

// Reports it in the section of `type` in [GROUP]. TOML reads [GROUP.mail.send] as a table `send` in
// the section of the type `mail`.
std::string unknown_in_type(const std::string& group, const std::string& type,
                            const allot::Config& section, const std::string& name,
                            const std::vector<std::string>& known) {
  std::string whole = type;
  std::string inner = name;
  allot::Config table = section.section(inner);
  if (table.names().empty() || !allot::nearest(name, known).empty())
    return unknown_key(name, known);
  while (!table.names().empty()) {
    whole += "." + inner;
    inner = table.names().front();
    table = table.section(inner);
  }
  return "a type with a dot needs quotes, as in [" + group + ".\"" + whole + "\"]";
}

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

std::vector<std::string> program_keys_and(std::initializer_list<std::string> others) {
  std::vector<std::string> all = {"command", "directory", "environment", "inherit"};
  all.insert(all.end(), others);
  return all;
}

Section::Section(std::string group, std::string name, const allot::Config& config)
    : group_(std::move(group)), name_(std::move(name)), section_(config) {}

void Section::fail(const std::string& text) const {
  const std::string name = name_.empty() ? "" : ".\"" + name_ + "\"";
  throw std::invalid_argument("[" + group_ + name + "] " + text);
}

void Section::refuse_unknown(const std::vector<std::string>& known) const {
  for (const std::string& name : section_.names()) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    fail(name_.empty() ? unknown_key(name, known)
                       : unknown_in_type(group_, name_, section_, name, known));
  }
}

Program Section::program(const std::string& reserved) const {
  Program program;
  program.argv = section_.list("command");
  if (program.argv.empty() || program.argv[0].rfind('/', 0) != 0) {
    fail("command = [\"/path/to/program\", \"argument\", ...] is required, with an absolute path");
  }
  for (const std::string& word : program.argv) {
    if (word.find('\0') != word.npos) fail("command: one of its words contains a NUL byte");
  }
  program.directory = section_.get("directory", program.directory);
  if (program.directory.rfind('/', 0) != 0) fail("directory must be an absolute path");
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
    fail(std::string(key) + " = \"" + text + "\" is not a time; write \"300ms\", \"30s\", \"5m\"");
  }
  return duration;
}

std::vector<Section> sections_of(const std::string& plugin, const std::vector<std::string>& groups,
                                 const allot::Config& config) {
  const std::string root = "plugins." + plugin;
  for (const std::string& name : config.names()) {
    if (std::find(groups.begin(), groups.end(), name) != groups.end()) continue;
    throw std::invalid_argument("[" + root + "] has no key '" + name + "'; write [" + root +
                                ".types.\"TYPE\"]");
  }
  std::vector<Section> sections;
  for (const std::string& group : groups) {
    const allot::Config all = config.section(group);
    for (const std::string& name : all.names()) {
      sections.emplace_back(root + "." + group, name, all.section(name));
    }
  }
  return sections;
}

}  // namespace programs
