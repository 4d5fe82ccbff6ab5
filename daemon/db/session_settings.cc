// SPDX-License-Identifier: Apache-2.0
#include "db/session_settings.h"

#include "db/connection.h"

namespace allot::db {
namespace {

struct Setting {
  const char* name;
  const char* column;  // how to read it back
  const char* value;
};

constexpr const char* kMode = "STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION";

constexpr Setting kSettings[] = {
    {"character_set_client", "@@character_set_client", "utf8mb4"},
    {"character_set_connection", "@@character_set_connection", "utf8mb4"},
    {"character_set_results", "@@character_set_results", "utf8mb4"},
    {"sql_mode", "@@sql_mode", kMode},
    {"time_zone", "@@time_zone", "+00:00"},
    {"autocommit", "@@autocommit", "1"},
    {"completion_type", "@@completion_type", "NO_CHAIN"},
    {"sql_safe_updates", "@@sql_safe_updates", "1"},
    // MySQL has no longer the one, MariaDB 10.11 not yet the other.
    {"transaction_isolation", "/*M!100000 @@tx_isolation */ /*!80000 @@transaction_isolation */",
     "READ-COMMITTED"},
};

}  // namespace

// MariaDB ends a client that is frozen inside a transaction, so that it does not hold its locks for
// ever; MySQL has no such limit. Since 11.6.2 it also fails a locking read where a row is newer
// than its view (error 1020) unless that is turned off.
std::string session_settings(std::chrono::seconds lock_wait) {
  const std::string seconds = std::to_string(lock_wait.count());
  return "SET NAMES utf8mb4;"
         "SET SESSION sql_mode = '" +
         std::string(kMode) +
         "', time_zone = '+00:00', autocommit = 1, completion_type = 0, sql_safe_updates = 1,"
         " innodb_lock_wait_timeout = " +
         seconds + ", lock_wait_timeout = " + seconds +
         " /*M!100300 , idle_write_transaction_timeout = 30 */"
         " /*M!110602 , innodb_snapshot_isolation = OFF */;"
         "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED;";
}

std::string session_columns() {
  std::string columns;
  for (const Setting& setting : kSettings) columns += std::string(setting.column) + ", ";
  return columns + "@@innodb_lock_wait_timeout, @@lock_wait_timeout";
}

std::string session_difference(const Row& row, std::size_t first, std::chrono::seconds lock_wait) {
  const auto difference = [&](const char* name, const std::string& wanted) {
    const std::string is(row.text(first++));
    return is == wanted ? std::string()
                        : std::string(name) + " is '" + is + "', not '" + wanted + "'";
  };
  for (const Setting& setting : kSettings) {
    if (std::string text = difference(setting.name, setting.value); !text.empty()) return text;
  }
  for (const char* name : {"innodb_lock_wait_timeout", "lock_wait_timeout"}) {
    if (std::string text = difference(name, std::to_string(lock_wait.count())); !text.empty()) {
      return text;
    }
  }
  return {};
}

}  // namespace allot::db
