// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "queue/minutes/minute_view.h"

// Which pools of which hosts serve a queue, by what their instances publish once a minute.
namespace allot::queue {

// As the column instance.pools has them: JSON.
[[nodiscard]] std::string text_of(const std::vector<ServingPool>& pools);
// Empty if the text is not understood.
[[nodiscard]] std::vector<ServingPool> pools_of(std::string_view text);

// "default@host-a" for each pool with workers of an instance that gives signs of life. nullopt: no
// instance that lives says what it serves.
[[nodiscard]] std::optional<std::vector<std::string>> pools_that_serve(
    const std::vector<InstanceRow>& instances, const std::string& queue);

}  // namespace allot::queue
