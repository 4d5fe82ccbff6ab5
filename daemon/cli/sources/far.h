// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/remote/session.h"
#include "queue/model/catalog.h"

// Queries to a gateway shared by several commands, the counterpart of sources/queues.h.
namespace allot::cli::far {

// "/queues/mail" and the rest of the path. Throws as unknown_queue() does for an invalid queue
// name.
[[nodiscard]] std::string queue_path(const std::string& name, const std::string& rest = {});

// All items of a paged list, or its first `most` items.
[[nodiscard]] std::vector<nlohmann::json> items(const remote::Session& gateway,
                                                const std::string& path,
                                                std::optional<std::uint32_t> most = {});

// The name of that queue; for an empty one, all queues that the caller may read.
[[nodiscard]] std::vector<std::string> queue_names(const remote::Session& gateway,
                                                   const std::string& name);

// State of the queue before a change; nullopt: not visible to the caller.
[[nodiscard]] std::optional<queue::QueueInfo> find_queue(const remote::Session& gateway,
                                                         const std::string& name);

// A change that the gateway may refuse until it is confirmed with "anyway": then asks as confirm()
// does, with the gateway's reason. `method` is POST, PUT, or DELETE, whose options are sent as a
// query.
[[nodiscard]] nlohmann::json change(const remote::Session& gateway, const std::string& method,
                                    const std::string& path, nlohmann::json options,
                                    const std::string& verb, bool yes);

}  // namespace allot::cli::far
