// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "db/connection.h"

namespace allot::db {

// Rewrites a statement so that it means the same under every character set and sql_mode: each
// string literal becomes hexadecimal. For text that Statement rendered.
[[nodiscard]] std::string portable(std::string_view sql);

// The caller's connection, with an open transaction of the caller. The class neither commits it nor
// rolls it back, and leaves the session as it was, except for a savepoint named allot_submit.
class LentSession {
 public:
  // Selects `database` as long as this object lives. Throws Error(kExitBadInput) when no
  // transaction is open, or when the caller has not read a result yet; DbError.
  LentSession(st_mysql& handle, const std::string& database);
  LentSession(const LentSession&) = delete;
  LentSession& operator=(const LentSession&) = delete;
  ~LentSession();

  [[nodiscard]] Connection& connection() { return connection_; }

  // Undoes what this object sent. False: the server has ended the transaction.
  [[nodiscard]] bool undo();

 private:
  st_mysql& handle_;
  Connection connection_;
  std::string selected_before_;  // empty: no need to select another one
};

}  // namespace allot::db
