// SPDX-License-Identifier: Apache-2.0
#include "queue/minutes/serving_pool.h"

#include <algorithm>
#include <sstream>
#include <utility>

namespace allot::queue {

std::string text_of(const std::vector<ServingPool>& pools) {
  std::string text;
  for (const ServingPool& pool : pools) {
    text += pool.name + " " + std::to_string(pool.workers);
    for (const std::string& queue : pool.queues) text += " " + queue;
    text += "\n";
  }
  return text;
}

std::vector<ServingPool> pools_of(const std::string& text) {
  std::vector<ServingPool> pools;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    ServingPool pool;
    if (!(words >> pool.name >> pool.workers)) continue;
    for (std::string queue; words >> queue;) pool.queues.push_back(queue);
    pools.push_back(std::move(pool));
  }
  return pools;
}

std::optional<std::vector<std::string>> pools_that_serve(const std::vector<InstanceRow>& instances,
                                                         const std::string& queue) {
  std::optional<std::vector<std::string>> found;
  for (const InstanceRow& instance : instances) {
    if (instance.silent >= kInstanceSilent || instance.pools.empty()) continue;
    if (!found) found.emplace();
    for (const ServingPool& pool : instance.pools) {
      const bool serves =
          std::any_of(pool.queues.begin(), pool.queues.end(),
                      [&](const std::string& one) { return one == queue || one == "*"; });
      if (serves && pool.workers > 0) found->push_back(pool.name + "@" + instance.host);
    }
  }
  return found;
}

}  // namespace allot::queue
