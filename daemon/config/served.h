// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "config/settings.h"

// Queues of a configuration: who serves them, their duties and hooks.
namespace allot::config {

// True if a pool of this configuration with at least one worker serves the queue.
bool is_served(const Settings& settings, std::string_view queue);

// True if the steward of a host ensures that this duty of the queue is done: "purge", "stuck",
// "unique" or "layouts". `served`: the result of is_served().
bool wants_duty(bool served, const Queue& queue, std::string_view duty);

// Target of on_dead and on_stuck (C9).
struct HookTarget {
  std::string queue;
  std::string type;
};

// Parses "QUEUE/TYPE"; nullopt for any other text.
[[nodiscard]] std::optional<HookTarget> hook_target(std::string_view word);

}  // namespace allot::config
