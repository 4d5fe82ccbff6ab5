// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "db/connection.h"

// Settings of a server, and rights of the account of a connection.
namespace allot::queue {

// Settings and statuses of a server by name in lower case.
using ServerFacts = std::map<std::string, std::string>;
// The relevant settings that this server has; and the number of its replicas or nodes.
ServerFacts server_variables(db::Connection& db, bool with_replicas = false);
// Empty: the server does not have it.
[[nodiscard]] std::string value_in(const ServerFacts& facts, const std::string& name);

// Whether the switch differs from its default for all sessions. False also if this account may not
// read it.
bool optimizer_switch_changed(db::Connection& db);

// Throws DbError(kRefused) that names the first right that a worker's account needs and this one
// lacks.
void require_rights(db::Connection& db);

// Number of connections that the server allows to all clients, or to this account if that is less.
[[nodiscard]] std::uint64_t connections_allowed(db::Connection& db);

// Whether an acknowledged commit survives the loss of the server: [database] required =
// "replicated".
// Reasons why an acknowledged commit may be lost with the server, each with what to set; empty: it
// is also on a second server. Pure.
[[nodiscard]] std::vector<std::string> replication_gaps(const ServerFacts& facts);

// Throws DbError (kUnfitServer) that names all gaps.
void require_replicated(db::Connection& db);

}  // namespace allot::queue
