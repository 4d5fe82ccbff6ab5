// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "allot/client.h"
#include "db/connection.h"
#include "queue/catalog.h"

namespace allot::client {

struct Settings {
  db::ConnectOptions connect;
  std::string runtime_dir;  // empty: nobody is woken
  // Of the configuration, by name. These are made when they are missing.
  struct Queue {
    queue::QueueShape shape;
    std::uint64_t compress_above;
  };
  std::map<std::string, Queue> queues;
};

// Both throw Error(kExitConfig).
[[nodiscard]] Settings from_client(const ClientSettings& settings);
[[nodiscard]] Settings from_file(const std::string& path);

}  // namespace allot::client
