// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/clock.h"

// How often the scouts of a pool poll (S77). Pure functions, for the finder.
namespace allot::worker {

// The polling floor: the longest time without a poll if nothing rings. With the delay of
// due_at.sql, a task starts within a second of its due time.
inline constexpr Nanos kPollingFloor = 900 * kMilli;
// The longest sleep of the workers that do not poll.
inline constexpr std::uint32_t kMostFloors = 11;
// After a poll that found something, and after the first one that did not.
inline constexpr Nanos kBusyInterval = 10 * kMilli;
inline constexpr Nanos kFirstIdleInterval = 50 * kMilli;
// S76: first poll for a task that was announced and is not visible yet.
inline constexpr Nanos kAnnouncedInterval = 2 * kMilli;
// After a task that nothing rang for; and for how long.
inline constexpr Nanos kQuickInterval = 20 * kMilli;
inline constexpr Nanos kQuickFor = 2 * kSecond;

// Limit of the interval, by the time since the last task that nothing rang for: others may come in
// the same way. It grows with that time, up to the floor.
constexpr Nanos longest_interval(Nanos since_unrung) {
  if (since_unrung <= kQuickFor) return kQuickInterval;
  return std::clamp((since_unrung - kQuickFor) / 10, kQuickInterval, kPollingFloor);
}

// Sleep of an idle worker that is not the stand-by for the next poll. The workers of a pool sleep
// for one floor, two, three and so on: if the stand-by is lost another one polls soon, and hundreds
// of workers do not wake at each floor.
constexpr Nanos deep_sleep(std::uint32_t slot, std::uint32_t others_asleep) {
  return kPollingFloor * (1 + std::min(slot % (others_asleep + 1), kMostFloors - 1));
}

constexpr Nanos grown_interval(Nanos last) {
  if (last == kBusyInterval) return kFirstIdleInterval;
  if (last < kFirstIdleInterval) return last * 4;
  return std::min(last, kPollingFloor) * 2;
}

// Time until the next poll after one that found nothing. `last`: the interval before that poll; it
// comes from the board, so any value is possible.
constexpr Nanos next_interval(Nanos last, Nanos since_unrung) {
  return std::clamp(grown_interval(last), kAnnouncedInterval, longest_interval(since_unrung));
}

}  // namespace allot::worker
