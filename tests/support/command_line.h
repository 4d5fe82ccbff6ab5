// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "support/process.h"

namespace allot::support {

// Runs `allot WORDS` in this process: equivalent to the program without the cost of a program
// start, which takes ten times as long. Not for properties of a process: signals, closed streams,
// programs that the command starts. Call it from one thread at a time, while no other thread
// prints.
Finished run_allot(const std::vector<std::string>& words, const std::string& input = {});

}  // namespace allot::support
