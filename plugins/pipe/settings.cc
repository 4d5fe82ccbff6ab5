// SPDX-License-Identifier: Apache-2.0
// Rule: S80.
#include "pipe/settings.h"

#include <charconv>
#include <map>

#include "programs/section.h"

namespace pipe_plugin {
namespace {

// `most` is a limit beyond any practical value.
std::uint64_t count(const programs::Section& section, const char* key, std::uint64_t most) {
  const std::string text = section.config().get(key, "0");
  std::uint64_t number = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number);
  if (error != std::errc() || end != last || number > most) {
    section.fail(std::string(key) + " = \"" + text + "\" is not a whole number from 0 (never) to " +
                 std::to_string(most));
  }
  return number;
}

constexpr const char* kPrograms = "programs";

std::vector<std::string> types_of(const programs::Section& section, bool for_many) {
  if (!for_many) return {section.name()};
  std::vector<std::string> types = section.config().list("types");
  if (types.empty())
    section.fail("types = [\"shop.*\", ...] is required: the types that the program runs");
  return types;
}

Settings settings_of(const programs::Section& section) {
  const bool for_many = section.group().ends_with(kPrograms);
  std::vector<std::string> known =
      programs::program_keys_and({"hello_timeout", "timeout", "progress_every", "stop_grace",
                                  "kill_after", "max_tasks", "max_memory", "max_age"});
  if (for_many) known.emplace_back("types");
  section.refuse_unknown(known);
  Settings settings;
  settings.name = section.name();
  settings.types = types_of(section, for_many);
  settings.program = section.program("");
  settings.hello_timeout = section.duration("hello_timeout").value_or(settings.hello_timeout);
  settings.timeout = section.duration("timeout");
  settings.progress_every = section.duration("progress_every");
  settings.stop_grace = section.duration("stop_grace").value_or(settings.stop_grace);
  settings.kill_after = section.duration("kill_after").value_or(settings.kill_after);
  settings.max_tasks = count(section, "max_tasks", 1'000'000'000);
  settings.max_memory_mib = count(section, "max_memory", std::uint64_t{1} << 24U);
  settings.max_age = section.duration("max_age");
  return settings;
}

}  // namespace

std::vector<Settings> read_settings(const allot::Config& config) {
  std::vector<Settings> all;
  std::map<std::string, std::string> owners;  // by type
  for (const programs::Section& section :
       programs::sections_of("pipe", {kPrograms, "types"}, config)) {
    const Settings& settings = all.emplace_back(settings_of(section));
    for (const std::string& type : settings.types) {
      const auto [owner, is_new] =
          owners.emplace(type, section.group() + ".\"" + section.name() + "\"");
      if (!is_new) section.fail("type '" + type + "' belongs to [" + owner->second + "]");
    }
  }
  return all;
}

}  // namespace pipe_plugin
