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

}  // namespace allot::db
