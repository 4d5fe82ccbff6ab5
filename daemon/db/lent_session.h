// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "db/connection.h"

namespace allot::db {

// Rewrites a statement so that it means the same under every character set and sql_mode: each
// string literal becomes hexadecimal. For text rendered by Statement.
[[nodiscard]] std::string portable(std::string_view sql);

// The caller's connection, with an open transaction of the caller. Neither commits nor rolls back,
// and leaves the session unchanged, except for a savepoint named allot_submit.
class LentSession {
 public:
  // Selects `database` for the lifetime of this object. Throws Error(kExitBadInput) if no
  // transaction is open or the caller has an unread result; DbError.
  LentSession(st_mysql& handle, const std::string& database);
  LentSession(const LentSession&) = delete;
  LentSession& operator=(const LentSession&) = delete;
  ~LentSession();

  [[nodiscard]] Connection& connection() { return connection_; }

  // Undoes the statements of this object. False: the server has ended the transaction.
  [[nodiscard]] bool undo();

 private:
  st_mysql& handle_;
  Connection connection_;
  std::string selected_before_;  // empty: already selected
};

}  // namespace allot::db
