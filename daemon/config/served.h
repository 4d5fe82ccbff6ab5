// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "config/settings.h"

namespace allot::config {

// True when a pool of this configuration that has workers serves the queue.
bool is_served(const Settings& settings, std::string_view queue);

}  // namespace allot::config
