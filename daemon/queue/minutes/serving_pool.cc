// SPDX-License-Identifier: Apache-2.0
#include "queue/minutes/serving_pool.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace allot::queue {

using nlohmann::json;

std::string text_of(const std::vector<ServingPool>& pools) {
  json list = json::array();
  for (const ServingPool& pool : pools) {
    list.push_back({{"name", pool.name}, {"workers", pool.workers}, {"queues", pool.queues}});
  }
  return list.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::vector<ServingPool> pools_of(std::string_view text) {
  try {
    std::vector<ServingPool> pools;
    for (const json& pool : json::parse(text)) {
      pools.push_back({pool.at("name"), pool.at("workers"), pool.at("queues")});
    }
    return pools;
  } catch (const json::exception&) {
    return {};
  }
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
