// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "queue/task.h"

namespace allot::cli {

// One line of bulk submission.
struct Line {
  std::string queue;
  std::string type;
  std::string payload;
  std::uint32_t prio = queue::kDefaultPrio;
};

// Parses {"queue": ..., "type": ..., "payload": ..., "prio": ...}. A payload that is no string is
// submitted as its compact JSON. nullopt for a line of white space. Throws Error(kExitBadInput)
// that names the field.
std::optional<Line> parse_line(const std::string& text);

}  // namespace allot::cli
