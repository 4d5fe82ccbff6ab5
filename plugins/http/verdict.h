// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "connection.h"

// Verdict of an answer: pure functions.
namespace http_plugin {

enum class Word {
  kSuccess,
  kFailure,
  kPermanentFailure,
  kInternalFailure,  // of a job: there is no answer
};

struct Verdict {
  Word word = Word::kFailure;
  std::string message{};                             // for people
  std::optional<std::chrono::milliseconds> delay{};  // for a failure: delay requested by the target
};

// {"status": "success" | "failure" | "permanent-failure", "message": "..."}. Any other body is a
// failure whose message describes the error and quotes the body. Invalid UTF-8 in a text becomes
// U+FFFD.
Verdict verdict_of_body(std::string_view body);

// 2xx is success; 408, 425, 429, 3xx and 5xx are failures; every other status is a permanent
// failure. The delay comes from Retry-After of 429 and 503. `now` is in seconds since 1970, for an
// answer without a Date.
Verdict verdict_of_status(const Answer& answer, std::int64_t now);

}  // namespace http_plugin
