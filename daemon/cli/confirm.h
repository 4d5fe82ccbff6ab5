// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace allot::cli {

// Asks on a terminal whether `verb` ("retry") shall be done to `what` ("3 dead tasks of queue
// mail"), and is told with --yes elsewhere. Throws Error when it is not to be.
void confirm(const std::string& verb, const std::string& what, bool yes);

}  // namespace allot::cli
