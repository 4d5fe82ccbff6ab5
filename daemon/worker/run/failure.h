// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "plugin_host/handler_call.h"

namespace allot::worker {

// What a failed attempt says to people (decision 0015).
struct Failure {
  std::string message{};  // one line of at most queue::kMostMessage bytes
  std::string detail{};   // all of it, with line breaks; empty: the message is
  std::string fault{};    // as queue::fault_of() takes it
};

// Reads it from what the handler said. The only place that knows what the parts of a failed outcome
// mean (allot_outcome in allot/plugin.h).
[[nodiscard]] Failure failure_of(const plugin_host::CallResult& said);

// At most so many of the last bytes of a detail, from the beginning of a line where there is one:
// the end says what went wrong in most languages.
[[nodiscard]] std::string_view last_lines(std::string_view detail, std::size_t most);

}  // namespace allot::worker
