// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sql_text.h"

namespace allot::db {

// Characters that a literal has as a backslash and another character.
inline constexpr std::pair<char, char> kEscaped[] = {
    {'\0', '0'}, {'\n', 'n'}, {'\r', 'r'}, {'\x1a', 'Z'}, {'\\', '\\'}, {'\'', '\''}, {'"', '"'}};

// One .sql text with its placeholders filled in. Values are escaped for utf8mb4 sessions without
// NO_BACKSLASH_ESCAPES, which connection.cc guarantees; so a statement needs no connection.
class Statement {
 public:
  explicit Statement(const sql::SqlText& sql) : sql_(&sql) {}

  // Also bool, as 0 or 1.
  Statement& set(std::string_view name, std::integral auto value) {
    return set_raw(name, std::to_string(value));
  }
  Statement& set(std::string_view name, std::string_view text) {
    return set_raw(name, quoted(text));
  }
  Statement& set(std::string_view name, std::chrono::microseconds duration) {
    return set(name, duration.count());
  }
  // nullopt: NULL.
  template <typename Value>
  Statement& set(std::string_view name, const std::optional<Value>& value) {
    return value ? set(name, *value) : set_raw(name, "NULL");
  }
  // Opaque bytes, never treated as characters. nullopt: NULL.
  Statement& set_bytes(std::string_view name, const std::optional<std::string_view>& bytes) {
    return set_raw(name, bytes ? "_binary" + quoted(*bytes) : "NULL");
  }
  // SQL that another statement rendered, or a list of numbers.
  Statement& set_raw(std::string_view name, std::string sql) {
    values_.emplace_back(name, std::move(sql));
    return *this;
  }

  // The text to send, without a closing semicolon. A placeholder without a value, or a value
  // without a placeholder, is a defect: render() throws Error(kExitSoftware).
  [[nodiscard]] std::string render() const;

  [[nodiscard]] std::string_view name() const { return sql_->name; }

  static std::string quoted(std::string_view text);

 private:
  const sql::SqlText* sql_;
  std::vector<std::pair<std::string_view, std::string>> values_;
};

// The texts of the elements as `text` returns them, separated by `between`.
template <typename Elements, typename Text>
[[nodiscard]] std::string joined(const Elements& elements, Text text,
                                 std::string_view between = ",") {
  std::string all;
  bool first = true;
  for (const auto& element : elements) {
    if (!first) all += between;
    first = false;
    all += text(element);
  }
  return all;
}

// Number of SQL statements in a packet of rendered text. Semicolons in literals do not count.
[[nodiscard]] std::size_t statements_in(std::string_view sql);

}  // namespace allot::db
