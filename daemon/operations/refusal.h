// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace allot::operations {

// Why an operation is refused.
struct Problem {
  unsigned status = 500;  // a status of HTTP
  std::string detail;     // what is wrong, and what would be right
  std::string field{};    // of the body, query, path or head; empty: none
  std::vector<std::pair<std::string, std::string>> fields{};  // additional, of a response head
};

// Thrown by operations to answer with that problem.
class Refusal : public std::runtime_error {
 public:
  explicit Refusal(Problem problem)
      : std::runtime_error(problem.detail), problem_(std::move(problem)) {}
  [[nodiscard]] const Problem& problem() const { return problem_; }

 private:
  Problem problem_;
};

[[noreturn]] inline void refuse(unsigned status, const std::string& detail,
                                const std::string& field = {}) {
  throw Refusal({status, detail, field});
}

}  // namespace allot::operations
