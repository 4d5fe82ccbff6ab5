// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "db/connection.h"

namespace allot::db {

// The binary log of a server from its present end on, as the server sends it to a replica. For one
// thread, but for interrupt(). It never is a semi-synchronous replica, so no commit waits for it.
class BinlogStream {
 public:
  // Connects, and registers as a replica with a random id. `options` have one server, or a socket,
  // and no database. Throws DbError that says what is missing: a right of the account, the log, its
  // format, or a connector that can read it.
  BinlogStream(const ConnectOptions& options, std::string database, std::string table);
  BinlogStream(const BinlogStream&) = delete;
  BinlogStream& operator=(const BinlogStream&) = delete;
  ~BinlogStream();

  enum class Event {
    kOther,     // or the server's sign of life, which comes each second
    kInserted,  // rows of the table: their transaction is committed, but may not be visible yet
    kLast,      // of this log file: follow the next one by a stream of its own
  };
  // Waits for the next one. Throws DbError when the stream has ended, whatever the reason.
  Event next();

  // Ends the stream: next() throws. For any thread.
  void interrupt();

  [[nodiscard]] const std::string& where() const { return connection_.where(); }
  [[nodiscard]] std::uint32_t server_id() const { return server_id_; }

 private:
  struct Handle;
  void open();

  Connection connection_;
  std::string database_;
  std::string table_;
  std::uint32_t server_id_;
  std::unique_ptr<Handle> handle_;
};

}  // namespace allot::db
