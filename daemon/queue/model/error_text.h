// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace allot::queue {

inline constexpr std::size_t kMostErrorText = 64 << 10;
inline constexpr std::size_t kMostMessage = 1 << 10;
inline constexpr std::size_t kMostFault = 255;

// The stored part of a handler's error text: valid UTF-8 of at most `most` bytes. An invalid byte
// becomes U+FFFD: the server would refuse it, and a verdict must not fail because of its message.
std::string error_text(std::string_view raw, std::size_t most = kMostErrorText);

}  // namespace allot::queue
