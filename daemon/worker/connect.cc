// SPDX-License-Identifier: Apache-2.0
#include "worker/connect.h"

#include "log/log.h"

namespace allot::worker {

db::Connection connect(const db::ConnectOptions& options) {
  db::Connection connection(options);
  for (const std::string& why : connection.passed_over()) {
    log::warn("database.passed_over", {{"used", connection.where()}, {"text", why}});
  }
  return connection;
}

}  // namespace allot::worker
