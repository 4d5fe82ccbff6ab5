// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "config/settings.h"

namespace allot::config {

// True when a pool of this configuration that has workers serves the queue.
bool is_served(const Settings& settings, std::string_view queue);

// True when the steward of a host sees to it that somebody does this duty for the queue: "purge",
// "stuck", "unique" or "layouts". `served`: as is_served() says.
bool wants_duty(bool served, const Queue& queue, std::string_view duty);

}  // namespace allot::config
