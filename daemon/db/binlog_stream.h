// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "base/unique_fd.h"
#include "db/connection.h"

namespace allot::db {

// The binary log of a server from its current end on, as the server sends it to a replica. For one
// thread, except interrupt(). Never a semi-synchronous replica, so no commit waits for it.
class BinlogStream {
 public:
  // Connects and registers as a replica with that id; 0, the usual value: a random one. `options`
  // have one server or a socket, and no database; `database` has the tasks. Throws DbError that
  // names what is missing: a right of the account, the log, its format, or a connector that can
  // read it.
  BinlogStream(const ConnectOptions& options, std::string database, std::uint32_t server_id = 0);
  BinlogStream(const BinlogStream&) = delete;
  BinlogStream& operator=(const BinlogStream&) = delete;
  ~BinlogStream();

  enum class Event {
    kOther,  // or the server's heartbeat, sent each second
    kTasks,  // inserted, or made due: the transaction is committed, but may not be visible yet
    kLast,   // of this log file: read the next one with another stream
  };
  // Waits for the next event. Throws DbError when the stream has ended, for any reason.
  Event next();

  // Number of tasks of the last event that may start now, by queue id; 0: any queue.
  [[nodiscard]] const std::map<std::uint32_t, std::size_t>& due() const { return due_; }

  // Ends the stream: next() throws. For any thread.
  void interrupt();

  [[nodiscard]] const std::string& where() const { return connection_.where(); }
  [[nodiscard]] std::uint32_t server_id() const { return server_id_; }

 private:
  struct Handle;
  void open();

  Connection connection_;
  std::string database_;
  std::uint32_t server_id_;
  std::unique_ptr<Handle> handle_;
  std::map<std::uint32_t, std::size_t> due_;
  UniqueFd socket_;  // a duplicate, because the connector may close its own descriptor at any time
};

}  // namespace allot::db
