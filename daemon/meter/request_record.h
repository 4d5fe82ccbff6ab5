// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "meter/record.h"

// Layout of a gateway's request counts. A change of it needs a new kRequestVersion: the gateway
// resets a record of another version.
namespace allot::meter {

inline constexpr char kRequestMagic[8] = {'A', 'l', 'l', 'o', 't', 'R', 'e', 'q'};
inline constexpr std::uint32_t kRequestVersion = 1;
inline constexpr std::size_t kRoutes = 128;  // with routes of other versions since allotd started
inline constexpr std::size_t kRouteNameSize = 32;
inline constexpr std::size_t kStatusClasses = 5;  // 1xx to 5xx

// Upper bounds of the times, in microseconds; one more bucket is above the last.
inline constexpr std::array<std::uint64_t, 11> kRequestBucketsUs{
    1'000,   2'500,   5'000,     10'000,    25'000,    50'000,
    100'000, 500'000, 1'000'000, 5'000'000, 30'000'000};

// NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): mapped over a file of zero bytes
struct RouteCounts {
  // Places are taken in order, and none is released. Stored after the name, as Record::hashes are;
  // 0: the place is free.
  Counter taken;
  char name[kRouteNameSize];
  Counter answers[kStatusClasses];
  Counter buckets[kRequestBucketsUs.size() + 1];
  Counter took_ns;  // sum of the values in the buckets
};

// NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): mapped over a file of zero bytes
struct RequestRecord {
  Head head;
  RouteCounts routes[kRoutes];
};

}  // namespace allot::meter
