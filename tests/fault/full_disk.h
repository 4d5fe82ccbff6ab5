// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "db/connection.h"
#include "support/database.h"

namespace allot::fault {

// Until it is destroyed, the files of a server may not grow and have no room left (1114), as on a
// full disk. It needs no root, because it limits the size of that process's files.
class FullDisk {
 public:
  // The settings of a server for which that works: all tables in one file, and a smaller log.
  static std::vector<std::string> server_settings();
  // Call it before such a server starts, so that the server gets an error, and no signal that kills
  // it.
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
