// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/words/word_tree.h"

// Shell completion of the command line, generated when Allot is built. The value name decides the
// completion: QUEUE calls `allot queue list`, FILE and DIR list folders.
namespace allot::cli {

[[nodiscard]] std::string bash_completion(const CommandWord& words);
[[nodiscard]] std::string zsh_completion(const CommandWord& words);

}  // namespace allot::cli
