// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/sources/context.h"

namespace allot::cli {

// allot config prints the settings in force, and where each value came from. The text is again a
// configuration file.
int show_config(const Context& context, bool json);

}  // namespace allot::cli
