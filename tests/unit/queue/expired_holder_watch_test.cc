// SPDX-License-Identifier: Apache-2.0
#include "queue/model/expired_holder_watch.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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

  [[nodiscard]] static int key() { return 7; }
};
using Rows = std::vector<Seen>;

// A watch whose clock is the test's.
class Watched {
 public:
  // Connected for a TTL at kStart, so that takeovers are allowed then.
  Watched() { look_at(kStart - kTtl, {}); }

  void look_at(Nanos now, const Rows& rows, std::uint64_t generation = 1) {
    now_ = now;
    watch_.poll([&] { return rows; }, [&] { return generation; });
  }
  // The same with a statement that takes until `answered`.
  void look_until(Nanos answered, const Rows& rows) {
    const auto statement = [&] {
      now_ = answered;
      return rows;
    };
    watch_.poll(statement, [] { return 1U; });
  }
  auto take_at(Nanos now) {
    now_ = now;
    return watch_.take();
  }
  [[nodiscard]] Nanos next_poll_ns() const { return watch_.next_poll_ns(); }

 private:
  Nanos now_ = 0;
  ExpiredHolderWatch<int, Seen> watch_{kTtl, StoodStill::kHalf, [this] { return now_; }};
};

Seen expired() {
  return {.expired = true};
}

TEST(ExpiredHolderWatchTest, TakesWhatExpiredAndStoodStillForHalfALease) {
  Watched watched;
  watched.look_at(kStart, {expired()});
  EXPECT_FALSE(watched.take_at(kStart + kTtl / 2 - 1));
  const auto still = watched.take_at(kStart + kTtl / 2);
  ASSERT_TRUE(still);
  EXPECT_FALSE(still->stale);
}

// A takeover that failed (its row was locked) is tried again, but not in a loop.
TEST(ExpiredHolderWatchTest, GivesEachOnceBetweenTwoLooksAndRemembersSinceWhen) {
  Watched watched;
  watched.look_at(kStart, {expired()});
  const Nanos later = kStart + kTtl / 2;
  ASSERT_TRUE(watched.take_at(later));
  EXPECT_FALSE(watched.take_at(later));
  watched.look_at(later, {expired()});
  EXPECT_TRUE(watched.take_at(later)) << "it never changes";
  watched.look_at(later, {Seen{.epoch = 2, .expired = true}});
  EXPECT_FALSE(watched.take_at(later)) << "another worker was faster";
}

// S4: otherwise, a clock of the database that went back would keep a dead holder's lease for ever.
TEST(ExpiredHolderWatchTest, StalledHolderIsTakenOverWithAnyClock) {
  Watched watched;
  watched.look_at(kStart, {Seen{.expired = false, .remaining = std::chrono::hours(1)}});
  EXPECT_FALSE(watched.take_at(kStart + kTtl + kSecond - 1));
  const auto still = watched.take_at(kStart + kTtl + kSecond);
  ASSERT_TRUE(still);
  EXPECT_TRUE(still->stale);
}

// S4: another host may have another lease_ttl, and this host's may just have changed.
TEST(ExpiredHolderWatchTest, ALeaseIsJudgedByItsOwnTtl) {
  for (const bool is_expired : {false, true}) {
    for (const Nanos ttl : {kTtl / 3, 5 * kTtl}) {
      Watched watched;
      const auto own = std::chrono::microseconds(ttl / kMicro);
      watched.look_at(kStart, {Seen{.expired = is_expired, .ttl = own}});
      const Nanos wait = is_expired ? ttl / 2 : ttl + kSecond;
      EXPECT_FALSE(watched.take_at(kStart + wait - 1)) << ttl;
      EXPECT_TRUE(watched.take_at(kStart + wait)) << ttl;
    }
  }
}

// An older Allot does not store its TTL, which is any that the configuration permits. With a
// correct clock, half of this host's TTL is long enough for an expired lease.
TEST(ExpiredHolderWatchTest, OneThatSaysNothingMayLastAsLongAsAnyMay) {
  Watched watched;
  watched.look_at(kStart, {Seen{.ttl = std::nullopt}});
  EXPECT_FALSE(watched.take_at(kStart + 3600 * kSecond + kSecond - 1));
  EXPECT_TRUE(watched.take_at(kStart + 3600 * kSecond + kSecond));
  watched.look_at(kStart, {Seen{.epoch = 2, .expired = true, .ttl = std::nullopt}});
  EXPECT_FALSE(watched.take_at(kStart + kTtl / 2 - 1));
  EXPECT_TRUE(watched.take_at(kStart + kTtl / 2));
}

// S4: after an outage every lease looks expired, and its holder comes back like this process.
TEST(ExpiredHolderWatchTest, ANewConnectionTakesNothingForHalfALease) {
  Watched watched;
  watched.look_at(kStart, {expired()});
  const Nanos back = kStart + 10 * kTtl;
  watched.look_at(back, {expired()}, 2);
  EXPECT_FALSE(watched.take_at(back + kTtl / 2 - 1)) << "seen before the outage is not seen";
  EXPECT_TRUE(watched.take_at(back + kTtl / 2));
}

// The row may have been renewed until the statement was executed, which was perhaps only now.
TEST(ExpiredHolderWatchTest, ARowStandsStillSinceTheAnswerAndNotSinceTheQuestion) {
  Watched watched;
  const Nanos answered = kStart + 2 * kTtl;
  watched.look_until(answered, {expired()});
  EXPECT_FALSE(watched.take_at(answered));
  EXPECT_FALSE(watched.take_at(answered + kTtl / 2 - 1));
  EXPECT_TRUE(watched.take_at(answered + kTtl / 2));
}

TEST(ExpiredHolderWatchTest, LooksAgainWhenOneMayBeTakenOver) {
  Watched watched;
  EXPECT_EQ(watched.next_poll_ns(), kStart - kTtl + kTtl / 6) << "nothing to wait for";
  watched.look_at(kStart, {Seen{.remaining = std::chrono::milliseconds(200)}});
  EXPECT_EQ(watched.next_poll_ns(), kStart + kTtl / 6)
      << "expired before, but not for half a lease";
  const Nanos later = kStart + kTtl / 2 - 500 * kMilli;
  watched.look_at(later, {expired()});
  EXPECT_EQ(watched.next_poll_ns(), kStart + kTtl / 2);
  watched.look_at(kStart + kTtl, {expired()});
  EXPECT_EQ(watched.next_poll_ns(), kStart + kTtl + 100 * kMilli) << "it may be locked";
}

}  // namespace
}  // namespace allot::queue
