// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "config/settings.h"

namespace allot::cli {

// Rings the doorbell of the daemon on this host. Without one, the polling floor finds the tasks.
// `tasks` has how many may start now, by the id of their queue.
void ring_local(const config::Settings& settings,
                const std::map<std::uint32_t, std::size_t>& tasks);

// The runtime folder of that instance, for bells; empty where it belongs to somebody else.
std::string local_folder(const config::Settings& settings);

// Wakes its steward, which then looks for what somebody asked it for. Without one, or where the
// steward of another host does this for all, that is found within five seconds.
void ring_local_steward(const config::Settings& settings);

}  // namespace allot::cli
