// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/unique_fd.h"

namespace allot::support {

// A loopback port that the kernel does not assign to others while this object exists. A program
// that receives the number can listen there: with SO_REUSEADDR on both sides a socket that does not
// listen does not conflict.
class ReservedPort {
 public:
  ReservedPort();

  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(number_); }

 private:
  UniqueFd fd_;
  int number_ = 0;
};

}  // namespace allot::support
