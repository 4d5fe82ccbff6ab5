// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "config/settings.h"

namespace allot::cli {

// Rings the doorbell of the daemon on this host. Without a daemon, the regular poll finds the
// tasks. `tasks` has the number of tasks that may start now, by queue id.
void ring_local(const config::Settings& settings,
                const std::map<std::uint32_t, std::size_t>& tasks);

// Runtime folder of that instance, for bells; empty if it belongs to another user.
std::string local_folder(const config::Settings& settings);

}  // namespace allot::cli
