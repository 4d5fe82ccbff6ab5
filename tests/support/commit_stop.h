// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "db/connection.h"

namespace allot::support {

// Blocks every commit on this server as long as it exists; everything else continues. On MariaDB by
// a backup stage, on MySQL by waiting for a replica that does not exist. Do not write on `db` in
// this time, because the write would wait for its own end.
class CommitStop {
 public:
  explicit CommitStop(db::Connection& db);
  CommitStop(const CommitStop&) = delete;
  CommitStop& operator=(const CommitStop&) = delete;
  ~CommitStop();

  // Number of statements that match `pattern` (of LIKE) and wait for their commit.
  [[nodiscard]] std::uint64_t waiting(const std::string& pattern);

 private:
  db::Connection& db_;
};

}  // namespace allot::support
