// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "db/connection.h"

namespace allot::support {

// As long as it lives, no commit on this server ends: whoever commits waits, and everything else
// goes on. By a backup's stage on MariaDB; on MySQL by a replica that is waited for, which there is
// none. Make no other write on `db` meanwhile, because it would wait for itself.
class CommitStop {
 public:
  explicit CommitStop(db::Connection& db);
  CommitStop(const CommitStop&) = delete;
  CommitStop& operator=(const CommitStop&) = delete;
  ~CommitStop();

  // How many statements like `pattern` (of LIKE) wait for their commit.
  [[nodiscard]] std::uint64_t waiting(const std::string& pattern);

 private:
  db::Connection& db_;
};

}  // namespace allot::support
