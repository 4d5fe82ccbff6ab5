// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <thread>
#include <vector>

#include "db/connection.h"
#include "db/writer.h"
#include "queue/notices/notice.h"
#include "thread/mutex.h"

namespace allot::steward {

// Checks all servers of the list every few seconds (S53), in its own thread, because an
// unresponsive server would delay the chores. A server that accepts writes although another one has
// a higher term is marked, so that submissions in plain SQL are refused as well; the host's memory
// of the servers (db::TermMemory) stays fresh for one-shot commands. With one server the thread
// is not started.
class OtherServers {
 public:
  explicit OtherServers(db::ConnectOptions options);
  OtherServers(const OtherServers&) = delete;
  OtherServers& operator=(const OtherServers&) = delete;
  ~OtherServers() = default;

  // Servers that accept writes and are not the writer, by the last check. For the steward's thread.
  [[nodiscard]] std::vector<queue::Notice> second_writers() ALLOT_EXCLUDES(mutex_);

 private:
  void poll() ALLOT_EXCLUDES(mutex_);

  const db::ConnectOptions options_;
  Mutex mutex_;
  std::vector<queue::Notice> found_ ALLOT_GUARDED_BY(mutex_);
  std::jthread thread_;  // last: it uses all members above
};

}  // namespace allot::steward
