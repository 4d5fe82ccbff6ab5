// SPDX-License-Identifier: Apache-2.0
#include "queue/model/expired_holder_watch.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace allot::queue {
namespace {

constexpr Nanos kTtl = 6 * kSecond;
constexpr Nanos kStart = 1'000 * kSecond;

struct Seen {
  std::uint64_t epoch = 1;
  std::string expire_at = "then";
  bool expired = false;
  std::chrono::microseconds remaining{0};
  std::optional<std::chrono::microseconds> ttl = std::chrono::microseconds(kTtl / kMicro);
};
using Watched = ExpiredHolderWatch<int, Seen>;

// Looks once to be connected for TTL/2, so that takeovers are allowed at kStart.
Watched connected() {
  Watched watched(kTtl);
  watched.saw({}, 1, kStart - kTtl);
  return watched;
}

Seen expired() {
  return {.expired = true};
}

TEST(ExpiredHolderWatchTest, TakesWhatExpiredAndStoodStillForHalfALease) {
  Watched watched = connected();
  watched.saw({{7, expired()}}, 1, kStart);
  EXPECT_FALSE(watched.take(kStart + kTtl / 2 - 1));
  const auto still = watched.take(kStart + kTtl / 2);
  ASSERT_TRUE(still);
  EXPECT_FALSE(still->stale);
}

// A takeover that did not succeed (its row was locked) is tried again, but not in a loop.
TEST(ExpiredHolderWatchTest, GivesEachOnceBetweenTwoLooksAndRemembersSinceWhen) {
  Watched watched = connected();
  watched.saw({{7, expired()}}, 1, kStart);
  const Nanos later = kStart + kTtl / 2;
  ASSERT_TRUE(watched.take(later));
  EXPECT_FALSE(watched.take(later));
  watched.saw({{7, expired()}}, 1, later);
  EXPECT_TRUE(watched.take(later)) << "it stands still all the time";
  watched.saw({{7, Seen{.epoch = 2, .expired = true}}}, 1, later);
  EXPECT_FALSE(watched.take(later)) << "somebody was faster";
}

// S4: a clock of the database that went back would keep a dead holder's lease for ever.
TEST(ExpiredHolderWatchTest, WhatStoodStillForLongerThanALeaseIsTakenWhateverTheClockSays) {
  Watched watched = connected();
  watched.saw({{7, Seen{.expired = false, .remaining = std::chrono::hours(1)}}}, 1, kStart);
  EXPECT_FALSE(watched.take(kStart + kTtl + kSecond - 1));
  const auto still = watched.take(kStart + kTtl + kSecond);
  ASSERT_TRUE(still);
  EXPECT_TRUE(still->stale);
}

// S4: another host may have another lease_ttl, and this one may just have been given another.
TEST(ExpiredHolderWatchTest, ALeaseIsJudgedByItsOwnTtl) {
  for (const bool is_expired : {false, true}) {
    for (const Nanos ttl : {kTtl / 3, 5 * kTtl}) {
      Watched watched = connected();
      const auto own = std::chrono::microseconds(ttl / kMicro);
      watched.saw({{7, Seen{.expired = is_expired, .ttl = own}}}, 1, kStart);
      const Nanos wait = is_expired ? ttl / 2 : ttl + kSecond;
      EXPECT_FALSE(watched.take(kStart + wait - 1)) << ttl;
      EXPECT_TRUE(watched.take(kStart + wait)) << ttl;
    }
  }
}

// An Allot that did not write the TTL down had some that the configuration allows. Where the clock
// is right, half of our own is long enough for one that is expired.
TEST(ExpiredHolderWatchTest, OneThatSaysNothingMayLastAsLongAsAnyMay) {
  Watched watched = connected();
  watched.saw({{7, Seen{.ttl = std::nullopt}}}, 1, kStart);
  EXPECT_FALSE(watched.take(kStart + 3600 * kSecond + kSecond - 1));
  EXPECT_TRUE(watched.take(kStart + 3600 * kSecond + kSecond));
  watched.saw({{7, Seen{.epoch = 2, .expired = true, .ttl = std::nullopt}}}, 1, kStart);
  EXPECT_FALSE(watched.take(kStart + kTtl / 2 - 1));
  EXPECT_TRUE(watched.take(kStart + kTtl / 2));
}

// S4: after an outage every lease looks expired, and its holder comes back as this process did.
TEST(ExpiredHolderWatchTest, ANewConnectionTakesNothingForHalfALease) {
  Watched watched = connected();
  watched.saw({{7, expired()}}, 1, kStart);
  const Nanos back = kStart + 10 * kTtl;
  watched.saw({{7, expired()}}, 2, back);
  EXPECT_FALSE(watched.take(back + kTtl / 2 - 1)) << "seen before the outage is not seen";
  EXPECT_TRUE(watched.take(back + kTtl / 2));
}

TEST(ExpiredHolderWatchTest, LooksAgainWhenOneMayBeTakenOver) {
  Watched watched = connected();
  EXPECT_EQ(watched.next_look_ns(), kStart - kTtl + kTtl / 6) << "nothing to wait for";
  watched.saw({{7, Seen{.remaining = std::chrono::milliseconds(200)}}}, 1, kStart);
  EXPECT_EQ(watched.next_look_ns(), kStart + kTtl / 6)
      << "expired before, but not for half a lease";
  const Nanos later = kStart + kTtl / 2 - 500 * kMilli;
  watched.saw({{7, expired()}}, 1, later);
  EXPECT_EQ(watched.next_look_ns(), kStart + kTtl / 2);
  watched.saw({{7, expired()}}, 1, kStart + kTtl);
  EXPECT_EQ(watched.next_look_ns(), kStart + kTtl + 100 * kMilli) << "it may be locked";
}

}  // namespace
}  // namespace allot::queue
