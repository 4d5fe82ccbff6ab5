// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

// Words of others in messages.
namespace allot::as_json {

// One line that is safe on a terminal: control characters and bytes that are not UTF-8 are escaped,
// and the text is cut after `most` bytes.
[[nodiscard]] std::string printable(std::string_view text, std::size_t most);

// Suggests the member of `known` that was most likely meant, as "; did you mean 'x'?", or nothing.
[[nodiscard]] std::string did_you_mean(const std::string& word,
                                       const std::vector<std::string>& known);

}  // namespace allot::as_json
