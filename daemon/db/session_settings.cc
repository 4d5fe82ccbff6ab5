// SPDX-License-Identifier: Apache-2.0
// Rules: S32, S64.
#include "db/session_settings.h"

#include "db/connection.h"

namespace allot::db {
namespace {

struct Setting {
  const char* name = nullptr;
  const char* value = nullptr;
  const char* column = nullptr;  // how to read it back, if not by name
  const char* assign = nullptr;  // how to set it, if not as `name = value`
};

constexpr const char* kMode = "STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION";
constexpr const char* kElsewhere = "";  // set by a separate statement

// Settings that can change the result of a statement, by the manuals of both servers.
// sql_big_selects disables max_join_size; optimizer_switch is left alone (docs/decisions/0006).
constexpr Setting kSettings[] = {
    {"character_set_client", "utf8mb4", nullptr, kElsewhere},
    {"character_set_connection", "utf8mb4", nullptr, kElsewhere},
    {"character_set_results", "utf8mb4", nullptr, kElsewhere},
    {"collation_connection", "utf8mb4_general_ci", nullptr, kElsewhere},
    {"sql_mode", kMode},
    {"time_zone", "+00:00"},
    {"autocommit", "1"},
    // TiDB shows the value as a number.
    {"completion_type", "NO_CHAIN", "REPLACE(@@completion_type, '0', 'NO_CHAIN')"},
    {"sql_safe_updates", "1"},
    {"sql_select_limit", "18446744073709551615"},
    {"sql_big_selects", "1"},
    {"group_concat_max_len", "1048576"},
    {"max_sort_length", "1024"},
    {"div_precision_increment", "4"},
    {"sql_auto_is_null", "0"},
    {"foreign_key_checks", "1"},
    {"unique_checks", "1"},
    {"lc_messages", "en_US"},
    {"check_constraint_checks", "1", "/*M!100201 @@check_constraint_checks */ /*!80000 1 */",
     "/*M!100201 , check_constraint_checks = 1 */"},
    {"old_mode", "", "/*M!100000 @@old_mode */ /*!80000 '' */", "/*M!100000 , old_mode = '' */"},
    {"sql_if_exists", "0", "/*M!100502 @@sql_if_exists + */ 0",
     "/*M!100502 , sql_if_exists = 0 */"},
    {"the limit of recursion", "1000",
     "/*M!100204 @@max_recursive_iterations */ /*!80000 @@cte_max_recursion_depth */",
     "/*M!100204 , max_recursive_iterations = 1000 */ /*!80000 , cte_max_recursion_depth = 1000 "
     "*/"},
    {"the time limit of a statement", "0",
     "/*M!100101 TRUNCATE(@@max_statement_time, 0) */ /*!80000 @@max_execution_time */",
     "/*M!100101 , max_statement_time = 0 */ /*!80000 , max_execution_time = 0 */"},
    // MariaDB ends a client that is frozen inside a transaction, so that it does not hold its locks
    // forever; MySQL has no such limit.
    {"idle_write_transaction_timeout", "30",
     "/*M!100300 @@idle_write_transaction_timeout */ /*!80000 30 */",
     "/*M!100300 , idle_write_transaction_timeout = 30 */"},
    // Since 11.6.2 MariaDB fails a locking read of a row that is newer than its view (error 1020),
    // unless this is off.
    {"innodb_snapshot_isolation", "0", "/*M!110602 @@innodb_snapshot_isolation + */ 0",
     "/*M!110602 , innodb_snapshot_isolation = OFF */"},
    // TiDB refuses LOCK IN SHARE MODE, unless it may take an exclusive lock instead.
    {"tidb_enable_shared_lock_promotion", "1",
     "1 /*T! - 1 + @@tidb_enable_shared_lock_promotion */",
     "/*T! , tidb_enable_shared_lock_promotion = 1 */"},
    // MySQL no longer has the first name, MariaDB 10.11 does not have the second yet.
    {"transaction_isolation", "READ-COMMITTED",
     "/*M!100000 @@tx_isolation */ /*!80000 @@transaction_isolation */", kElsewhere},
    {"transaction_read_only", "0",
     "/*M!100000 @@tx_read_only */ /*!80000 @@transaction_read_only */", kElsewhere},
};

std::string column_of(const Setting& setting) {
  return setting.column != nullptr ? setting.column : std::string("@@") + setting.name;
}

bool is_number(const char* value) {
  return *value >= '0' && *value <= '9';
}

std::string assignment_of(const Setting& setting) {
  if (setting.assign != nullptr) return setting.assign;
  const std::string quote = is_number(setting.value) ? "" : "'";
  return std::string(", ") + setting.name + " = " + quote + setting.value + quote;
}

}  // namespace

std::string session_settings(std::chrono::seconds lock_wait) {
  const std::string seconds = std::to_string(lock_wait.count());
  std::string assignments;
  for (const Setting& setting : kSettings) assignments += assignment_of(setting);
  return "SET NAMES utf8mb4 COLLATE utf8mb4_general_ci;"
         "SET SESSION " +
         assignments.substr(2) + ", innodb_lock_wait_timeout = " + seconds +
         ", lock_wait_timeout = " + seconds +
         ";SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED;"
         "SET SESSION TRANSACTION READ WRITE;";
}

std::string session_columns() {
  std::string columns;
  for (const Setting& setting : kSettings) columns += column_of(setting) + ", ";
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
