// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

namespace http_plugin {

// Why there is no answer.
class Trouble : public std::runtime_error {
 public:
  enum class Kind {
    kFailed,   // another attempt may do better
    kRefused,  // the target is not allowed: none will
  };

  explicit Trouble(const std::string& what, Kind kind = Kind::kFailed)
      : std::runtime_error(what), kind_(kind) {}
  [[nodiscard]] Kind kind() const { return kind_; }

 private:
  Kind kind_;
};

}  // namespace http_plugin
