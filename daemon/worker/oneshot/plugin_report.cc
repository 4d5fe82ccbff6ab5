// SPDX-License-Identifier: Apache-2.0
#include "worker/oneshot/plugin_report.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

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
    // A version may be any bytes of somebody's file.
    const auto text = list.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
    std::printf("%s\n", text.c_str());
  }
  return good;
}

}  // namespace

std::vector<std::string> unused_sections(const config::Settings& settings,
                                         const std::vector<PluginFile>& files) {
  std::vector<std::string_view> names;
  for (const PluginFile& file : files) names.emplace_back(file.name);
  std::vector<std::string> lines;
  for (const auto& [name, keys] : settings.plugins.sections) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    const auto line = settings.lines.find("plugins." + name);
    std::string text = settings.file;
    if (line != settings.lines.end()) text += ":" + std::to_string(line->second);
    text += ": [plugins." + name + "] is the section of no plugin in " + settings.plugins.folder;
    const std::string_view near = config::nearest(name, names);
    if (!near.empty()) text += "; did you mean [plugins." + std::string(near) + "]?";
    lines.push_back(std::move(text));
  }
  return lines;
}

bool print_plugins(const config::Settings& settings, bool json) {
  const auto files = plugin_host::describe(settings.plugins.folder, settings.plugins.sections);
  if (!json && files.empty()) std::printf("no plugins in %s\n", settings.plugins.folder.c_str());
  for (const std::string& line : unused_sections(settings, files)) {
    std::fprintf(stderr, "allot-worker: %s\n", line.c_str());
  }
  return print(files, json);
}

bool print_plugin_check(const PluginCheck& check) {
  plugin_host::ProbeOptions options;
  options.init = check.init;
  if (check.init) options.sections = config::load(check.load).plugins.sections;
  return print(plugin_host::probe(check.files, options), check.json);
}

}  // namespace allot::worker
