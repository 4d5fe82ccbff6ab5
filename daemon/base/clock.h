// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>

namespace allot {

// Clocks and durations in nanoseconds, for every program.
using Nanos = std::uint64_t;

inline constexpr Nanos kMicro = 1'000;
inline constexpr Nanos kMilli = 1'000'000;
inline constexpr Nanos kSecond = 1'000'000'000;

inline constexpr Nanos in_nanos(std::chrono::nanoseconds span) {
  return static_cast<Nanos>(span.count());
}

// Milliseconds for printf.
inline unsigned long long in_ms(Nanos span) {
  return span / kMilli;
}

inline Nanos clock_ns(clockid_t id) {
  timespec ts{};
  clock_gettime(id, &ts);
  return static_cast<Nanos>(ts.tv_sec) * kSecond + static_cast<Nanos>(ts.tv_nsec);
}

// For deadlines: this clock runs while the machine sleeps, so a lease that ended during a suspend
// has ended.
inline Nanos boot_ns() {
  return clock_ns(CLOCK_BOOTTIME);
}

// For heartbeats: this clock stops while the machine sleeps, so a resume does not look like a
// freeze.
inline Nanos mono_ns() {
  return clock_ns(CLOCK_MONOTONIC);
}

}  // namespace allot
