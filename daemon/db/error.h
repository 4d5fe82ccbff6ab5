// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace allot::db {

// What a caller can do about a failed call.
enum class ErrorClass {
  kRetryable,  // deadlock or lock wait (1213, 1205): the transaction is gone, send it again
  kDuplicate,  // 1062: send again with a new salt
  kFull,     // no room on the server, on disk or in memory: the statement was undone, send it later
  kGone,     // no connection, server stopping, reply lost: connect again
  kRefused,  // credentials, privileges, missing database or table: configuration
  kFatal,    // anything else: a defect, or an unexpected server
};

const char* name_of(ErrorClass error_class);

// No server's number: this server cannot keep what Allot promises. Of class kRefused.
inline constexpr unsigned kUnfitServer = 70'000;

// No server's number: another server is the writer (S53). Of class kGone: connect again.
inline constexpr unsigned kSuperseded = 70'001;

// Pure: classes of the server's (1xxx) and the client's (2xxx) error numbers.
ErrorClass classify(unsigned error_number);

// The statement that grants the account (as CURRENT_USER() names it) the right that it lacks
// according to this message of the server: "GRANT INSERT ON `db`.`task` TO 'app'@'%'". Empty for
// other messages, and for messages in other languages than English.
[[nodiscard]] std::string missing_grant(unsigned error_number, std::string_view message,
                                        std::string_view account, std::string_view database);

class DbError : public Error {
 public:
  DbError(unsigned number, const std::string& message);
  [[nodiscard]] unsigned number() const { return number_; }
  [[nodiscard]] ErrorClass error_class() const { return class_; }

 private:
  unsigned number_;
  ErrorClass class_;
};

}  // namespace allot::db
