// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "config/hooks.h"
#include "config/settings.h"
#include "queue/model/hook.h"
#include "queue/model/task.h"

namespace allot::worker {

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
