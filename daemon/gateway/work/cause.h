// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <string>

namespace allot::gateway::work {

// Writes a database error to the log (gateway.refused), because it names accounts, hosts, files and
// statements that clients must not see. Returns the reference for the client, as "(gateway.refused,
// reference 1f3a90c2, in the gateway's log)".
std::string note_cause(const std::exception& error);

}  // namespace allot::gateway::work
