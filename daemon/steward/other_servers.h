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

// Looks every few seconds at all servers of the list (S53), in a thread of its own, because a
// server that gives no answer would keep the chores waiting. A server that takes writes although
// another one has a higher term is marked there, so that submissions in plain SQL are refused as
// well; what the host remembers of the servers (db::TermMemory) stays fresh for one-shot commands.
// With one server there is no thread.
class OtherServers {
 public:
  explicit OtherServers(db::ConnectOptions options);
  OtherServers(const OtherServers&) = delete;
  OtherServers& operator=(const OtherServers&) = delete;
  ~OtherServers();

  // Servers that take writes and are not the writer, as they were found last. For the steward's
  // thread.
  [[nodiscard]] std::vector<queue::Notice> second_writers() ALLOT_EXCLUDES(mutex_);

 private:
  void watch() ALLOT_EXCLUDES(mutex_);
  void look() ALLOT_EXCLUDES(mutex_);

  const db::ConnectOptions options_;
  Mutex mutex_;
  CondVar changed_;
  bool ends_ ALLOT_GUARDED_BY(mutex_) = false;
  std::vector<queue::Notice> found_ ALLOT_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace allot::steward
