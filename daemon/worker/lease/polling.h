// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/clock.h"

// How often the scouts of a pool look (S77).
namespace allot::worker {

// The polling floor: the longest time without a look when nothing rings. With what due_at.sql adds,
// a task starts within a second of its moment.
inline constexpr Nanos kPollingFloor = 900 * kMilli;
// The longest sleep of those that do not look.
inline constexpr std::uint32_t kMostFloors = 11;
// After a look that found something, and after the first one behind it that did not.
inline constexpr Nanos kBusyInterval = 10 * kMilli;
inline constexpr Nanos kFirstIdleInterval = 50 * kMilli;
// S76: the first of the looks for a task that was announced and cannot be seen yet.
inline constexpr Nanos kAnnouncedInterval = 2 * kMilli;
// After a task that nothing rang for; and for how long.
inline constexpr Nanos kQuickInterval = 20 * kMilli;
inline constexpr Nanos kQuickFor = 2 * kSecond;

// At most so long between two looks when the last task that nothing rang for was found so long ago:
// others may come as it did. The interval grows with that time, to the floor.
constexpr Nanos longest_interval(Nanos since_unrung) {
  if (since_unrung <= kQuickFor) return kQuickInterval;
  return std::clamp((since_unrung - kQuickFor) / 10, kQuickInterval, kPollingFloor);
}

// How long an idle worker sleeps that does not stand by for the next look. The workers of a pool
// sleep for one floor, two, three and so on, so that where the one that stands by is lost another
// one looks soon, and hundreds of them do not wake each floor.
constexpr Nanos deep_sleep(std::uint32_t slot, std::uint32_t others_asleep) {
  return kPollingFloor * (1 + std::min(slot % (others_asleep + 1), kMostFloors - 1));
}

constexpr Nanos grown_interval(Nanos last) {
  if (last == kBusyInterval) return kFirstIdleInterval;
  if (last < kFirstIdleInterval) return last * 4;
  return std::min(last, kPollingFloor) * 2;
}

// Until the next look after one that found nothing. `last`: what it was before that look; anybody
// may have written it to the board.
constexpr Nanos next_interval(Nanos last, Nanos since_unrung) {
  return std::clamp(grown_interval(last), kAnnouncedInterval, longest_interval(since_unrung));
}

}  // namespace allot::worker
