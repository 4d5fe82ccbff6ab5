// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "plugin_host/handler_call.h"

namespace allot::worker {

// Failure of an attempt, for people (decision 0015).
struct Failure {
  std::string message{};  // one line of at most queue::kMostMessage bytes
  std::string detail{};   // the full text, with line breaks; empty: same as the message
  std::string fault{};    // as for queue::fault_of()
};

// Reads it from the handler's result. Only this function interprets the parts of a failed outcome
// (allot_outcome in allot/plugin.h).
[[nodiscard]] Failure failure_of(const plugin_host::CallResult& said);

// The last bytes of a detail, `most` at most, from the beginning of a line if possible: in most
// languages the cause of an error is at the end.
[[nodiscard]] std::string_view last_lines(std::string_view detail, std::size_t most);

}  // namespace allot::worker
