// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "queue/minutes/minute_view.h"

// Pools of all hosts that serve a queue, as their instances publish it once a minute.
namespace allot::queue {

// Format of the column instance.pools: one line per pool with its name, the number of its workers
// and its queues, none of which contains a blank.
[[nodiscard]] std::string text_of(const std::vector<ServingPool>& pools);
[[nodiscard]] std::vector<ServingPool> pools_of(const std::string& text);

// "default@host-a" for each pool with workers of a live instance. nullopt: no live instance
// publishes its queues.
[[nodiscard]] std::optional<std::vector<std::string>> pools_that_serve(
    const std::vector<InstanceRow>& instances, const std::string& queue);

}  // namespace allot::queue
