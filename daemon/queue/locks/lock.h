// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"

// A named lock (docs/locks.md).
namespace allot::queue {

inline constexpr std::size_t kMaxLockName = 255;  // bytes
inline constexpr std::uint32_t kMaxSlots = 1024;  // the low ten bits of a token
inline constexpr std::chrono::seconds kShortestLockTtl{1};
inline constexpr std::chrono::hours kLongestLockTtl{24};

struct LockSpec {
  std::string name;
  std::optional<std::uint32_t> slots{};  // nullopt: as the lock has; 1 for a new lock
  std::chrono::milliseconds ttl{30'000};
};

// Throws Error(kExitBadInput) that names the field.
void validate(const LockSpec& spec);
void validate_lock_name(const std::string& name);
void validate_slots(std::uint32_t slots);

// A slot of a lock that this process has taken. The token is its epoch and serves as the fence.
struct HeldLock {
  std::string name;
  std::uint32_t slot = 0;
  std::uint64_t token = 0;
  std::uint64_t holder = 0;
  std::chrono::milliseconds ttl{0};
  Nanos sent_ns = 0;  // CLOCK_BOOTTIME when the statement that took or renewed it was sent
};

// Earliest time at which another holder could have the lock if it is not renewed (S38): a process
// that frees it has seen it unchanged for a TTL, and read nothing before `sent_ns`.
[[nodiscard]] Nanos ends_ns(const HeldLock& lock);
// Margin before ends_ns() by which the holder must have finished (S39).
[[nodiscard]] Nanos margin_ns(const HeldLock& lock);
// Time before ends_ns() at which a lock without a renewal is given up.
[[nodiscard]] Nanos spare_ns(const HeldLock& lock);

// Largest token that this process has seen. It takes no smaller one, even on a server whose clock
// is behind (S40). Any thread.
class TokenFloor {
 public:
  void saw(std::uint64_t token);
  // Lower bound in microseconds since 2025, as in the upper bits of a token. 0: no token seen.
  [[nodiscard]] std::uint64_t least_us() const;

 private:
  std::atomic<std::uint64_t> largest_{0};
};

}  // namespace allot::queue
