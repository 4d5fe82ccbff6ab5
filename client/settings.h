// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "allot/client.h"
#include "config/settings.h"
#include "db/connection.h"

namespace allot::client {

struct Settings {
  db::ConnectOptions connect;
  std::string runtime_dir;                      // empty: the client wakes no workers
  std::map<std::string, config::Queue> queues;  // the client creates missing ones
};

// Both throw Error(kExitConfig).
[[nodiscard]] Settings from_client(const ClientSettings& settings);
[[nodiscard]] Settings from_file(const std::string& path);

}  // namespace allot::client
