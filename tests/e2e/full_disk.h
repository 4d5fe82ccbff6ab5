// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "db/connection.h"
#include "support/database.h"

namespace allot::e2e {

// Until it is destroyed, the files of a server may not grow and have no room left (1114), as on a
// full disk. It needs no root, because it limits the size of that process's files.
class FullDisk {
 public:
  // The settings of a server for which that works: all tables in one file, a smaller log, and no
  // binary log, which would fill the disk on its own.
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
  void fill(std::size_t size);
  // Each file may grow to the size of the largest, and only the file of the tables is to be full.
  void make_it_the_largest();

  support::Database& server_;
  std::optional<db::Connection> db_;
  std::string folder_;
  std::string tables_;  // the file
  pid_t pid_;
};

}  // namespace allot::e2e
