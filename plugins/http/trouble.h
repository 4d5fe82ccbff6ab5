// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

namespace http_plugin {

// Reason of a missing answer.
class Trouble : public std::runtime_error {
 public:
  enum class Kind {
    kFailed,   // a retry may succeed
    kRefused,  // the target is not permitted: a retry cannot succeed
  };

  explicit Trouble(const std::string& what, Kind kind = Kind::kFailed, int status = 0)
      : std::runtime_error(what), kind_(kind), status_(status) {}
  [[nodiscard]] Kind kind() const { return kind_; }
  // Status of an answer with a truncated body; 0: no complete head.
  [[nodiscard]] int status() const { return status_; }

 private:
  Kind kind_;
  int status_;
};

}  // namespace http_plugin
