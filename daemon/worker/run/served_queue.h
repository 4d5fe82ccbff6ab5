// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "config/settings.h"
#include "queue/model/catalog.h"
#include "queue/model/lease.h"

namespace allot::worker {

// A queue of this worker's pool, as the database and the configuration describe it.
struct ServedQueue {
  queue::QueueInfo info;
  const config::Queue* settings = nullptr;

  // The number of tasks that a lease may run at a time is its share of the cap (S51).
  [[nodiscard]] bool capped() const { return info.cap != 0; }
  // A handler of this queue ends with its lease (S5), and its tasks stay in their partition.
  [[nodiscard]] bool exclusive() const {
    return settings->exclusive || info.is_keyed() || capped();
  }
  // A failed task stays before the others of its key (S16).
  [[nodiscard]] bool in_order() const { return info.shape.placement == queue::Placement::kOrdered; }
};

}  // namespace allot::worker
