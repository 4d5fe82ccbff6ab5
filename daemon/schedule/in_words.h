// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace allot::schedule {

// Describes an expression in English: "Monday to Friday at 09:00". For people; the result is not
// parsed. An invalid expression is returned unchanged.
[[nodiscard]] std::string in_words(const std::string& expression);

}  // namespace allot::schedule
