// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"

namespace allot::operations {

// Why an operation is refused.
struct Problem {
  unsigned status = 500;  // a status of HTTP
  std::string detail;     // what is wrong, and what would be right
  std::string field{};    // of the body, query, path or head; empty: none
  std::vector<std::pair<std::string, std::string>> fields{};  // additional, of a response head
};

// Thrown by operations to answer with that problem. Never reported by its exit code.
class Refusal : public Error {
 public:
  explicit Refusal(Problem problem)
      : Error(problem.detail, kExitSoftware), problem_(std::move(problem)) {}
  [[nodiscard]] const Problem& problem() const { return problem_; }

 private:
  Problem problem_;
};

[[noreturn]] inline void refuse(unsigned status, const std::string& detail,
                                const std::string& field = {}) {
  throw Refusal({status, detail, field});
}

}  // namespace allot::operations
