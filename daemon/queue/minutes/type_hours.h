// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "db/connection.h"
#include "queue/minutes/minute.h"

// What all hosts counted of each type in the last eight days, hour by hour (decision 0030).
namespace allot::queue {

inline constexpr std::uint32_t kTypeHoursKept = 8 * 24;
inline constexpr std::uint32_t kMostTypeRows = 20'000;  // that one look may return

// How many of something lasted for how long, by kHourBoundsMs.
struct Histogram {
  std::array<std::uint64_t, kHourBuckets> buckets{};

  [[nodiscard]] std::uint64_t count() const;
  // Approximate: interpolated within its bucket; above the last bound it is that bound. nullopt:
  // nothing was counted. `part` is 0.99 for the time that 99 % do not exceed.
  [[nodiscard]] std::optional<std::chrono::microseconds> percentile(double part) const;
  void add(const Histogram& other);
};

struct TypeCounts {
  std::uint64_t done = 0;
  std::uint64_t retried = 0;
  std::uint64_t dead = 0;
  Histogram ran{};
  // From the time that a task was due until its handler was called. Not of attempts whose worker
  // died.
  Histogram waited{};

  [[nodiscard]] std::uint64_t attempts() const { return done + retried + dead; }
  void add(const TypeCounts& other);
};

struct TypeStep {
  std::string at;  // its begin, UTC, ISO 8601
  TypeCounts counts{};
};

struct TypeView {
  std::string queue;
  std::string type;
  TypeCounts all{};
  std::vector<TypeStep> steps{};  // the oldest first; those with any attempt
};

struct TypesWanted {
  std::string queue{};       // empty: all
  std::string type{};        // empty: all
  std::uint32_t hours = 24;  // the last ones, with the present one
  std::uint32_t step = 1;    // hours that are shown as one
};

struct Types {
  std::vector<TypeView> list{};  // those with the most attempts first
  bool more = false;             // older steps are left out, which would be too many
};
[[nodiscard]] Types list_types(db::Connection& db, const TypesWanted& wanted);

}  // namespace allot::queue
