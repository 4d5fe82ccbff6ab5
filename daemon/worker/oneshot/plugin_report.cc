// SPDX-License-Identifier: Apache-2.0
#include "worker/oneshot/plugin_report.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "base/nearest.h"
#include "config/rows.h"
#include "plugin_host/probe.h"
#include "plugin_host/registry.h"

namespace allot::worker {
namespace {

using plugin_host::PluginFile;

nlohmann::json json_of(const PluginFile& file) {
  nlohmann::json entry = {{"file", file.path},       {"name", file.name},
                          {"version", file.version}, {"abi", file.abi_version},
                          {"types", file.types},     {"types_by_config", file.types_by_config},
                          {"refused", nullptr}};
  if (file.refused) {
    entry["refused"] = {{"reason", plugin_host::name_of(file.refused->refusal)},
                        {"text", file.refused->text}};
  }
  return entry;
}

std::string line_of(const PluginFile& file) {
  if (file.refused) return plugin_host::refusal_line(file);
  std::string line = file.path + ": " + file.name + (file.version.empty() ? "" : " ") +
                     file.version + " (ABI " + std::to_string(file.abi_version) + "):";
  for (const std::string& type : file.types) line += " " + type;
  if (file.types.empty()) line += " the types that [plugins." + file.name + "] names";
  return line;
}

bool print(const std::vector<PluginFile>& files, bool json) {
  bool good = true;
  auto list = nlohmann::json::array();
  for (const PluginFile& file : files) {
    good = good && !file.refused;
    if (json) {
      list.push_back(json_of(file));
    } else {
      std::printf("%s\n", line_of(file).c_str());
    }
  }
  if (json) {
    // A version may be arbitrary bytes of a foreign file.
    const auto text = list.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
    std::printf("%s\n", text.c_str());
  }
  return good;
}

std::string without_quotes(std::string text) {
  std::erase(text, '"');
  return text;
}

// The line of a plugin's complaint, which begins with the header of the section and then names the
// key, in quotes or as the first word; else the line of the section. 0: no section is named.
std::uint32_t line_of_complaint(const config::Settings& settings, const std::string& text) {
  const std::size_t begin = text.find("[plugins.");
  const std::size_t end = text.find("] ", begin);
  if (begin == std::string::npos || end == std::string::npos) return 0;
  const std::string section = without_quotes(text.substr(begin + 1, end - begin - 1));
  const std::string rest = text.substr(end + 2);
  const std::size_t quote = rest.starts_with("unknown key '") ? 13 : 0;
  const std::string key = rest.substr(quote, rest.find_first_of("' :", quote) - quote);
  std::uint32_t line = 0;
  for (const auto& [path, at] : settings.lines) {
    const std::string plain = without_quotes(path);
    if (plain == section + "." + key) return at;
    if (plain == section) line = at;
  }
  return line;
}

void add_places(const config::Settings& settings, std::vector<PluginFile>& files) {
  for (PluginFile& file : files) {
    if (!file.refused) continue;
    std::string& text = file.refused->text;
    const std::uint32_t line = line_of_complaint(settings, text);
    if (line != 0) text = settings.file + ":" + std::to_string(line) + ": " + text;
  }
}

// "types.TYPE" of "types.TYPE.WORD", and "programs.NAME" likewise; a name with a dot has quotes.
// Empty for any other key.
std::string_view program_of(std::string_view key, std::string_view word) {
  if (!key.starts_with("types.") && !key.starts_with("programs.")) return {};
  const std::size_t name = key.find('.') + 1;
  const bool quoted = key.substr(name).starts_with('"');
  const std::size_t end = quoted ? key.find('"', name + 1) + 1 : key.find('.', name);
  if (end == 0 || end >= key.size() || key.substr(end + 1) != word) return {};
  return key.substr(0, end);
}

// nullptr if this account can run it.
const char* trouble_of(const std::string& program) {
  struct stat status = {};
  if (::stat(program.c_str(), &status) != 0) return std::strerror(errno);
  if (!S_ISREG(status.st_mode)) return "no file";
  return ::access(program.c_str(), X_OK) == 0 ? nullptr : std::strerror(errno);
}

}  // namespace

std::string place_of(const config::Settings& settings, const std::string& path) {
  const auto line = settings.lines.find(path);
  if (line == settings.lines.end()) return settings.file;
  return settings.file + ":" + std::to_string(line->second);
}

std::vector<std::string> unused_sections(const config::Settings& settings,
                                         const std::vector<PluginFile>& files) {
  std::vector<std::string_view> names;
  for (const PluginFile& file : files) names.emplace_back(file.name);
  std::vector<std::string> lines;
  for (const auto& [name, keys] : settings.plugins.sections) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    std::string text = place_of(settings, "plugins." + name) + ": [plugins." + name +
                       "] does not belong to any plugin in " + settings.plugins.folder;
    const std::string_view near = nearest(name, names);
    if (!near.empty()) text += "; did you mean [plugins." + std::string(near) + "]?";
    lines.push_back(std::move(text));
  }
  return lines;
}

void find_unusable_programs(const config::Settings& settings, const std::optional<UnitReach>& reach,
                            Findings& findings) {
  for (const std::string plugin : {"exec", "pipe"}) {
    const auto section = settings.plugins.sections.find(plugin);
    if (section == settings.plugins.sections.end()) continue;
    const std::string name = "plugins." + plugin;
    std::string last;
    for (const auto& [key, value] : section->second) {
      // The elements of a list follow each other: the first is the program.
      const bool is_first = std::exchange(last, key) != key;
      const std::string_view command = program_of(key, "command");
      const std::string_view program = command.empty() ? program_of(key, "directory") : command;
      if (program.empty()) continue;
      const std::string place = place_of(settings, name + "." + key) + ": [" + name + "." +
                                std::string(program) + "] " + value + ": ";
      const char* lost = is_first && !command.empty() ? trouble_of(value) : nullptr;
      if (lost != nullptr) findings.warnings.push_back({plugin + ".no_program", place + lost});
      // The words after a program may be a script, which the program reads.
      if (!reach || (!is_first && !std::filesystem::is_regular_file(value))) continue;
      const std::string trouble = reach->trouble_with(value, is_first ? X_OK : R_OK);
      if (trouble.empty()) continue;
      findings.warnings.push_back(
          {plugin + ".unreachable",
           place + trouble +
               "; docs/install.md, \"An application below /home or /srv\", explains how to change "
               "that"});
    }
  }
}

std::vector<PluginFile> describe_plugins(const config::Settings& settings) {
  auto files = plugin_host::describe(settings.plugins.folder, settings.plugins.sections);
  add_places(settings, files);
  return files;
}

bool print_plugins(const config::Settings& settings, bool json) {
  const auto files = describe_plugins(settings);
  if (!json && files.empty()) std::printf("no plugins in %s\n", settings.plugins.folder.c_str());
  for (const std::string& line : unused_sections(settings, files)) {
    std::fprintf(stderr, "allot-worker: %s\n", line.c_str());
  }
  return print(files, json);
}

bool print_plugin_check(const PluginCheck& check) {
  if (!check.init) return print(plugin_host::probe(check.files, {}), check.json);
  const config::Settings settings = config::load(check.load);
  auto files =
      plugin_host::probe(check.files, {.init = true, .sections = settings.plugins.sections});
  add_places(settings, files);
  return print(files, check.json);
}

}  // namespace allot::worker
