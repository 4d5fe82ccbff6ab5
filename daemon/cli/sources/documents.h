// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/remote/operations.h"

// Requests that several commands share.
namespace allot::cli::documents {

// The path with one more value in its query, unless the value is empty.
[[nodiscard]] std::string with(const std::string& path, const std::string& name,
                               const std::string& value);

// "/queues/mail" and the rest of the path. Throws as unknown_queue() does for an invalid queue
// name.
[[nodiscard]] std::string queue_path(const std::string& name, const std::string& rest = {});

// The page of a list after that cursor, with at most `most` items. `next` is the cursor at its end;
// empty: the list ends.
struct Page {
  std::vector<nlohmann::json> items;
  std::string next;
};
[[nodiscard]] Page page(const Operations& allot, const std::string& path, const std::string& cursor,
                        std::optional<std::uint32_t> most);

// All items of a paged list, or its first `most` items.
[[nodiscard]] std::vector<nlohmann::json> items(const Operations& allot, const std::string& path,
                                                std::optional<std::uint32_t> most = {});

// The name of that queue; for an empty one, all queues that the caller may read.
[[nodiscard]] std::vector<std::string> queue_names(const Operations& allot,
                                                   const std::string& name);

// The queue before a change; null: it does not exist, or is not visible to the caller.
[[nodiscard]] nlohmann::json find_queue(const Operations& allot, const std::string& name);

// A change that the gateway may refuse until it is confirmed with "confirm": then asks as confirm()
// does, with the gateway's reason. `method` is POST, PUT, or DELETE, whose options are sent as a
// query.
[[nodiscard]] nlohmann::json change(const Operations& allot, const std::string& method,
                                    const std::string& path, nlohmann::json options,
                                    const std::string& verb, bool yes);

}  // namespace allot::cli::documents
