// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

// Settings that make every session the same, whatever the server and its defaults are: see
// sql/README.md, "Sessions". For connection.cc only.
namespace allot::db {

class Row;

// Statements that set the session up, each with its semicolon. Parts for one kind of server are in
// a comment that only this kind executes, so that one packet serves both.
[[nodiscard]] std::string session_settings(std::chrono::seconds lock_wait);

// Columns of a SELECT that reads them back.
[[nodiscard]] std::string session_columns();

// Compares the values of session_columns(), from the column `first` of the row on. Empty if all are
// as set, otherwise "sql_mode is '', not 'STRICT_ALL_TABLES'".
[[nodiscard]] std::string session_difference(const Row& row, std::size_t first,
                                             std::chrono::seconds lock_wait);

}  // namespace allot::db
