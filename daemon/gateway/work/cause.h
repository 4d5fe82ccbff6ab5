// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <string>

namespace allot::gateway::work {

// What the database says names accounts, hosts, files and statements: that is for whoever reads the
// log, and not for who sends requests. Writes it there (gateway.refused), and returns what a caller
// may be told: where it stands, as "(gateway.refused, reference 1f3a90c2, in the gateway's log)".
std::string note_cause(const std::exception& error);

}  // namespace allot::gateway::work
