// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "gateway/http/message.h"

namespace allot::gateway::api {

// The error document of a refused request (RFC 9457). Its kind is an error kind of the client
// library (bad_input, config, unavailable, outcome_unknown or failed), or the name of the status
// for errors that exist only in HTTP.
struct Problem {
  unsigned status = 500;
  std::string detail;                 // what is wrong, and what would be right
  std::string field{};                // of the body, query, path or head; empty: none
  std::vector<http::Field> fields{};  // additional fields of the response head
};

// Thrown by verbs to answer with that problem.
class Refusal : public std::runtime_error {
 public:
  explicit Refusal(Problem problem);
  [[nodiscard]] const Problem& problem() const { return problem_; }

 private:
  Problem problem_;
};

[[noreturn]] void refuse(unsigned status, const std::string& detail, const std::string& field = {});

// Converts an exception into the problem for the client. `writes`: the request changes something,
// so the outcome is unknown after a lost reply.
[[nodiscard]] Problem problem_of(const std::exception_ptr& error, bool writes);

// Whether a connection is unusable, or in an unknown state, after this error.
[[nodiscard]] bool loses_connection(const std::exception_ptr& error);

[[nodiscard]] http::Response response_of(const Problem& problem);

// "Not Found".
[[nodiscard]] const char* phrase_of(unsigned status);
[[nodiscard]] std::string kind_of(unsigned status);

}  // namespace allot::gateway::api
