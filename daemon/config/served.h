// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "config/settings.h"

namespace allot::config {

// True if a pool of this configuration with at least one worker serves the queue.
bool is_served(const Settings& settings, std::string_view queue);

// True if the steward of a host ensures that this duty of the queue is done: "purge", "stuck",
// "unique" or "layouts". `served`: the result of is_served().
bool wants_duty(bool served, const Queue& queue, std::string_view duty);

}  // namespace allot::config
