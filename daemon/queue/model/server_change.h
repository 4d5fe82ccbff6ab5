// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "db/connection.h"

// S48: a lease states its end by the clock of the server that wrote it. After a server change,
// leases of other holders are not taken over for their duration plus a second.
namespace allot::queue {

// db::note_server_statement() precedes the statement of each takeover in its packet, and that
// statement waits by what it wrote. So the rule holds whatever this process knows of the change,
// and behind any proxy.

// The database's clock, UTC.
std::chrono::sys_time<std::chrono::microseconds> database_now(db::Connection& db);

// Called after connecting, so that the wait begins at once. True if the server is not the last
// writer, or its clock was set back. Requires the schema.
bool note_server(db::Connection& db);

// S53. The first marks a server that takes writes although another server has this higher term: it
// then refuses submissions. The second removes such marks once this server's term is as high.
void mark_superseded(db::Connection& db, std::uint64_t term);
void clear_superseded(db::Connection& db);

// Makes this server the writer, on an operator's request: its term becomes higher than `known_term`
// and its own. Returns the term.
std::uint64_t promote(db::Connection& db, std::uint64_t known_term);

// The last server change, for people.
struct ServerChange {
  std::string server;           // "db1:3306"
  std::uint64_t number = 0;     // 1: never changed
  std::string since;            // UTC, ISO 8601
  std::uint32_t streak = 0;     // changes in a row with less than ten minutes between
  std::chrono::seconds ago{0};  // by the database's clock
};
std::optional<ServerChange> last_server_change(db::Connection& db);

}  // namespace allot::queue
