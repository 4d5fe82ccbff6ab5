// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace allot::operations {

// Result of an operation: JSON, or the bytes of a payload.
struct Document {
  unsigned status = 200;  // a status of HTTP
  std::string type = "application/json";
  std::string text{};
  // Fields of a response head, with names in lower case: location, ...
  std::vector<std::pair<std::string, std::string>> fields{};
};

}  // namespace allot::operations
