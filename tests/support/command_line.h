// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "support/process.h"

namespace allot::support {

// Runs `allot WORDS` in this process: the same as the program without the start of a program, which
// costs ten times as much. Not for what a process has of its own: signals, closed streams, programs
// that the command starts. Called by one thread at a time, while no other prints.
Finished run_allot(const std::vector<std::string>& words, const std::string& input = {});

}  // namespace allot::support
