// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/remote/session.h"
#include "queue/model/catalog.h"

// What several commands ask of a gateway, in place of sources/queues.h.
namespace allot::cli::far {

// "/queues/mail" and what follows it. Throws as unknown_queue() for what can be no queue's name.
[[nodiscard]] std::string queue_path(const std::string& name, const std::string& rest = {});

// A list, page after page: all of it, or its first `most` items.
[[nodiscard]] std::vector<nlohmann::json> items(const remote::Session& gateway,
                                                const std::string& path,
                                                std::optional<std::uint32_t> most = {});

// The name of that queue, or of all that the caller may read for an empty one.
[[nodiscard]] std::vector<std::string> queue_names(const remote::Session& gateway,
                                                   const std::string& name);

// The queue before a change of it; nullopt: the caller does not see it.
[[nodiscard]] std::optional<queue::QueueInfo> find_queue(const remote::Session& gateway,
                                                         const std::string& name);

// A change that the gateway may refuse until somebody says "anyway": then asks as confirm() does,
// with its reason. `method` is POST, PUT, or DELETE, whose options are its query.
[[nodiscard]] nlohmann::json change(const remote::Session& gateway, const std::string& method,
                                    const std::string& path, nlohmann::json options,
                                    const std::string& verb, bool yes);

}  // namespace allot::cli::far
