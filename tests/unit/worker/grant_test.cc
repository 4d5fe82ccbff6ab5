// SPDX-License-Identifier: Apache-2.0
#include "worker/lease/grant.h"

#include <gtest/gtest.h>

namespace allot::worker {
namespace {

constexpr Nanos kSent = 1000 * kSecond;

queue::Granted granted(std::uint32_t starts, std::uint64_t wait_us = 0) {
  queue::Granted answer;
  answer.rated = true;
  answer.asked = starts;
  answer.starts = starts;
  answer.bucket_no = 2;
  answer.charged_at = 77;
  answer.max_grant = 50;
  answer.wait_us = wait_us;
  return answer;
}

TEST(GrantTest, WithoutARateAnyTaskMayStartAtAnyTime) {
  Grant none;
  EXPECT_FALSE(none.limited());
  none.start(1000, kSent);
  EXPECT_TRUE(none.may_start(kSent));
  EXPECT_TRUE(none.more(kSent));
  EXPECT_FALSE(none.unused(kSent));
  EXPECT_EQ(none.start_by_ns(), std::numeric_limits<Nanos>::max());
}

TEST(GrantTest, AsManyAsWereChargedAndNoMore) {
  Grant grant(granted(3), 7, kSent);
  EXPECT_TRUE(grant.may_start(kSent));
  grant.start(2, kSent);
  EXPECT_EQ(grant.left(), 1U);
  grant.start(1, kSent);
  EXPECT_FALSE(grant.may_start(kSent));
  grant.not_started(1);
  EXPECT_TRUE(grant.may_start(kSent));
  grant.not_started(9);
  EXPECT_EQ(grant.left(), 3U) << "never more than it was";
}

// S43: a worker that was stopped is charged for new tokens.
TEST(GrantTest, ItLapses) {
  const Grant grant(granted(3), 7, kSent);
  EXPECT_TRUE(grant.may_start(kSent + Grant::kLapse - 1));
  EXPECT_FALSE(grant.may_start(kSent + Grant::kLapse));
  EXPECT_FALSE(grant.may_start(kSent + 9 * kSecond));
  EXPECT_EQ(grant.start_by_ns(), kSent + Grant::kLapse);
  EXPECT_FALSE(grant.unused(kSent + Grant::kLapse)) << "too late to be given back";
}

TEST(GrantTest, UnusedGrantIsReturnedToItsBucket) {
  Grant grant(granted(3), 7, kSent);
  grant.start(1, kSent);
  const auto unused = grant.unused(kSent + kMilli);
  ASSERT_TRUE(unused);
  EXPECT_EQ(unused->queue_id, 7U);
  EXPECT_EQ(unused->bucket_no, 2U);
  EXPECT_EQ(unused->charged_at, 77);
  EXPECT_EQ(unused->starts, 2U);
  grant.start(2, kSent);
  EXPECT_FALSE(grant.unused(kSent + kMilli));
}

TEST(GrantTest, MoreIsAskedForOnlyOnceAStartIsFree) {
  Grant soon(granted(1, 5'000), 7, kSent);
  EXPECT_FALSE(soon.more(kSent + 5 * kMilli)) << "what is left goes back first";
  EXPECT_TRUE(soon.more(kSent + Grant::kLapse)) << "it has lapsed";
  soon.start(1, kSent);
  EXPECT_FALSE(soon.more(kSent + 4 * kMilli));
  EXPECT_TRUE(soon.more(kSent + 5 * kMilli));
  const Grant refused(granted(0), 7, kSent);
  EXPECT_FALSE(refused.more(kSent)) << "the partition goes back";
  const Grant gone(queue::Granted{}, 7, kSent);
  EXPECT_FALSE(gone.more(kSent)) << "the queue no longer has a rate";
}

TEST(GrantTest, TheSizeDoublesWhileItIsUsedUpSoonElseHalves) {
  GrantSize size;
  EXPECT_EQ(size.size(), 1U);
  const auto use = [&](Nanos took) {
    Grant grant(granted(size.size()), 7, kSent);
    grant.start(size.size(), kSent + took);
    size.ended(grant, 50);
    return size.size();
  };
  EXPECT_EQ(use(0), 2U);
  EXPECT_EQ(use(99 * kMilli), 4U);
  EXPECT_EQ(use(100 * kMilli), 2U);
  for (int i = 0; i < 10; ++i) use(0);
  EXPECT_EQ(size.size(), 50U) << "100 ms of the rate at most";
  size.ended(Grant(granted(50), 7, kSent), 50);
  EXPECT_EQ(size.size(), 25U) << "not used up";
  size.ended(Grant(granted(0), 7, kSent), 50);
  EXPECT_EQ(size.size(), 25U) << "a refusal says nothing of what it could use";
  for (int i = 0; i < 10; ++i) use(kSecond);
  EXPECT_EQ(size.size(), 1U);
}

}  // namespace
}  // namespace allot::worker
