// SPDX-License-Identifier: Apache-2.0
#include "db/error.h"

#include <errmsg.h>
#include <mysqld_error.h>

namespace allot::db {
namespace {

// Not every connector's header has these.
constexpr unsigned kDiskFull = 1021;                  // MariaDB: ER_DISK_FULL
constexpr unsigned kGaleraNotReady = 1047;            // the node left its cluster
constexpr unsigned kServerShutdown = 1053;            // server shutdown in progress
constexpr unsigned kReadOnly = 1290;                  // --read-only
constexpr unsigned kNoPassword = 1698;                // access denied, by an authentication plugin
constexpr unsigned kReadOnlyMode = 1836;              // --innodb-read-only and the like
constexpr unsigned kConnectionKilled = 1927;          // MariaDB: ER_CONNECTION_KILLED
constexpr unsigned kLogFull = 1534;                   // writing one row to the binary log failed
constexpr unsigned kServerLostExtended = 2055;        // lost, with the system's error
constexpr unsigned kClientInteractionTimeout = 4031;  // MySQL 8

ExitCode exit_code_of(ErrorClass error_class) {
  switch (error_class) {
    case ErrorClass::kGone:
    case ErrorClass::kFull:
      return kExitUnavailable;
    case ErrorClass::kRefused:
      return kExitConfig;
    default:
      return kExitFailure;
  }
}

}  // namespace

const char* name_of(ErrorClass error_class) {
  switch (error_class) {
    case ErrorClass::kRetryable:
      return "retryable";
    case ErrorClass::kDuplicate:
      return "duplicate";
    case ErrorClass::kFull:
      return "full";
    case ErrorClass::kGone:
      return "gone";
    case ErrorClass::kRefused:
      return "refused";
    case ErrorClass::kFatal:
      return "fatal";
  }
  return "unknown";
}

namespace {

// It is for a person to change something, here or on the server.
bool is_refusal(unsigned error_number) {
  switch (error_number) {
    case ER_ACCESS_DENIED_ERROR:
    case ER_DBACCESS_DENIED_ERROR:
    case ER_TABLEACCESS_DENIED_ERROR:
    case ER_COLUMNACCESS_DENIED_ERROR:
    case ER_PROCACCESS_DENIED_ERROR:
    case ER_HOST_NOT_PRIVILEGED:
    case ER_SPECIFIC_ACCESS_DENIED_ERROR:
    case kNoPassword:
    case kUnfitServer:
    case CR_AUTH_PLUGIN_CANNOT_LOAD:
    case CR_AUTH_PLUGIN_ERR:
    case CR_SSL_CONNECTION_ERROR:  // as connection.cc uses it: the other side cannot be trusted
    case ER_BAD_DB_ERROR:
    case ER_NO_SUCH_TABLE:
    case ER_BAD_FIELD_ERROR:
      return true;
    default:
      return false;
  }
}

}  // namespace

ErrorClass classify(unsigned error_number) {
  switch (error_number) {
    case ER_LOCK_DEADLOCK:
    case ER_LOCK_WAIT_TIMEOUT:
    case ER_CHECKREAD:  // MariaDB 11: a row is newer than the transaction's view
    case ER_TABLE_DEF_CHANGED:
      return ErrorClass::kRetryable;
    case ER_DUP_ENTRY:
      return ErrorClass::kDuplicate;
    case kDiskFull:
    case ER_ERROR_ON_WRITE:
    case ER_GET_ERRNO:
    case ER_RECORD_FILE_FULL:
    case ER_OUTOFMEMORY:
    case ER_OUT_OF_RESOURCES:
    case kLogFull:
      return ErrorClass::kFull;
    case CR_SOCKET_CREATE_ERROR:  // this process has no descriptor left
    case CR_IPSOCK_ERROR:
    case CR_CONNECTION_ERROR:
    case CR_CONN_HOST_ERROR:
    case CR_UNKNOWN_HOST:
    case CR_SERVER_GONE_ERROR:
    case CR_SERVER_LOST:
    case CR_SERVER_HANDSHAKE_ERR:
    case CR_COMMANDS_OUT_OF_SYNC:
    case CR_MALFORMED_PACKET:
    case ER_CON_COUNT_ERROR:
    case ER_QUERY_INTERRUPTED:
    case ER_NEW_ABORTING_CONNECTION:
    case ER_ABORTING_CONNECTION:
    case ER_NET_READ_ERROR:
    case ER_NET_READ_INTERRUPTED:
    case ER_NET_ERROR_ON_WRITE:
    case ER_NET_WRITE_INTERRUPTED:
    case ER_TOO_MANY_USER_CONNECTIONS:
    case ER_USER_LIMIT_REACHED:
    case kGaleraNotReady:
    case kServerShutdown:
    case kReadOnly:
    case kReadOnlyMode:
    case kConnectionKilled:
    case kServerLostExtended:
    case kClientInteractionTimeout:
    case kSuperseded:
      return ErrorClass::kGone;
    default:
      return is_refusal(error_number) ? ErrorClass::kRefused : ErrorClass::kFatal;
  }
}

std::string missing_grant(unsigned error_number, std::string_view message, std::string_view account,
                          std::string_view database) {
  constexpr std::string_view kDenied = " command denied to user ";
  // When an account must not see a column, it has too few rights on the column's table.
  const std::string_view kTable =
      error_number == ER_COLUMNACCESS_DENIED_ERROR ? " in table " : " for table ";
  const std::size_t denied = message.find(kDenied);
  const std::size_t table = message.find(kTable);
  const std::size_t host = account.rfind('@');
  if (denied == std::string_view::npos || table == std::string_view::npos ||
      host == std::string_view::npos) {
    return {};
  }
  std::string name(message.substr(table + kTable.size()));
  // MariaDB since 10.8 writes `database`.`table`, others 'table'.
  if (name.size() > 2 && name.front() == '\'') {
    name = "`" + std::string(database) + "`.`" + name.substr(1, name.size() - 2) + "`";
  }
  return "GRANT " + std::string(message.substr(0, denied)) + " ON " + name + " TO '" +
         std::string(account.substr(0, host)) + "'@'" + std::string(account.substr(host + 1)) + "'";
}

DbError::DbError(unsigned number, const std::string& message)
    : Error(message, exit_code_of(classify(number))), number_(number), class_(classify(number)) {}

}  // namespace allot::db
