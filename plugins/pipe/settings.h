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

// A program, as the configuration describes it.
struct Settings {
  std::string name;                // that of its section
  std::vector<std::string> types;  // "mail.send", and prefixes such as "shop.*"
  programs::Program program;
  std::chrono::milliseconds hello_timeout = std::chrono::seconds(10);  // from its start
  std::optional<std::chrono::milliseconds> timeout;                    // of a task
  std::optional<std::chrono::milliseconds> progress_every;             // then it hangs
  std::chrono::milliseconds stop_grace = std::chrono::seconds(15);     // from a stop to KILL
  // KILL, this long after it was told that its time is over, or that no task will come.
  std::chrono::milliseconds kill_after = std::chrono::seconds(5);
  std::uint64_t max_tasks = 0;                       // then another one is started; 0: never
  std::uint64_t max_memory_mib = 0;                  // resident, likewise
  std::optional<std::chrono::milliseconds> max_age;  // since its start, likewise
};

// Reads [plugins.pipe.programs.NAME], and [plugins.pipe.types.TYPE], which is a program for one
// type. No type is there twice. Throws std::invalid_argument that names section and key, and says
// what is allowed.
[[nodiscard]] std::vector<Settings> read_settings(const allot::Config& config);

}  // namespace pipe_plugin
