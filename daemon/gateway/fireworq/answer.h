// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/error.h"
#include "gateway/http/message.h"

// Responses in the format that clients of Fireworq expect. Pure.
namespace allot::gateway::fireworq {

// Ends a request with a status other than 200. The detail is one line for people; empty: none.
class Refused : public Error {
 public:
  Refused(unsigned status, const std::string& detail)
      : Error(detail, kExitBadInput), status_(status) {}
  [[nodiscard]] unsigned status() const { return status_; }

 private:
  unsigned status_;
};

[[nodiscard]] http::Response json_answer(std::string body);
[[nodiscard]] http::Response text_answer(std::string body, unsigned status = 200);
// "404 Not Found", then an empty line and the detail.
[[nodiscard]] http::Response error_answer(unsigned status, const std::string& detail = {});

}  // namespace allot::gateway::fireworq
