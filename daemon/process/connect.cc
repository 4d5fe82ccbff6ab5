// SPDX-License-Identifier: Apache-2.0
#include "process/connect.h"

#include <algorithm>

#include "log/log.h"

namespace allot::process {

db::Connection connect(const db::ConnectOptions& options) {
  db::Connection connection(options);
  for (const std::string& why : connection.passed_over()) {
    log::warn("database.skipped", {{"server", connection.where()}, {"text", why}});
  }
  return connection;
}

std::chrono::seconds lock_wait(std::chrono::microseconds ttl) {
  using std::chrono::seconds;
  return std::clamp(std::chrono::duration_cast<seconds>(ttl / 3), seconds(1), seconds(5));
}

}  // namespace allot::process
