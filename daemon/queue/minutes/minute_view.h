// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "db/connection.h"
#include "queue/minutes/minute.h"

// What curves are drawn from, and the instances that wrote it. Times are UTC, ISO 8601.
namespace allot::queue {

enum class MinutesBy : std::uint8_t { kQueue, kType, kError };

inline constexpr std::chrono::hours kMinutesKept{24 * 7};
inline constexpr std::uint32_t kMostMinuteRows = 10'000;  // as many as one look may read

struct MinutesWanted {
  std::string queue{};  // empty: all
  MinutesBy by = MinutesBy::kQueue;
  std::chrono::microseconds since = std::chrono::hours(1);  // until now
  std::uint32_t step = 1;                                   // minutes that are shown as one
};

// One step of a queue; or of one of its types, or of one of the error groups of a type, which have
// no backlog.
struct MinuteView {
  std::string at;  // its begin
  MinuteKey key;   // of what is asked for
  std::string error{};
  MinuteCounts counts{};
  // Tasks that waited or ran detached at the end of the step; nullopt: nobody looked.
  std::optional<std::uint64_t> backlog{};
  bool estimated = false;  // the backlog, here or a step before: what the server believes
  // Tasks that came: those that left, and the change of the backlog. Nobody counts submissions. It
  // is negative where tasks were taken out otherwise: cancelled while they waited, or moved.
  std::optional<std::int64_t> in{};
};

struct Minutes {
  std::vector<MinuteView> list{};  // the newest first, then by name
  bool more = false;               // there are older ones, which would be too many
};
[[nodiscard]] Minutes list_minutes(db::Connection& db, const MinutesWanted& wanted);

// A pool of an instance, and the queues that it serves.
struct ServingPool {
  std::string name;
  unsigned workers = 0;
  std::vector<std::string> queues{};  // "*": it may serve any
};

struct InstanceRow {
  std::string host;
  std::string instance;
  std::string version;
  std::string since;  // when its allotd started
  std::string seen;   // the last sign of life
  std::chrono::seconds silent{0};
  std::vector<ServingPool> pools{};  // empty: it does not say
};
// One that gave no sign for so long is shown as silent: it gives one each minute.
inline constexpr std::chrono::seconds kInstanceSilent{150};
[[nodiscard]] std::vector<InstanceRow> list_instances(db::Connection& db);

}  // namespace allot::queue
