// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "db/connection.h"
#include "support/database.h"

namespace allot::fault {

// A server whose files may not grow and have no room left (1114), as on a full disk, until this is
// destroyed. Needs no right of root: it is the limit of that process for the size of its files.
class FullDisk {
 public:
  // Of a server for which that works: all tables are in one file, and the log is smaller.
  static std::vector<std::string> server_settings();
  // To be called before such a server starts: it shall get an error, and no signal that kills it.
  static void ignore_signal();

  // `db`: a session of `server`; nullopt: it is down.
  FullDisk(support::Database& server, std::optional<db::Connection> db);
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;
  ~FullDisk();

  void begin();

 private:
  void limit(std::uint64_t size) const;

  support::Database& server_;
  std::optional<db::Connection> db_;
  pid_t pid_;
};

}  // namespace allot::fault
