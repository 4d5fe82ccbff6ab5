// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

// SQL that is not Allot's own: a handler's, inside the transaction that acknowledges its task. By
// the binary protocol, so that values are never text of the statement, and one statement is all
// that a call can be.
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
