// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/words/word_tree.h"

// Completion of the command line in shells, generated when Allot is built. What a word takes says
// how to complete it: QUEUE asks `allot queue list`, FILE and DIR look into folders.
namespace allot::cli {

[[nodiscard]] std::string bash_completion(const CommandWord& words);
[[nodiscard]] std::string zsh_completion(const CommandWord& words);

}  // namespace allot::cli
