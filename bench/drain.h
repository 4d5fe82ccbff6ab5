// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "bench/stage.h"
#include "db/connection.h"
#include "queue/model/catalog.h"

namespace allot::bench {

struct DrainOptions {
  Place place;
  Load load;
  std::uint32_t rounds = 3;
  bool json = false;
};

struct Round {
  double tasks_per_s = 0;
  double floor_tasks_per_s = 0;
  [[nodiscard]] double ratio() const { return tasks_per_s / floor_tasks_per_s; }
};

// Submits the number of tasks of the load; their handler does nothing.
void submit_noops(db::Connection& db, const queue::QueueInfo& queue, const Load& load);

// Drains a queue of no-op tasks through the real daemon and a real plugin, and the same rows with
// bare clients, in turns. Prints both rates and their ratio, medians of the rounds. Returns an exit
// code.
int drain(const DrainOptions& options);

}  // namespace allot::bench
