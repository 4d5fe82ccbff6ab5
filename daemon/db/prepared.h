// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

// Runs SQL that is not Allot's own: a handler's SQL, inside the transaction that acknowledges its
// task. Uses the binary protocol, so that values never become text of the statement, and a call
// cannot send more than one statement.
namespace allot::db {

struct Bytes {
  std::string_view data;
};
// nullptr: NULL. A string_view is UTF-8 text.
using Value =
    std::variant<std::nullptr_t, std::int64_t, std::uint64_t, double, std::string_view, Bytes>;

// Each field as text; nullopt: NULL. Valid during the call.
using RowSink = std::function<void(std::span<const std::optional<std::string_view>> fields)>;

struct Changed {
  std::uint64_t affected = 0;  // matched, inserted or deleted rows
  std::uint64_t insert_id = 0;
};

}  // namespace allot::db
