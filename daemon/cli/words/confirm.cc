// SPDX-License-Identifier: Apache-2.0
#include "cli/words/confirm.h"

#include <unistd.h>

#include <cstdio>
#include <iostream>

#include "base/error.h"
#include "cli/words/terminal.h"

namespace allot::cli {

void confirm(const std::string& verb, const std::string& what, bool yes) {
  if (yes) {
    std::fprintf(stderr, "%s: %s\n", verb.c_str(), what.c_str());
    return;
  }
  if (!is_terminal(STDIN_FILENO) || !is_terminal(STDERR_FILENO)) {
    throw Error(verb + " would affect " + what + "; nothing was done; confirm with --yes",
                kExitUsage);
  }
  std::fprintf(stderr, "%s: %s. Continue? [y/N] ", verb.c_str(), what.c_str());
  std::string answer;
  std::getline(std::cin, answer);
  if (answer != "y" && answer != "Y" && answer != "yes") throw Error("nothing was done");
}

}  // namespace allot::cli
