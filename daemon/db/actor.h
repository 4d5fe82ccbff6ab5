// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace allot::db {

// Person or component on whose behalf a connection acts, for audit entries (queue/model/audit.h).
struct Actor {
  std::string name;    // "token:ann", "ann@host"
  std::string source;  // "gateway", "cli", "configuration"
  std::string reason{};
};

}  // namespace allot::db
