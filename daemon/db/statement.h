// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sql_text.h"

namespace allot::db {

// One .sql text with its placeholders filled in. Values are escaped for utf8mb4 sessions without
// NO_BACKSLASH_ESCAPES, which connection.cc guarantees; so a statement needs no connection.
class Statement {
 public:
  explicit Statement(const sql::SqlText& sql) : sql_(&sql) {}

  Statement& set(std::string_view name, std::unsigned_integral auto value) {
    return set_raw(name, std::to_string(value));
  }
  Statement& set(std::string_view name, std::signed_integral auto value) {
    return set_raw(name, std::to_string(value));
  }
  Statement& set(std::string_view name, std::string_view text) {
    return set_raw(name, quoted(text));
  }
  Statement& set(std::string_view name, const char* text) {
    return set(name, std::string_view(text));
  }
  // Opaque bytes, never treated as characters.
  Statement& set_bytes(std::string_view name, std::string_view bytes) {
    return set_raw(name, "_binary" + quoted(bytes));
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

// Number of SQL statements in a packet of rendered text. Semicolons in literals do not count.
[[nodiscard]] std::size_t statements_in(std::string_view sql);

}  // namespace allot::db
