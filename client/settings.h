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
  std::string runtime_dir;                      // empty: nobody is woken
  std::map<std::string, config::Queue> queues;  // those that are missing are made
};

// Both throw Error(kExitConfig).
[[nodiscard]] Settings from_client(const ClientSettings& settings);
[[nodiscard]] Settings from_file(const std::string& path);

}  // namespace allot::client
