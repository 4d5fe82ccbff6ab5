// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "queue/submit/submit.h"

namespace allot::cli {

// The longest line that is read: the largest payload with every byte written as \u00XX, plus the
// rest.
inline constexpr std::size_t kMaxLine = 6 * queue::kMaxPayload + 65'536;

// One line of bulk submission.
struct Line {
  std::string queue;
  std::string type;
  std::string payload;
  queue::SubmitOptions options;
};

// The names that a line may have.
[[nodiscard]] const std::vector<std::string>& line_fields();

// Parses {"queue": ..., "type": ...} and the optional fields. A payload that is a string is
// submitted as its bytes; any other as its JSON text, without white space. nullopt for a line of
// white space. Throws Error(kExitBadInput) that names the field.
std::optional<Line> parse_line(const std::string& text);

}  // namespace allot::cli
