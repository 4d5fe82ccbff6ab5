// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "db/connection.h"
#include "support/database.h"

namespace allot::e2e {

// Until destruction, the files of a server cannot grow and have no room left (1114), like on a full
// disk. Needs no root, because it limits the file size of that process.
class FullDisk {
 public:
  // Server settings for which this works: all tables in one file, a smaller log, and no binary log,
  // which would fill the disk on its own.
  static std::vector<std::string> server_settings();
  // Call it before such a server starts, so that the server gets an error instead of a fatal
  // signal.
  static void ignore_signal();

  // `db`: a session of `server`; nullopt: the server is down.
  FullDisk(support::Database& server, std::optional<db::Connection> db);
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;
  ~FullDisk();

  void begin();

 private:
  void limit(std::uint64_t size) const;
  void fill(std::size_t size);
  // Each file may grow to the size of the largest, and only the file of the tables should be full.
  void make_it_the_largest();

  support::Database& server_;
  std::optional<db::Connection> db_;
  std::string folder_;
  std::string tables_;  // path of the file
  pid_t pid_;
};

}  // namespace allot::e2e
