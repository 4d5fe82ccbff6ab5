// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace allot::db {

struct LoggedTask {
  std::uint32_t queue_id = 0;  // 0: of any queue
  std::uint64_t run_key = 0;
  bool operator==(const LoggedTask&) const = default;
};

// A task whose run_key was changed.
struct LoggedMove {
  std::uint32_t queue_id = 0;
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  bool operator==(const LoggedMove&) const = default;
};

// What the binary log says of the columns of `task` before rows of it.
struct LoggedColumns {
  std::string types;     // one byte for each
  std::string metadata;  // of those whose type has any
};

// The tasks whose rows an event of insertions has. `present` has a bit for each column that the
// rows have. nullopt: they are of another form than is known here. Pure.
std::optional<std::vector<LoggedTask>> logged_tasks(const LoggedColumns& columns,
                                                    std::string_view present,
                                                    std::string_view rows);

// The changed run_keys in an event of updates, which has each row twice: as it was, with the
// columns `before`, and as it is now, with the columns `after`. nullopt as above. Pure.
std::optional<std::vector<LoggedMove>> logged_moves(const LoggedColumns& columns,
                                                    std::string_view before, std::string_view after,
                                                    std::string_view rows);

}  // namespace allot::db
