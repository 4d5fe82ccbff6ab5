// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "db/connection.h"

// Proxies between Allot and its servers that say what they are. Others are found by what they do:
// Connection::require_session(), queue/server/rehearsal.h.
namespace allot::db {

// Name of the proxy that answers this connection; empty if none says so. One trip at most.
[[nodiscard]] std::string proxy_name(Connection& db);

// Throws DbError(kUnfitServer) if a server with the version `greeting` is a proxy that gives no
// connection a session of its own. `where` is for the message.
void refuse_by_greeting(std::string_view greeting, const std::string& where);

}  // namespace allot::db
