// SPDX-License-Identifier: Apache-2.0
#include "db/error.h"

#include <errmsg.h>
#include <mysqld_error.h>

#include <algorithm>
#include <array>

#include "base/mutant.h"

namespace allot::db {
namespace {

// Not every connector's header has these.
constexpr unsigned kDiskFull = 1021;                  // MariaDB: ER_DISK_FULL
constexpr unsigned kGaleraNotReady = 1047;            // the node left its cluster
constexpr unsigned kServerShutdown = 1053;            // server shutdown in progress
constexpr unsigned kReadOnly = 1290;                  // --read-only
constexpr unsigned kLogFull = 1534;                   // writing one row to the binary log failed
constexpr unsigned kLogImpossible = 1598;             // binary logging is not possible
constexpr unsigned kNoPassword = 1698;                // access denied, by an authentication plugin
constexpr unsigned kReadOnlyMode = 1836;              // --innodb-read-only and the like
constexpr unsigned kConnectionKilled = 1927;          // MariaDB: ER_CONNECTION_KILLED
constexpr unsigned kServerLostExtended = 2055;        // lost, with the system's error
constexpr unsigned kNoWait = 3572;                    // MySQL: NOWAIT, and the row is locked
constexpr unsigned kHookFailed = 3100;                // Group Replication could not certify
constexpr unsigned kRolledBackByPlugin = 3101;        // Group Replication
constexpr unsigned kClientInteractionTimeout = 4031;  // MySQL 8
// TiDB rolled the transaction back.
constexpr unsigned kLockConflict = 8002;
constexpr unsigned kCommitConflict = 8022;
constexpr unsigned kSchemaChanged = 8028;
constexpr unsigned kWriteConflict = 9007;

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
  constexpr std::array kNames{"retryable", "duplicate", "full", "gone", "refused", "fatal"};
  return kNames.at(static_cast<std::size_t>(error_class));
}

namespace {

// Meaning of a reply for its statement.
enum class Says : std::uint8_t {
  kUndone,   // no effect; after a COMMIT, the transaction was rolled back
  kFault,    // no effect of a statement; the outcome of a COMMIT is unknown
  kUnclear,  // the same, and the outcome of a statement that commits by itself is unknown
  kBroken,   // the connection broke: all statements sent may have been executed
};

struct Answer {
  ErrorClass error_class;
  Says says;
};

bool is_clients(unsigned error_number) {
  return error_number >= CR_MIN_ERROR && error_number < CR_MIN_ERROR + 1000;
}

// vtgate has one number for everything: only the text shows that a tablet is gone.
bool tells_of_lost_tablet(std::string_view message) {
  constexpr std::array<std::string_view, 5> kWords{"code = Unavailable", "no healthy tablet",
                                                   "SHUTTING_DOWN", "EOF", "not serving"};
  return std::any_of(kWords.begin(), kWords.end(), [&](std::string_view words) {
    return message.find(words) != std::string_view::npos;
  });
}

struct Rule {
  Answer answer;
  std::array<unsigned, 20> numbers;  // 0: unused
};

// tests/unit/db/error_test.cc has each number in each phase.
constexpr Rule kRules[] = {
    // 1020 is of MariaDB 11: a row is newer than the transaction's view.
    {{ErrorClass::kRetryable, Says::kUndone},
     {ER_LOCK_DEADLOCK, ER_LOCK_WAIT_TIMEOUT, ER_CHECKREAD, ER_TABLE_DEF_CHANGED, kLockConflict,
      kCommitConflict, kSchemaChanged, kWriteConflict}},
    {{ErrorClass::kDuplicate, Says::kUndone}, {ER_DUP_ENTRY}},
    {{ErrorClass::kFull, Says::kFault},
     {kDiskFull, ER_GET_ERRNO, ER_RECORD_FILE_FULL, ER_OUTOFMEMORY, ER_OUT_OF_RESOURCES, kLogFull}},
    // The binary log, which is written when a statement commits.
    {{ErrorClass::kFull, Says::kUnclear}, {ER_ERROR_ON_WRITE}},
    // The server did not start the statement, or refuses its writes. A COMMIT refused for this
    // reason is a rollback.
    {{ErrorClass::kGone, Says::kUndone},
     {ER_CON_COUNT_ERROR, ER_TOO_MANY_USER_CONNECTIONS, ER_USER_LIMIT_REACHED, kGaleraNotReady,
      kReadOnly, kReadOnlyMode, kClientInteractionTimeout, kSuperseded}},
    // Group Replication had sent the transaction to the other members: they may apply it although
    // this one, which leaves the group, rolls it back.
    {{ErrorClass::kGone, Says::kUnclear},
     {ER_QUERY_INTERRUPTED, ER_ERROR_DURING_COMMIT, kHookFailed, kRolledBackByPlugin}},
    {{ErrorClass::kFatal, Says::kUnclear}, {kLogImpossible, ER_UNKNOWN_ERROR}},
    // The server ends the connection, a proxy reports that for its server, or the client notices:
    // also that this process has no free descriptor.
    {{ErrorClass::kGone, Says::kBroken},
     {kServerShutdown,         kConnectionKilled,        ER_NEW_ABORTING_CONNECTION,
      ER_ABORTING_CONNECTION,  ER_NET_READ_ERROR,        ER_NET_READ_INTERRUPTED,
      ER_NET_ERROR_ON_WRITE,   ER_NET_WRITE_INTERRUPTED, CR_SOCKET_CREATE_ERROR,
      CR_IPSOCK_ERROR,         CR_CONNECTION_ERROR,      CR_CONN_HOST_ERROR,
      CR_UNKNOWN_HOST,         CR_SERVER_GONE_ERROR,     CR_SERVER_LOST,
      CR_SERVER_HANDSHAKE_ERR, CR_COMMANDS_OUT_OF_SYNC,  CR_MALFORMED_PACKET,
      CR_SSL_CONNECTION_ERROR, kServerLostExtended}},
    // A person has to change something, here or on the server.
    {{ErrorClass::kRefused, Says::kUndone},
     {ER_ACCESS_DENIED_ERROR, ER_DBACCESS_DENIED_ERROR, ER_TABLEACCESS_DENIED_ERROR,
      ER_COLUMNACCESS_DENIED_ERROR, ER_PROCACCESS_DENIED_ERROR, ER_HOST_NOT_PRIVILEGED,
      ER_SPECIFIC_ACCESS_DENIED_ERROR, kNoPassword, kUnfitServer, kUntrustedServer,
      CR_AUTH_PLUGIN_CANNOT_LOAD, CR_AUTH_PLUGIN_ERR, ER_BAD_DB_ERROR, ER_NO_SUCH_TABLE,
      ER_BAD_FIELD_ERROR}},
};

Answer answer_of(unsigned error_number, std::string_view message) {
  if (error_number == ER_UNKNOWN_ERROR && tells_of_lost_tablet(message)) {
    return {ErrorClass::kGone, Says::kBroken};
  }
  for (const auto& [answer, numbers] : kRules) {
    const auto at = std::find(numbers.begin(), numbers.end(), error_number);
    if (error_number != 0 && at != numbers.end()) return answer;
  }
  return {ErrorClass::kFatal, is_clients(error_number) ? Says::kBroken : Says::kFault};
}

bool leaves_outcome_open(Says says, Phase phase) {
  switch (phase) {
    case Phase::kConnect:
    case Phase::kStatement:  // the server rolls the transaction back
      return false;
    case Phase::kAutocommit:
      return says == Says::kUnclear || says == Says::kBroken;
    case Phase::kCommit:
      return says != Says::kUndone;
  }
  return true;
}

}  // namespace

Meaning classify(unsigned error_number, std::string_view message, Phase phase) {
  const Answer answer = answer_of(error_number, message);
  const bool unknown =
      leaves_outcome_open(answer.says, phase) && !mutant::removed("outcome_unknown");
  return {unknown ? ErrorClass::kGone : answer.error_class, unknown};
}

bool breaks_connection(unsigned error_number, std::string_view message) {
  return answer_of(error_number, message).says == Says::kBroken;
}

std::string missing_grant(unsigned error_number, std::string_view message, std::string_view account,
                          std::string_view database) {
  constexpr std::string_view kDenied = " command denied to user ";
  constexpr std::string_view kRoutine = " for routine ";
  // If an account must not see a column, it has too few rights on the column's table.
  const std::string_view kTable =
      error_number == ER_COLUMNACCESS_DENIED_ERROR ? " in table " : " for table ";
  const std::size_t denied = message.find(kDenied);
  const std::size_t table = message.find(kTable);
  const std::size_t host = account.rfind('@');
  if (denied == std::string_view::npos || host == std::string_view::npos) return {};
  const std::string to = " TO '" + std::string(account.substr(0, host)) + "'@'" +
                         std::string(account.substr(host + 1)) + "'";
  // Rights on single procedures would be lost when the procedures are made again.
  if (message.find(kRoutine) != std::string_view::npos) {
    return "GRANT EXECUTE ON `" + std::string(database) + "`.*" + to;
  }
  if (table == std::string_view::npos) return {};
  std::string name(message.substr(table + kTable.size()));
  // MariaDB since 10.8 writes `database`.`table`, others 'table'.
  if (name.size() > 2 && name.front() == '\'') {
    name = "`" + std::string(database) + "`.`" + name.substr(1, name.size() - 2) + "`";
  }
  return "GRANT " + std::string(message.substr(0, denied)) + " ON " + name + to;
}

bool is_not_won(const DbError& error, std::chrono::seconds lock_wait) {
  if (error.number() == kNoWait) return true;
  return error.number() == ER_LOCK_WAIT_TIMEOUT && error.waited() < lock_wait / 2.0;
}

bool DbError::is_read_only() const {
  return number_ == kReadOnly || number_ == kReadOnlyMode;
}

DbError::DbError(unsigned number, const std::string& message, Meaning meaning,
                 std::chrono::nanoseconds waited)
    : Error(message, exit_code_of(meaning.error_class)),
      number_(number),
      meaning_(meaning),
      waited_(waited) {}

}  // namespace allot::db
