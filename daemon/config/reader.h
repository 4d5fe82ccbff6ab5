// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "config/settings.h"
#include "config/tree.h"

namespace allot::config {

// Parses `text` into `settings`; keys missing in the text keep their values. `folder` completes
// relative paths. Every mistake is added to `problems`.
void read_settings(std::string_view text, const std::string& folder, Settings& settings,
                   Problems& problems);

}  // namespace allot::config
