// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <map>
#include <string>

#include "db/connection.h"

// Settings and clock of a server.
namespace allot::queue {

// The relevant settings that this server has.
std::map<std::string, std::string> server_variables(db::Connection& db);

// Whether the switch differs from its default for all sessions. False also if this account may not
// read it.
bool optimizer_switch_changed(db::Connection& db);

// The database's clock, UTC.
std::chrono::sys_time<std::chrono::microseconds> database_clock(db::Connection& db);

}  // namespace allot::queue
