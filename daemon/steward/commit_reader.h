// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <thread>

#include "db/binlog_stream.h"
#include "db/connection.h"
#include "ipc/board.h"
#include "process/session.h"
#include "steward/chore.h"
#include "thread/mutex.h"

namespace allot::steward {

// Wakes workers of this host when a task is committed by any client: it follows the server's binary
// log (S76). It does so in its own thread, only while a worker sleeps, and with its own account. It
// keeps no position: it begins at the present end, and wakes workers once for earlier commits. As a
// chore it makes sure that the log belongs to the server that the steward uses.
class CommitReader {
 public:
  // `options`: the account of [wake], without a database; `database` has the tasks.
  CommitReader(process::Session& session, ipc::Board& board, db::ConnectOptions options,
               std::string database);
  CommitReader(const CommitReader&) = delete;
  CommitReader& operator=(const CommitReader&) = delete;
  ~CommitReader();

  [[nodiscard]] Chore chore();

 private:
  void check_server() ALLOT_EXCLUDES(mutex_);
  void run(const std::stop_token& stop) ALLOT_EXCLUDES(mutex_);
  void note(const std::string& trouble) ALLOT_REQUIRES(mutex_);
  // Follows the log until no worker sleeps, the log file ends, or interrupt(); otherwise returns
  // the reason.
  std::string follow(const db::ConnectOptions& options) ALLOT_EXCLUDES(mutex_);
  void read(db::BinlogStream& stream) ALLOT_EXCLUDES(mutex_);
  void interrupt() ALLOT_REQUIRES(mutex_);
  [[nodiscard]] bool interrupted() ALLOT_EXCLUDES(mutex_);

  process::Session& session_;
  ipc::Board& board_;
  const db::ConnectOptions options_;
  const std::string database_;
  std::optional<std::uint64_t> generation_;  // of the session at the last server lookup

  Mutex mutex_;
  CondVar changed_;
  bool interrupted_ ALLOT_GUARDED_BY(mutex_) = false;
  std::optional<db::ConnectOptions> server_ ALLOT_GUARDED_BY(mutex_){};  // the steward's server
  db::BinlogStream* stream_ ALLOT_GUARDED_BY(mutex_) = nullptr;
  std::string noted_ ALLOT_GUARDED_BY(mutex_){};  // trouble that is already in the log
  bool followed_ ALLOT_GUARDED_BY(mutex_) = false;
  std::jthread thread_;  // last: it uses all members above
};

}  // namespace allot::steward
