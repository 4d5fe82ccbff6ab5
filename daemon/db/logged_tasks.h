// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace allot::db {

struct LoggedTask {
  std::uint32_t queue_id = 0;  // 0: any queue
  std::uint64_t run_key = 0;
  bool operator==(const LoggedTask&) const = default;
};

// A task with a changed run_key.
struct LoggedMove {
  std::uint32_t queue_id = 0;
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  bool operator==(const LoggedMove&) const = default;
};

// Columns of `task` as the binary log describes them before rows.
struct LoggedColumns {
  std::string types;     // one byte for each
  std::string metadata;  // of the columns whose type has any
};

// Tasks in the rows of an insert event. `present` has a bit for each column in the rows. nullopt:
// unknown format. Pure.
std::optional<std::vector<LoggedTask>> logged_tasks(const LoggedColumns& columns,
                                                    std::string_view present,
                                                    std::string_view rows);

// Changed run_keys in an update event, which has each row twice: the former row with the columns
// `before`, and the new row with the columns `after`. nullopt as above. Pure.
std::optional<std::vector<LoggedMove>> logged_moves(const LoggedColumns& columns,
                                                    std::string_view before, std::string_view after,
                                                    std::string_view rows);

}  // namespace allot::db
