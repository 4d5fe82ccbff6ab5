// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "db/connection.h"

// Recognises proxies between Allot and its servers by name. Others are found by their behaviour:
// Connection::require_session(), queue/server/rehearsal.h.
namespace allot::db {

// Name of the proxy that answers this connection; empty if unknown. One trip at most.
[[nodiscard]] std::string proxy_name(Connection& db);

// Throws DbError(kUnfitServer) if the version `greeting` is from a proxy that does not give each
// connection its own session. `where` is for the message.
void refuse_by_greeting(std::string_view greeting, const std::string& where);

}  // namespace allot::db
