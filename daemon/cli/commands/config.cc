// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/commands/command.h"
#include "cli/words/instance_text.h"
#include "cli/words/text.h"
#include "config/effective.h"

namespace allot::cli {
namespace {

using config::Effective;
using nlohmann::ordered_json;

constexpr std::size_t kMostPadding = 40;

std::string origin_of(const config::Settings& settings, const Effective& entry) {
  if (entry.line != 0) return settings.file + ":" + std::to_string(entry.line);
  return entry.origin.empty() ? "default" : entry.origin;
}

// Names with a dot need quotes in a section header.
std::string header_of(const std::string& section) {
  const std::size_t dot = section.find('.');
  if (dot == std::string::npos || section.find('.', dot + 1) == std::string::npos) return section;
  return section.substr(0, dot) + ".\"" + section.substr(dot + 1) + "\"";
}

void print_text(const config::Settings& settings) {
  if (settings.file.empty()) {
    std::printf("# no file: every key has its default\n");
  } else {
    std::printf("# %s%s\n", printable(settings.file, 4096).c_str(),
                settings.file_named.empty() ? "" : (", named by " + settings.file_named).c_str());
  }
  std::string section;
  for (const Effective& entry : config::effective(settings)) {
    if (entry.section != section) {
      section = entry.section;
      std::printf("\n[%s]\n", header_of(section).c_str());
    }
    const std::string setting = entry.key + " = " + printable(entry.value, 100'000);
    const std::size_t padding = std::max(setting.size(), kMostPadding) - setting.size();
    std::printf("%s%s  # %s\n", setting.c_str(), std::string(padding, ' ').c_str(),
                printable(origin_of(settings, entry), 4096).c_str());
  }
}

ordered_json value_of(const Effective& entry) {
  std::string text = entry.value;
  if (text.starts_with('{')) {  // { "mail" = 3 }: a name cannot contain a quotation mark
    for (std::size_t at = 0; (at = text.find("\" = ", at)) != std::string::npos;) {
      text.replace(at, 4, "\": ");
    }
  }
  ordered_json value = ordered_json::parse(text, nullptr, false);
  return value.is_discarded() ? ordered_json(entry.value) : value;  // the path is not UTF-8
}

// True if the running daemon has loaded the current files; nullopt: no daemon runs.
std::optional<bool> loaded(const config::Settings& settings) {
  const InstanceView instance = read_instance(config::runtime_dir(settings));
  if (instance.workers.empty() && instance.stewards.empty()) return std::nullopt;
  return host::runs_configuration(instance, settings.files);
}

void print_json(const config::Settings& settings) {
  const auto or_null = [](const std::string& text) {
    return text.empty() ? ordered_json(nullptr) : ordered_json(text);
  };
  ordered_json all = {{"file", or_null(settings.file)},
                      {"file_named_by", or_null(settings.file_named)},
                      {"settings", ordered_json::array()},
                      {"loaded", nullptr},
                      {"warnings", settings.warnings}};
  if (const auto is = loaded(settings)) all["loaded"] = *is;
  for (const Effective& entry : config::effective(settings)) {
    ordered_json setting = {{"section", entry.section},
                            {"key", entry.key},
                            {"value", value_of(entry)},
                            {"from", origin_of(settings, entry)}};
    setting["line"] = entry.line == 0 ? ordered_json(nullptr) : ordered_json(entry.line);
    all["settings"].push_back(std::move(setting));
  }
  print(all);
}

// allot config prints the settings in force and the origin of each value. The text is a valid
// configuration file.
int show_config(const Context& context, const JsonOption& options) {
  const config::Settings settings = context.settings();
  if (options.json) {
    print_json(settings);
    return kExitOk;
  }
  print_text(settings);
  if (!loaded(settings).value_or(true)) {
    std::fprintf(stderr,
                 "allot: workers of this instance use another configuration: the file was changed "
                 "but not loaded (HUP), or it belongs to another instance\n");
  }
  for (const std::string& warning : settings.warnings) {
    std::fprintf(stderr, "allot: %s\n", printable(warning, 4000).c_str());
  }
  return kExitOk;
}

}  // namespace

void add_config(CLI::App& app, const Commands& commands) {
  commands.add(app, "config", "Show the effective configuration, and the source of each value",
               show_config);
}

}  // namespace allot::cli
