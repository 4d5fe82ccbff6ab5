// SPDX-License-Identifier: Apache-2.0
#include "queue/locks/lock.h"

#include <algorithm>

#include "base/error.h"
#include "base/mutant.h"
#include "queue/model/lease.h"

namespace allot::queue {
namespace {

constexpr unsigned kSlotBits = 10;
constexpr Nanos kLeastMargin = 100 * kMilli;

}  // namespace

void validate_lock_name(const std::string& name) {
  if (!name.empty() && name.size() <= kMaxLockName) return;
  throw Error("name of " + std::to_string(name.size()) + " bytes: allowed are 1 to " +
                  std::to_string(kMaxLockName),
              kExitBadInput);
}

void validate_slots(std::uint32_t slots) {
  if (slots >= 1 && slots <= kMaxSlots) return;
  throw Error(
      "slots " + std::to_string(slots) + ": 1 to " + std::to_string(kMaxSlots) + " are allowed",
      kExitBadInput);
}

void validate(const LockSpec& spec) {
  validate_lock_name(spec.name);
  if (spec.slots) validate_slots(*spec.slots);
  if (spec.ttl < kShortestLockTtl || spec.ttl > kLongestLockTtl) {
    throw Error("ttl " + std::to_string(spec.ttl.count()) + "ms: 1s to 24h are allowed",
                kExitBadInput);
  }
}

Nanos ends_ns(const HeldLock& lock) {
  return lock.sent_ns + in_ns(lock.ttl);
}

Nanos margin_ns(const HeldLock& lock) {
  return std::max(in_ns(lock.ttl) / 10, kLeastMargin);
}

Nanos spare_ns(const HeldLock& lock) {
  return in_ns(lock.ttl) / 4;
}

void TokenFloor::saw(std::uint64_t token) {
  std::uint64_t largest = largest_.load();
  while (largest < token && !largest_.compare_exchange_weak(largest, token)) {
  }
}

std::uint64_t TokenFloor::least_us() const {
  const std::uint64_t largest = largest_.load();
  if (largest == 0 || mutant::removed("lock_token_floor")) return 0;
  return (largest >> kSlotBits) + 1;
}

}  // namespace allot::queue
