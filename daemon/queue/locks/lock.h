// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"

// What a named lock is: docs/locks.md.
namespace allot::queue {

inline constexpr std::size_t kMaxLockName = 255;  // bytes
inline constexpr std::uint32_t kMaxSlots = 1024;  // the low ten bits of a token
inline constexpr std::chrono::seconds kShortestLockTtl{1};
inline constexpr std::chrono::hours kLongestLockTtl{24};

// Which lock somebody wants.
struct LockSpec {
  std::string name;
  std::optional<std::uint32_t> slots{};  // without: those that it has; 1 where it is new
  std::chrono::milliseconds ttl{30'000};
};

// Throws Error(kExitBadInput) that names the field.
void validate(const LockSpec& spec);
void validate_lock_name(const std::string& name);
void validate_slots(std::uint32_t slots);

// A slot of a lock that this process has taken. The token is its epoch, and the fence.
struct HeldLock {
  std::string name;
  std::uint32_t slot = 0;
  std::uint64_t token = 0;
  std::uint64_t holder = 0;
  std::chrono::milliseconds ttl{0};
  Nanos sent_ns = 0;  // CLOCK_BOOTTIME, when the statement was sent that took or renewed it
};

// The earliest time at which somebody else could have the lock, if it is not renewed (S38):
// whoever frees it has seen it standing still for a TTL, and saw nothing before `sent_ns`.
[[nodiscard]] Nanos ends_ns(const HeldLock& lock);
// How long before that its holder is done with it (S39).
[[nodiscard]] Nanos margin_ns(const HeldLock& lock);
// How long before that it begins to end: a lock that was not renewed by then is given up.
[[nodiscard]] Nanos spare_ns(const HeldLock& lock);

// The largest token that this process has seen, so that it takes none that is smaller, also on a
// server whose clock is behind (S40). Any thread.
class TokenFloor {
 public:
  void saw(std::uint64_t token);
  // Microseconds since 2025, as the upper bits of a token: at least these. 0: it has seen none.
  [[nodiscard]] std::uint64_t least_us() const;

 private:
  std::atomic<std::uint64_t> largest_{0};
};

}  // namespace allot::queue
