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

// Counts of each type on all hosts over the last eight days, by hour (decision 0030).
namespace allot::queue {

inline constexpr std::uint32_t kTypeHoursKept = 8 * 24;
inline constexpr std::uint32_t kMostTypeRows = 20'000;  // limit of one call

// Number of durations in each bucket of kHourBoundsMs.
struct Histogram {
  std::array<std::uint64_t, kHourBuckets> buckets{};

  [[nodiscard]] std::uint64_t count() const;
  // Approximate: interpolated within the bucket; above the last bound it is that bound. nullopt:
  // empty. `part` 0.99: the time that 99 % do not exceed.
  [[nodiscard]] std::optional<std::chrono::microseconds> percentile(double part) const;
  void add(const Histogram& other);
};

struct TypeCounts {
  std::uint64_t done = 0;
  std::uint64_t retried = 0;
  std::uint64_t dead = 0;
  Histogram ran{};
  // From the due time of a task until its handler was called. Excludes attempts whose worker died.
  Histogram waited{};

  [[nodiscard]] std::uint64_t attempts() const { return done + retried + dead; }
  void add(const TypeCounts& other);
};

// The columns of type_hour in this order.
[[nodiscard]] std::vector<std::string> hour_columns();

struct TypeStep {
  std::string at;  // its start, UTC, ISO 8601
  TypeCounts counts{};
};

struct TypeView {
  std::string queue;
  std::string type;
  TypeCounts all{};
  std::vector<TypeStep> steps{};  // oldest first; only steps with an attempt
};

struct TypesWanted {
  std::string queue{};       // empty: all
  std::string type{};        // empty: all
  std::uint32_t hours = 24;  // the last ones, including the current one
  std::uint32_t step = 1;    // hours that are merged into one
};

struct Types {
  std::vector<TypeView> list{};  // most attempts first
  bool more = false;             // older steps are left out, beyond the limit of rows
};
[[nodiscard]] Types list_types(db::Connection& db, const TypesWanted& wanted);

}  // namespace allot::queue
