// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "config/settings.h"
#include "host/instance_view.h"

namespace allot::cli {

using host::InstanceView;
using host::read_instance;
using host::WorkerView;

// Cells of a worker, as as_json::worker() shows it: "mail/7", or "-" without a lease; the first
// task and the number of the others.
[[nodiscard]] std::string partition_text(const nlohmann::json& worker);
[[nodiscard]] std::string running_text(const nlohmann::json& worker);
// "40 % importing": of a task with progress.
[[nodiscard]] std::string progress_text(const nlohmann::json& task);
// "steward: slot 4, pid 4711, idle"; several stewards are joined.
[[nodiscard]] std::string stewards_text(const InstanceView& view);
// One line for each problem of the instance: a pool whose workers cannot start, or a configuration
// file that was changed but not loaded.
[[nodiscard]] std::vector<std::string> instance_troubles(const InstanceView& view,
                                                         const config::Settings& settings);

}  // namespace allot::cli
