// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "queue/minutes/minute_view.h"

// Which pools of which hosts serve a queue, by what their instances publish once a minute.
namespace allot::queue {

// As the column instance.pools has them: a line for each with its name, the number of its workers
// and its queues, none of which has a blank.
[[nodiscard]] std::string text_of(const std::vector<ServingPool>& pools);
[[nodiscard]] std::vector<ServingPool> pools_of(const std::string& text);

// "default@host-a" for each pool with workers of an instance that gives signs of life. nullopt: no
// instance that lives says what it serves.
[[nodiscard]] std::optional<std::vector<std::string>> pools_that_serve(
    const std::vector<InstanceRow>& instances, const std::string& queue);

}  // namespace allot::queue
