// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

// Formats texts for people that contain foreign text.
namespace allot::as_json {

// Limit of an error text in a line or a cell.
inline constexpr std::size_t kShownError = 300;

// One line that is safe on a terminal: control characters and bytes that are not UTF-8 are escaped,
// and the text is truncated after `most` bytes.
[[nodiscard]] std::string printable(std::string_view text, std::size_t most);

// The whole text in safe form, with its line breaks and tabs.
[[nodiscard]] std::string printable_lines(std::string_view text);

// "532 ms", "12.3 s", "4 min 05 s", "3 h 07 min", "2 d 11 h".
[[nodiscard]] std::string how_long(std::uint64_t ms);

}  // namespace allot::as_json
