// SPDX-License-Identifier: Apache-2.0
#include "fault/servers.h"

#include "e2e/full_disk.h"

namespace allot::fault {

Server Servers::make(Wish wish, bool full) {
  const auto [binlog, clock] = wish;
  std::vector<std::string> settings;
  if (full) {
    e2e::FullDisk::ignore_signal();
    settings = e2e::FullDisk::server_settings();  // without a binary log
  } else if (binlog) {
    settings = {"--log-bin", "--sync-binlog=1", "--server-id=1"};
  } else {
    settings = {"--skip-log-bin"};
  }
  Server server;
  std::vector<std::string> environment;
  if (clock) {
    server.clock = std::make_unique<support::SteppedClock>();
    environment = server.clock->environment();
  }
  server.database = std::make_unique<support::Database>(
      std::move(settings), support::Network::kNone, std::move(environment));
  return server;
}

Server& Servers::of(const Draw& draw) {
  full_ = {};
  const Wish wish{draw.binlog || binlog_, draw.suffers(Kind::kClockStep)};
  if (draw.suffers(Kind::kFillDisk)) {
    full_ = make(wish, true);
    return full_;
  }
  auto found = kept_.find(wish);
  if (found == kept_.end()) found = kept_.emplace(wish, make(wish, false)).first;
  found->second.database->start();
  return found->second;
}

}  // namespace allot::fault
