// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace allot::operations {

// Field of a payload that is as stored, because it cannot be decompressed: the reason.
inline constexpr const char* kDamage = "x-allot-damage";

// Result of an operation: JSON, or the bytes of a payload.
struct Document {
  unsigned status = 200;  // a status of HTTP
  std::string type = "application/json";
  std::string text{};
  // Fields of a response head, with names in lower case: location, ...
  std::vector<std::pair<std::string, std::string>> fields{};

  // nullptr: none.
  [[nodiscard]] const std::string* field(std::string_view name) const {
    for (const auto& [each, value] : fields) {
      if (each == name) return &value;
    }
    return nullptr;
  }
};

// Why an operation is refused.
struct Problem {
  unsigned status = 500;  // a status of HTTP
  std::string detail;     // what is wrong, and what would be right
  std::string field{};    // of the body, query, path or head; empty: none
  std::vector<std::pair<std::string, std::string>> fields{};  // additional, of a response head
};

// Exit code of a command whose operation is refused. An unknown name is bad input, as is a queue
// that a change is not for; a missing task may have existed.
[[nodiscard]] ExitCode exit_code_of(const Problem& problem);

// Thrown by operations to answer with that problem.
class Refusal : public Error {
 public:
  explicit Refusal(Problem problem)
      : Error(problem.detail, exit_code_of(problem)), problem_(std::move(problem)) {}
  [[nodiscard]] const Problem& problem() const { return problem_; }

 private:
  Problem problem_;
};

[[noreturn]] inline void refuse(unsigned status, const std::string& detail,
                                const std::string& field = {}) {
  throw Refusal({status, detail, field});
}

}  // namespace allot::operations
