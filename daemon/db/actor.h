// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace allot::db {

// On whose behalf a connection is used: what queue/model/audit.h writes about an operator's action.
struct Actor {
  std::string who;   // "token:ann", "ann@host"
  std::string door;  // "gateway", "cli", "configuration"
  std::string reason{};
};

}  // namespace allot::db
