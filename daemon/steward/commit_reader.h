// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <thread>

#include "db/binlog_stream.h"
#include "db/connection.h"
#include "ipc/board.h"
#include "steward/chore.h"
#include "thread/mutex.h"
#include "worker/process/session.h"

namespace allot::steward {

// Wakes workers of this host when a task is committed, whoever committed it: it follows the
// server's binary log (S76). It does so in a thread of its own, only while a worker sleeps, and
// with an account of its own. It keeps no position: it begins at the present end, and wakes workers
// once for what was committed before. As a chore it sees to it that the log is that of the server
// that the steward uses.
class CommitReader : public Chore {
 public:
  // `options`: the account of [wake], and no database; `database` has the tasks.
  CommitReader(worker::Session& session, ipc::Board& board, db::ConnectOptions options,
               std::string database);
  CommitReader(const CommitReader&) = delete;
  CommitReader& operator=(const CommitReader&) = delete;
  ~CommitReader() override;

  void look() override;
  [[nodiscard]] Nanos next_ns() const override { return next_ns_; }

 private:
  class Followed;

  void run() ALLOT_EXCLUDES(mutex_);
  void note(const std::string& trouble) ALLOT_REQUIRES(mutex_);
  // Until no worker sleeps, the log file ends, or interrupt(); else the reason.
  std::string follow(const db::ConnectOptions& options) ALLOT_EXCLUDES(mutex_);
  void read(db::BinlogStream& stream) ALLOT_EXCLUDES(mutex_);
  void interrupt() ALLOT_REQUIRES(mutex_);
  [[nodiscard]] bool interrupted() ALLOT_EXCLUDES(mutex_);

  worker::Session& session_;
  ipc::Board& board_;
  const db::ConnectOptions options_;
  const std::string database_;
  Nanos next_ns_ = 0;
  std::optional<std::uint64_t> generation_;  // of the session, when its server was looked up

  Mutex mutex_;
  CondVar changed_;
  bool ends_ ALLOT_GUARDED_BY(mutex_) = false;
  bool interrupted_ ALLOT_GUARDED_BY(mutex_) = false;
  std::optional<db::ConnectOptions> server_ ALLOT_GUARDED_BY(mutex_){};  // that the steward uses
  db::BinlogStream* stream_ ALLOT_GUARDED_BY(mutex_) = nullptr;
  std::string noted_ ALLOT_GUARDED_BY(mutex_){};  // trouble that the log has already
  bool followed_ ALLOT_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace allot::steward
