// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "db/connection.h"

// Removes rows that are past their time (C10).
namespace allot::queue {

inline constexpr std::uint32_t kPurgeBatch = 1000;   // rows per statement
inline constexpr std::chrono::hours kKeepUnique{1};  // how long the row of a free key stays

// Each removes one batch of rows that are older than `keep`, and may be repeated after a lost
// reply. True: there may be more.
bool purge_history(db::Connection& db, std::uint32_t queue_id, std::chrono::microseconds keep);
bool purge_dead(db::Connection& db, std::uint32_t queue_id, std::chrono::microseconds keep);
// Purges the keys behind `after`, which moves on; it is empty at the end. Cuts the time of those
// that a clock that was ahead left taken for too long.
bool purge_unique(db::Connection& db, std::uint32_t queue_id, std::string& after);

// Removes one batch of the entries of the audit that are more than 90 days old, or not among the
// newest million. True: there may be more.
bool purge_audit(db::Connection& db);

}  // namespace allot::queue
