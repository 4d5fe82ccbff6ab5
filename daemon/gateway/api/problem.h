// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "gateway/http/message.h"

namespace allot::gateway::api {

// What a client is told that did not get what it asked for (RFC 9457). Its kind is that of the
// client library: bad_input, config, unavailable, outcome_unknown or failed; or, for what only HTTP
// knows, the name of its status.
struct Problem {
  unsigned status = 500;
  std::string detail;   // what is wrong, and what would be right
  std::string field{};  // of the body, the query, the path or the head; empty: it is about none
  std::vector<http::Field> fields{};  // of the answer's head
};

// Thrown by verbs, to end with that problem.
class Refusal : public std::runtime_error {
 public:
  explicit Refusal(Problem problem);
  [[nodiscard]] const Problem& problem() const { return problem_; }

 private:
  Problem problem_;
};

[[noreturn]] void refuse(unsigned status, const std::string& detail, const std::string& field = {});

// What an exception says to the client. `writes`: what was asked for changes something, so that
// after a lost reply nobody knows whether it has.
[[nodiscard]] Problem problem_of(const std::exception_ptr& error, bool writes);

// Whether a connection is useless, or in a state that nobody knows, after this error.
[[nodiscard]] bool loses_connection(const std::exception_ptr& error);

[[nodiscard]] http::Response response_of(const Problem& problem);

// "Not Found".
[[nodiscard]] const char* phrase_of(unsigned status);
[[nodiscard]] std::string kind_of(unsigned status);

}  // namespace allot::gateway::api
