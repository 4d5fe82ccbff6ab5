// SPDX-License-Identifier: Apache-2.0
#include "pipe/settings.h"

#include <charconv>

#include "programs/section.h"

namespace pipe_plugin {
namespace {

// `most` is a bound that no worker reaches.
std::uint64_t count(const programs::Section& section, const char* key, std::uint64_t most) {
  const std::string text = section.config().get(key, "0");
  std::uint64_t number = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number);
  if (error != std::errc() || end != last || number > most) {
    section.fail(std::string(key) + " = \"" + text + "\" is no whole number from 0 (never) to " +
                 std::to_string(most));
  }
  return number;
}

Settings settings_of(const programs::Section& section) {
  section.refuse_unknown({"hello_timeout", "timeout", "progress_every", "stop_grace", "kill_after",
                          "max_tasks", "max_memory"});
  Settings settings;
  settings.program = section.program("");
  settings.hello_timeout = section.duration("hello_timeout").value_or(settings.hello_timeout);
  settings.timeout = section.duration("timeout");
  settings.progress_every = section.duration("progress_every");
  settings.stop_grace = section.duration("stop_grace").value_or(settings.stop_grace);
  settings.kill_after = section.duration("kill_after").value_or(settings.kill_after);
  settings.max_tasks = count(section, "max_tasks", 1'000'000'000);
  settings.max_memory_mib = count(section, "max_memory", std::uint64_t{1} << 24U);
  return settings;
}

}  // namespace

std::map<std::string, Settings> read_settings(const allot::Config& config) {
  std::map<std::string, Settings> all;
  for (const std::string& type : programs::types_of("pipe", config)) {
    all.emplace(type, settings_of({"pipe", type, config.section("types")}));
  }
  return all;
}

}  // namespace pipe_plugin
