// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "connection.h"

// What an answer says of a task: pure functions.
namespace http_plugin {

enum class Word { kSuccess, kFailure, kPermanentFailure };

struct Verdict {
  Word word = Word::kFailure;
  std::string message{};  // for people
  std::optional<std::chrono::milliseconds>
      delay{};  // of a failure: the pause that the target wants
};

// {"status": "success" | "failure" | "permanent-failure", "message": "..."}. Everything else is a
// failure whose message says what is wrong with the body, and quotes it. In a text, what is no
// UTF-8 is read as U+FFFD.
Verdict verdict_of_body(std::string_view body);

// 2xx is success; 408, 425, 429, 3xx and 5xx a failure; every other status a permanent one. A pause
// is taken from Retry-After of 429 and 503. `now` is in seconds since 1970, for an answer that has
// no Date.
Verdict verdict_of_status(const Answer& answer, std::int64_t now);

}  // namespace http_plugin
