// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "support/process.h"

namespace allot::support {

// A terminal (a pty) of 80 columns that only records its output.
class Terminal {
 public:
  // Throws std::system_error if none is available.
  Terminal();

  // Runs a program with these of its standard streams on the terminal, of type "xterm" unless
  // options.environment sets another one.
  Finished run(std::vector<std::string> command, ProcessOptions options,
               const std::vector<int>& streams);

  // Input for the next program.
  void type(const std::string& text);

  // All output.
  [[nodiscard]] const std::string& written() const { return written_; }
  // Visible lines, with carriage returns applied, without trailing blanks.
  [[nodiscard]] std::vector<std::string> seen() const;

 private:
  void take();

  UniqueFd ours_;
  UniqueFd theirs_;
  std::string written_;
};

}  // namespace allot::support
