// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <allot/plugin.hpp>
#include <chrono>
#include <map>
#include <optional>
#include <string>

#include "programs/process.h"

// One command of the configuration.
namespace exec_plugin {

struct Command {
  programs::Program program;  // its environment without the variables of the task
  std::map<int, int> codes;   // exit code -> ALLOT_SUCCESS, ALLOT_RETRY, ALLOT_FAIL
  int other_codes = ALLOT_RETRY;
  std::optional<std::chrono::milliseconds> timeout;                // after this time: TERM
  std::chrono::milliseconds kill_after = std::chrono::seconds(5);  // after TERM: KILL
  // Delay between a stop and TERM, in which most commands end by themselves.
  std::chrono::milliseconds stop_grace = std::chrono::seconds(15);
  bool keep_stdout = false;  // included in the error text; otherwise discarded
};

// Reads all of [plugins.exec], by task type. Throws std::invalid_argument that names section and
// key, and the permitted values.
std::map<std::string, Command> read_commands(const allot::Config& config);

}  // namespace exec_plugin
