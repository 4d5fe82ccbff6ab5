// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <utility>

#include "config/served.h"
#include "config/settings.h"
#include "queue/model/catalog.h"
#include "queue/verbs/ending.h"

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

// The hook that a death in this queue triggers, by its configuration (C9).
inline std::optional<queue::OnDead> on_dead(const config::Queue& queue) {
  if (queue.on_dead.empty()) return std::nullopt;
  auto target = config::hook_target(queue.on_dead);
  if (!target) return std::nullopt;
  return queue::OnDead{queue.name, std::move(target->queue), std::move(target->type)};
}

inline bool keeps_history(const config::Queue& queue) {
  return queue.history.count() > 0;
}

}  // namespace allot::worker
