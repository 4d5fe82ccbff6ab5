// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "db/connection.h"

// Removes rows that are past their time (C10).
namespace allot::queue {

inline constexpr std::uint32_t kPurgeBatch = 1000;   // rows per statement
inline constexpr std::chrono::hours kKeepUnique{1};  // how long the row of a free key is kept

// Each removes one batch of rows that are older than `keep`, and may be repeated after a lost
// reply. True: there may be more.
bool purge_history(db::Connection& db, std::uint32_t queue_id, std::chrono::microseconds keep);
bool purge_dead(db::Connection& db, std::uint32_t queue_id, std::chrono::microseconds keep);
// Purges keys after `after`, which advances and is empty at the end. Shortens reservations that a
// clock that was ahead left too long.
bool purge_unique(db::Connection& db, std::uint32_t queue_id, std::string& after);

// Removes one batch of audit entries that are older than 90 days or not among the newest million.
// True: there may be more.
bool purge_audit(db::Connection& db);

// How far the oldest row is past its retention; nullopt: no row is.
struct PurgeLag {
  std::optional<std::chrono::seconds> history{};
  std::optional<std::chrono::seconds> dead{};
};
PurgeLag purge_lag(db::Connection& db, std::uint32_t queue_id, std::chrono::microseconds history,
                   std::chrono::microseconds dead);

}  // namespace allot::queue
