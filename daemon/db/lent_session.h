// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "db/connection.h"

namespace allot::db {

// The same statement, as one that means the same under every character set and sql_mode: each
// string literal is a hexadecimal one. For text that Statement rendered.
[[nodiscard]] std::string portable(std::string_view sql);

// A connection of somebody else, with a transaction of his that is open. Neither commits it nor
// rolls it back, and leaves all of the session as it was, but for a savepoint named allot_submit.
class LentSession {
 public:
  // `database` is selected as long as this lives. Throws Error(kExitBadInput) when no transaction
  // is open, or a result was not read yet; DbError.
  LentSession(st_mysql& handle, const std::string& database);
  LentSession(const LentSession&) = delete;
  LentSession& operator=(const LentSession&) = delete;
  ~LentSession();

  [[nodiscard]] Connection& connection() { return connection_; }

  // Undoes what was sent since this began. False: the server has ended the transaction.
  [[nodiscard]] bool undo();

 private:
  st_mysql& handle_;
  Connection connection_;
  std::string selected_before_;  // empty: that is the one, or there was none
};

}  // namespace allot::db
