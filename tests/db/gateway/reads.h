// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "support/database.h"
#include "support/environment.h"

// Measures the rows read by a request, with the server's own counters, over few rows and over many.
//   ALLOT_TEST_ROWS=10000000: number of rows of each kind
namespace allot::gateway {

inline constexpr std::uint64_t kFewRows = 10'000;

inline std::uint64_t many_rows() {
  return support::environment_or<std::uint64_t>("ALLOT_TEST_ROWS", 40'000);
}

// Calls `insert` with a derived table that has the numbers from `first` to `last` as `seq`, in
// chunks that fit into a call.
template <typename Insert>
void each_numbers(std::uint64_t first, std::uint64_t last, const Insert& insert) {
  constexpr std::uint64_t kAtOnce = 20'000;
  for (; first <= last; first += kAtOnce) {
    insert(" FROM " + support::numbers(first, std::min(last, first + kAtOnce - 1)));
  }
}

// Total rows read by the server.
inline std::uint64_t rows_read(db::Connection& db) {
  return support::number_of(
      db, "SELECT SUM(variable_value) FROM " +
              std::string(support::on_mysql() ? "performance_schema" : "information_schema") +
              ".global_status WHERE variable_name IN ('Handler_read_first', 'Handler_read_key',"
              " 'Handler_read_last', 'Handler_read_next', 'Handler_read_prev', 'Handler_read_rnd',"
              " 'Handler_read_rnd_next')");
}

// Rows read by `look`.
template <typename Look>
std::uint64_t rows_read_by(db::Connection& db, const Look& look) {
  const std::uint64_t begin = rows_read(db);
  const std::uint64_t own = rows_read(db) - begin;
  const std::uint64_t before = rows_read(db);
  look();
  return rows_read(db) - before - own;
}

}  // namespace allot::gateway
