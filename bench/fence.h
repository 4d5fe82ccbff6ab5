// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "bench/stage.h"

namespace allot::bench {

struct FenceOptions {
  Place place;
  std::uint32_t tasks = 500;  // with the fence, and as many without, for each verb and round
  std::uint32_t rounds = 5;
  bool json = false;
};

// A query of sql/queries without the check of the lease row that fences its writes.
[[nodiscard]] std::string without_fence(std::string_view query);

// Times the transactions of the fenced verbs with and without their fence, task by task in turns.
// Prints both times and their ratio for each verb, medians of the rounds. Returns an exit code.
int fence(const FenceOptions& options);

}  // namespace allot::bench
