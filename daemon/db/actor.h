// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace allot::db {

// Person or component on whose behalf a connection acts, for audit entries (queue/model/audit.h).
struct Actor {
  std::string who;   // "token:ann", "ann@host"
  std::string door;  // "gateway", "cli", "configuration"
  std::string reason{};
};

}  // namespace allot::db
