// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace allot::db {

// An inserted task, or one with a changed run_key.
struct LoggedTask {
  std::uint32_t queue_id = 0;  // 0: any queue
  std::uint64_t run_key = 0;
  std::optional<std::uint64_t> former_key{};  // of a changed one
  bool operator==(const LoggedTask&) const = default;
};

// Columns of `task` as the binary log describes them before rows.
struct LoggedColumns {
  std::string types;     // one byte for each
  std::string metadata;  // of the columns whose type has any
};

// Tasks in the rows of an event. `present` has a bit for each column in the rows. An update event
// has each row twice, the second time with the columns `after`; only tasks with a changed run_key
// are returned. nullopt: unknown format. Pure.
std::optional<std::vector<LoggedTask>> logged_tasks(
    const LoggedColumns& columns, std::string_view present, std::string_view rows,
    std::optional<std::string_view> after = std::nullopt);

}  // namespace allot::db
