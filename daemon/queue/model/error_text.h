// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace allot::queue {

inline constexpr std::size_t kMostErrorText = 64 << 10;
inline constexpr std::size_t kMostMessage = 1 << 10;
inline constexpr std::size_t kMostFault = 255;

// The part of a handler's error text that is stored: valid UTF-8 of at most so many bytes. A byte
// that is not UTF-8 becomes U+FFFD: the server refuses it, and a verdict must never fail because of
// its message.
std::string error_text(std::string_view raw, std::size_t most = kMostErrorText);

}  // namespace allot::queue
