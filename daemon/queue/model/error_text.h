// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace allot::queue {

// The part of a handler's error text that is stored: valid UTF-8 of at most 64 KiB. A byte that is
// not UTF-8 becomes U+FFFD: the server refuses it, and a verdict must never fail because of its
// message.
std::string error_text(std::string_view raw);

}  // namespace allot::queue
