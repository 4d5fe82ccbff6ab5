// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <allot/plugin.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "programs/process.h"

namespace pipe_plugin {

// The settings of a program.
struct Settings {
  std::string name;                // name of its section
  std::vector<std::string> types;  // "mail.send", and prefixes such as "shop.*"
  programs::Program program;
  std::chrono::milliseconds hello_timeout = std::chrono::seconds(10);  // from its start
  std::optional<std::chrono::milliseconds> timeout;                    // for a task
  std::optional<std::chrono::milliseconds> progress_every;             // longest silence
  std::chrono::milliseconds stop_grace = std::chrono::seconds(15);     // from a stop to KILL
  // Delay from the end of its time, or from the end of its input, to KILL.
  std::chrono::milliseconds kill_after = std::chrono::seconds(5);
  std::uint64_t max_tasks = 0;                       // replaced after this number; 0: never
  std::uint64_t max_memory_mib = 0;                  // replaced at this resident size; 0: never
  std::optional<std::chrono::milliseconds> max_age;  // replaced at this age
};

// Reads [plugins.pipe.programs.NAME], and [plugins.pipe.types.TYPE], a program for a single type.
// Each type occurs once. Throws std::invalid_argument that names section and key, and the permitted
// values.
[[nodiscard]] std::vector<Settings> read_settings(const allot::Config& config);

}  // namespace pipe_plugin
