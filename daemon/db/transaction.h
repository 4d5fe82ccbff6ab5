// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "db/connection.h"
#include "db/error.h"

namespace allot::db {

// Runs `body` in the transaction that is open on `db`. If it throws, its changes are rolled back,
// unless the connection is gone and the transaction with it.
template <typename Body>
auto or_roll_back(Connection& db, const Body& body) {
  try {
    return body();
  } catch (const DbError& error) {
    if (error.error_class() != ErrorClass::kGone) db.roll_back();
    throw;
  } catch (...) {
    db.roll_back();
    throw;
  }
}

// Runs `body` between BEGIN and COMMIT.
template <typename Body>
void in_transaction(Connection& db, const Body& body) {
  db.execute("BEGIN");
  or_roll_back(db, [&] {
    body();
    db.execute("COMMIT");
  });
}

[[nodiscard]] inline bool is_retryable(const DbError& error) {
  return error.error_class() == ErrorClass::kRetryable;
}

// Runs `body` up to `most` times, as long as it fails with an error that `again` accepts.
template <typename Again, typename Body>
auto repeat(int most, const Again& again, const Body& body) {
  for (int tries = 1;; ++tries) {
    try {
      return body();
    } catch (const DbError& error) {
      if (tries == most || !again(error)) throw;
    }
  }
}

}  // namespace allot::db
