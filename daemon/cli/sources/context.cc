// SPDX-License-Identifier: Apache-2.0
#include "cli/sources/context.h"

#include "db/from_settings.h"
#include "db/migrate.h"

namespace allot::cli {
namespace {

constexpr unsigned kNobodyListens = 2002;  // at the socket: CR_CONNECTION_ERROR

}  // namespace

db::Connection connect_any(const config::Settings& settings) {
  try {
    return db::Connection(db::from_settings(settings));
  } catch (const db::DbError& error) {
    if (settings.database.embedded.empty() || error.number() != kNobodyListens) throw;
    throw Error("the embedded database in " + settings.database.embedded +
                    " is not running; allotd starts it (" + error.what() + ")",
                kExitUnavailable);
  }
}

db::Connection connect(const config::Settings& settings) {
  db::Connection connection = connect_any(settings);
  db::require_schema(connection);
  return connection;
}

}  // namespace allot::cli
