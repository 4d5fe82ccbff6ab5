// SPDX-License-Identifier: Apache-2.0
#include "config/served.h"

#include <algorithm>

namespace allot::config {

bool is_served(const Settings& settings, std::string_view queue) {
  return std::any_of(settings.pools.begin(), settings.pools.end(), [&](const Pool& pool) {
    return pool.size > 0 &&
           std::find(pool.queues.begin(), pool.queues.end(), queue) != pool.queues.end();
  });
}

}  // namespace allot::config
