// SPDX-License-Identifier: Apache-2.0
#include "config/served.h"

#include <algorithm>

#include "base/names.h"
#include "config/rows.h"

namespace allot::config {

bool is_served(const Settings& settings, std::string_view queue) {
  return std::any_of(settings.pools.begin(), settings.pools.end(), [&](const Pool& pool) {
    return pool.size > 0 &&
           std::find(pool.queues.begin(), pool.queues.end(), queue) != pool.queues.end();
  });
}

// A host that serves no task of the queue reports when it is stuck, and leaves the other duties to
// other hosts.
bool wants_duty(bool served, const Queue& queue, std::string_view duty) {
  if (duty == "stuck") return !queue.on_stuck.empty();
  if (!served) return false;
  if (duty == "purge") return queue.history.count() > 0 || queue.dead_retention.count() > 0;
  return duty == "unique" || duty == "layouts";
}

std::optional<HookTarget> hook_target(std::string_view word) {
  const std::size_t slash = word.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::string_view queue = word.substr(0, slash);
  const std::string_view type = word.substr(slash + 1);
  if (queue.size() > kMaxQueueName || type.size() > kMaxTypeName || !is_word(queue, "._-") ||
      !is_word(type, "._-")) {
    return std::nullopt;
  }
  return HookTarget{std::string(queue), std::string(type)};
}

}  // namespace allot::config
