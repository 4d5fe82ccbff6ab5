// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "json/instance_view.h"
#include "queue/minutes/minute_view.h"

// The state of a host as its steward stores it and the gateway shows it (decision 0030).
namespace allot::as_json {

// What a steward knows of its host besides the slots.
struct HostFacts {
  std::string version;
  std::uint64_t config_mark = 0;  // config::Files::mark()
  std::vector<queue::ServingPool> pools{};
};

// As it is shown.
[[nodiscard]] std::string configuration_text(std::uint64_t config_mark);

// Bounded, whatever runs: `left_out` says how many running tasks are not in it.
[[nodiscard]] nlohmann::json host_state(const InstanceView& view, const HostFacts& facts);

// The part of a state that is of the queues that `may` names (S91): pools that serve any of them,
// and the workers that have to do with them, without what they did for others.
[[nodiscard]] nlohmann::json host_state_for(const nlohmann::json& state,
                                            const std::function<bool(const std::string&)>& may);

}  // namespace allot::as_json
