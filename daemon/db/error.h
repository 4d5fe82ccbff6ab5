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
  kFatal,    // anything else: a defect, or a server that is not as expected
};

const char* name_of(ErrorClass error_class);

// Pure: classes of the server's (1xxx) and the client's (2xxx) error numbers.
ErrorClass classify(unsigned error_number);

// What would give the account (as CURRENT_USER() says it) the right that this message of the server
// says it lacks: "GRANT INSERT ON `db`.`task` TO 'app'@'%'". Empty for other messages, and for
// those in other languages than English.
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
