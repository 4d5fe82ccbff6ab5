// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "db/connection.h"

// S48: what a lease says of its end is of the clock of the server that wrote it. After a change of
// server nobody takes over what another one may hold for as long as that lasts, and a second more.
namespace allot::queue {

// db::note_server_statement() is in the packet of each takeover, before its statement, which waits
// by what that one has written. So the rule holds whatever this process knows of the change, and
// whatever stands between it and the server.

// For whoever connects, so that the wait begins at once. True when the server is another one than
// that which wrote last, or its clock was set back. The schema has to be there.
bool note_server(db::Connection& db);

// S53. The first marks a server that takes writes although another one has this higher term: it
// refuses submissions then. The second removes such marks where this server's term has become as
// high.
void mark_superseded(db::Connection& db, std::uint64_t term);
void clear_superseded(db::Connection& db);

// By an operator's word this server is the writer: its term becomes higher than `known_term` and
// than its own. Returns the term.
std::uint64_t promote(db::Connection& db, std::uint64_t known_term);

// The last change, for people.
struct ServerChange {
  std::string server;           // "db1:3306"
  std::uint64_t number = 0;     // 1: it was always this one
  std::string since;            // UTC, ISO 8601
  std::uint32_t streak = 0;     // so many changes, with less than ten minutes between
  std::chrono::seconds ago{0};  // by the database's clock
};
std::optional<ServerChange> last_server_change(db::Connection& db);

}  // namespace allot::queue
