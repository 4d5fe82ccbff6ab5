// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "db/connection.h"
#include "queue/minutes/minute.h"

// Data for charts. Times are UTC, ISO 8601.
namespace allot::queue {

enum class MinutesBy : std::uint8_t { kQueue, kType, kError };

inline constexpr std::chrono::hours kMinutesKept{24 * 7};
inline constexpr std::uint32_t kMostMinuteRows = 10'000;  // limit of rows that one call reads

struct MinutesWanted {
  std::string queue{};  // empty: all
  MinutesBy by = MinutesBy::kQueue;
  std::chrono::microseconds since = std::chrono::hours(1);  // until now
  std::uint32_t step = 1;                                   // minutes that are merged into one
};

// One step of a queue, or of one of its types or error groups, which have no backlog.
struct MinuteView {
  std::string at;  // its start
  MinuteKey key;   // parts that were requested
  std::string error{};
  MinuteCounts counts{};
  // Tasks that were waiting or detached at the end of the step; nullopt: not recorded.
  std::optional<std::uint64_t> backlog{};
  bool estimated = false;  // the backlog here or a step before is an estimate of the server
  // Tasks that arrived: tasks that left plus the change of the backlog, because submissions are not
  // counted. Negative if tasks were removed otherwise: cancelled while waiting, or moved.
  std::optional<std::int64_t> in{};
};

struct Minutes {
  std::vector<MinuteView> list{};  // newest first, then by name
  bool more = false;               // there are older ones, beyond the limit of rows
};
[[nodiscard]] Minutes list_minutes(db::Connection& db, const MinutesWanted& wanted);

}  // namespace allot::queue
