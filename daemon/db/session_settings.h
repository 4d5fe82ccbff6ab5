// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

// What makes every session the same, whatever the server and its defaults are: see sql/README.md,
// "Sessions". For connection.cc only.
namespace allot::db {

class Row;

// Statements that set the session up, each with its semicolon. What only one kind of server knows
// is in a comment that only this kind executes, so that one packet does for both.
[[nodiscard]] std::string session_settings(std::chrono::seconds lock_wait);

// The columns of a SELECT that reads them back.
[[nodiscard]] std::string session_columns();

// Compares what session_columns() gave, from the column `first` of the row on. Empty when all is as
// it was set, else "sql_mode is '', not 'STRICT_ALL_TABLES'".
[[nodiscard]] std::string session_difference(const Row& row, std::size_t first,
                                             std::chrono::seconds lock_wait);

}  // namespace allot::db
