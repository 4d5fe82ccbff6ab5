// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace allot::schedule {

// When an expression runs, in English: "Monday to Friday at 09:00". For people who look at a
// schedule; nothing is computed from it. An expression that this program cannot read is returned
// as it is.
[[nodiscard]] std::string in_words(const std::string& expression);

}  // namespace allot::schedule
