// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "support/process.h"

namespace allot::support {

// A terminal (a pty) of 80 columns that does no more than to take what is written to it.
class Terminal {
 public:
  // Throws std::system_error when there is none.
  Terminal();

  // Runs a program with these of its standard streams on the terminal, of type "xterm" if
  // options.environment does not say otherwise.
  Finished run(std::vector<std::string> command, ProcessOptions options,
               const std::vector<int>& streams);

  // What the next program reads.
  void type(const std::string& text);

  // All that was written.
  [[nodiscard]] const std::string& written() const { return written_; }
  // What is left to be seen of it: a line for each, written over where a carriage return says so,
  // without blanks at its end.
  [[nodiscard]] std::vector<std::string> seen() const;

 private:
  void take();

  UniqueFd ours_;
  UniqueFd theirs_;
  std::string written_;
};

}  // namespace allot::support
