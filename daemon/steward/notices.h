// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/settings.h"
#include "ipc/board.h"
#include "process/session.h"
#include "queue/notices/notice.h"
#include "steward/chore.h"
#include "steward/other_servers.h"
#include "steward/served.h"
#include "steward/unknown_tasks.h"

namespace allot::steward {

// Checks periodically for conditions that people should know about (C9): raises present ones, and
// clears past ones, with a log event and, if configured, a task for each change. One host checks
// for all. A type without a handler is known only to the host that runs the worker, so each host
// raises that itself.
class Notices {
 public:
  struct Parts {
    process::Session& session;
    ipc::Board& board;
    const config::Settings& settings;
    const std::vector<Served>& served;
    UnknownTasks& unknown;
    OtherServers& servers;
  };
  explicit Notices(const Parts& parts) : parts_(parts) {}

  [[nodiscard]] std::vector<Chore> chores();

 private:
  void raise_and_clear();
  void raise_unknown();
  [[nodiscard]] std::vector<queue::Notice> poll(db::Connection& db) const;
  [[nodiscard]] std::vector<queue::Notice> late_purges(db::Connection& db) const;
  [[nodiscard]] bool over(db::Connection& db, const queue::RaisedNotice& raised,
                          const std::vector<queue::Notice>& now) const;
  [[nodiscard]] bool knows(const std::string& queue) const;
  void change(const queue::Notice& notice, bool raise);
  [[nodiscard]] std::optional<queue::Submission> about(const queue::Notice& notice, bool raise);

  Parts parts_;
};

}  // namespace allot::steward
