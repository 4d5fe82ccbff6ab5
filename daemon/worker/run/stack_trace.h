// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace allot::worker {

// The exception that ended a program, as its stack trace shows it.
struct StackTrace {
  std::string message;    // one line: "ValueError: no such user 42"
  std::string exception;  // its class; empty if it has none: Perl, Go, fatal errors of PHP
  // The innermost frame of the program's own code; empty if all frames belong to a library. The
  // file has at most one folder, and '#' for a folder that is named after a release.
  std::string function;
  std::string file;
};

// The last stack trace in the output of a program: Python, Ruby, PHP, Node, Java, Go, Perl or C++.
// nullopt: there is none. Lines of more than 1,000 bytes are skipped.
[[nodiscard]] std::optional<StackTrace> last_stack_trace(std::string_view output);

}  // namespace allot::worker
