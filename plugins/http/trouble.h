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

  explicit Trouble(const std::string& what, Kind kind = Kind::kFailed, int status = 0)
      : std::runtime_error(what), kind_(kind), status_(status) {}
  [[nodiscard]] Kind kind() const { return kind_; }
  // That of an answer whose body broke off; 0: not so much of one came.
  [[nodiscard]] int status() const { return status_; }

 private:
  Kind kind_;
  int status_;
};

}  // namespace http_plugin
