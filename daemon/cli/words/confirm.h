// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace allot::cli {

// Asks on a terminal whether to `verb` ("retry") `what` ("3 dead tasks of queue mail"); otherwise
// --yes is required. Throws Error for any answer but yes.
void confirm(const std::string& verb, const std::string& what, bool yes);

}  // namespace allot::cli
