// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/context.h"

namespace allot::cli {

// allot config: what is in force, and where each value came from. As text it is a configuration
// file again.
int show_config(const Context& context, bool json);

}  // namespace allot::cli
