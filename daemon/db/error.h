// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "base/error.h"

namespace allot::db {

// Possible reaction of a caller to a failed call.
enum class ErrorClass {
  kRetryable,  // deadlock or lock wait (1213, 1205): the transaction is gone, send it again
  kDuplicate,  // 1062: send again with a new salt
  kFull,     // no space on disk or in memory of the server: the statement was undone, send it later
  kGone,     // no connection, server stopping, outcome unknown: connect again
  kRefused,  // credentials, privileges, missing database or table: configuration
  kFatal,    // anything else: a defect, or an unexpected server
};

const char* name_of(ErrorClass error_class);

// Progress of a packet when it failed.
enum class Phase : std::uint8_t {
  kConnect,     // no statement was sent: connecting, handshake, or a check in the client
  kStatement,   // in an open transaction, before its COMMIT was executed
  kAutocommit,  // a statement that commits by itself
  kCommit,      // COMMIT
};

// Not error numbers of a server; the first two are of class kRefused. This server cannot keep
// Allot's promises.
inline constexpr unsigned kUnfitServer = 70'000;
// The server offers no TLS, or has an untrusted certificate.
inline constexpr unsigned kUntrustedServer = 70'001;
// Another server is the writer (S53). Class kGone: connect again.
inline constexpr unsigned kSuperseded = 70'002;

// The meaning of a server's (1xxx and others) or a client's (2xxx) error number.
struct Meaning {
  ErrorClass error_class;
  // Whether the statement may have taken effect. Such an error always has class kGone.
  bool outcome_unknown;
  bool operator==(const Meaning&) const = default;
};

// Pure. `message` matters only if a proxy uses a meaningless number with its own text.
Meaning classify(unsigned error_number, std::string_view message, Phase phase);

// Whether the connection broke, so that the rest of the packet may have been executed as well.
// False: the server stopped at the failed statement.
[[nodiscard]] bool breaks_connection(unsigned error_number, std::string_view message);

// The statement that grants the account (as CURRENT_USER() names it) the right that is missing
// according to this message of the server: "GRANT INSERT ON `db`.`task` TO 'app'@'%'". Empty for
// other messages and other languages than English.
[[nodiscard]] std::string missing_grant(unsigned error_number, std::string_view message,
                                        std::string_view account, std::string_view database);

class DbError;
// Whether a statement with NOWAIT failed because another session has locked a row. MySQL has a
// number for that. MariaDB uses the number of a lock wait that timed out (1205), which it then is
// only if the statement did not wait: less than half of `lock_wait`.
[[nodiscard]] bool is_not_won(const DbError& error, std::chrono::seconds lock_wait);

class DbError : public Error {
 public:
  // `waited`: for how long the server did not answer the failed statement.
  DbError(unsigned number, const std::string& message, Phase phase,
          std::chrono::nanoseconds waited = {})
      : DbError(number, message, classify(number, message, phase), waited) {}
  // The same failure with another message.
  DbError(const DbError& cause, const std::string& message)
      : DbError(cause.number_, message, cause.meaning_, cause.waited_) {}
  [[nodiscard]] unsigned number() const { return number_; }
  [[nodiscard]] ErrorClass error_class() const { return meaning_.error_class; }
  [[nodiscard]] bool is_any_of(std::initializer_list<ErrorClass> classes) const {
    return std::find(classes.begin(), classes.end(), error_class()) != classes.end();
  }
  // The server refuses writes.
  [[nodiscard]] bool is_read_only() const;
  // S55: only such an error may be reported as an unknown outcome, and never as a refusal.
  [[nodiscard]] bool outcome_unknown() const { return meaning_.outcome_unknown; }
  [[nodiscard]] std::chrono::nanoseconds waited() const { return waited_; }

 private:
  DbError(unsigned number, const std::string& message, Meaning meaning,
          std::chrono::nanoseconds waited);

  unsigned number_;
  Meaning meaning_;
  std::chrono::nanoseconds waited_;
};

}  // namespace allot::db
