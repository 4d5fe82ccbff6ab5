// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "host/instance_view.h"
#include "queue/minutes/instances.h"

// The state of a host as its steward stores it and the gateway shows it (decision 0030).
namespace allot::as_json {

// Facts of a host that the slots do not contain.
struct HostFacts {
  std::string version;
  std::uint64_t config_mark = 0;  // config::Files::mark()
  std::vector<queue::ServingPool> pools{};
};

// The mark in displayed form.
[[nodiscard]] std::string configuration_text(std::uint64_t config_mark);

[[nodiscard]] nlohmann::json pools_of(const std::vector<queue::ServingPool>& pools);
[[nodiscard]] nlohmann::json worker(const host::WorkerView& worker);
// The relevant fields of processes that run no tasks.
[[nodiscard]] nlohmann::json stewards(const host::InstanceView& view);

// Limited in size: `omitted` is the number of omitted running tasks.
[[nodiscard]] nlohmann::json host_state(const host::InstanceView& view, const HostFacts& facts);

// The part of a state for the queues that `may` permits (S91): pools that serve any of them, and
// workers that serve them, without their activity for other queues.
[[nodiscard]] nlohmann::json host_state_for(const nlohmann::json& state,
                                            const std::function<bool(const std::string&)>& may);

}  // namespace allot::as_json
