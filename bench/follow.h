// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "bench/child.h"
#include "bench/stage.h"
#include "db/connection.h"

namespace allot::bench {

// Configuration section that makes a daemon follow the server's binary log, with the account of the
// benchmark.
[[nodiscard]] std::string wake_section(const Stage& stage);
// Waits until the server sends its log. Throws Error if the daemon ended, or after a minute.
void wait_until_followed(db::Connection& db, Child& allotd, const std::string& log_file);

}  // namespace allot::bench
