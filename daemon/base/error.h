// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

#include "base/exit_codes.h"

namespace allot {

// A failure reported to a person: what, where and how to fix it, in one line, and the exit code.
// base, ipc and supervisor do not use it, because they are built without exceptions
// (docs/decisions/0006).
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message, ExitCode code = kExitFailure)
      : std::runtime_error(message), code_(code) {}
  [[nodiscard]] ExitCode exit_code() const { return code_; }

 private:
  ExitCode code_;
};

}  // namespace allot
