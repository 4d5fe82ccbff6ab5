// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/word_tree.h"

// Completion of the command line in shells, made when Allot is built. What a word may be is known
// by what it takes: QUEUE is asked of `allot queue list`, FILE and DIR are looked up.
namespace allot::cli {

[[nodiscard]] std::string bash_completion(const CommandWord& words);
[[nodiscard]] std::string zsh_completion(const CommandWord& words);

}  // namespace allot::cli
