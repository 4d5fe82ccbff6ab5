// SPDX-License-Identifier: Apache-2.0
// Knowledge of a pool's workers about the rates of its queues, and the times of their polls.
#include "worker/lease/rates.h"

#include <gtest/gtest.h>

#include <memory>

namespace allot::worker {
namespace {

using std::chrono::microseconds;

constexpr std::uint32_t kQueue = 7;
constexpr Nanos kBegin = 1'000 * kSecond;

class RatesTest : public testing::Test {
 protected:
  std::unique_ptr<ipc::Board> board_ = std::make_unique<ipc::Board>();
  Rates one_{*board_, 0};
  Rates other_{*board_, 0};
};

queue::ScoutedRates rated(microseconds wait, std::uint64_t starts) {
  return {{{kQueue, wait, starts}}, {{kQueue, 1}, {kQueue, 2}, {kQueue, 3}}};
}

TEST_F(RatesTest, WhereNoneHasARateAPoolLooksOnceASecond) {
  EXPECT_TRUE(one_.poll_due(kBegin));
  EXPECT_TRUE(one_.scouted({}).empty());
  EXPECT_FALSE(one_.poll_due(kBegin + kMilli));
  EXPECT_FALSE(other_.poll_due(kBegin + kSecond - 1));
  Rates of_another_pool(*board_, 1);
  EXPECT_TRUE(of_another_pool.poll_due(kBegin + kMilli));
  EXPECT_TRUE(other_.poll_due(kBegin + kSecond));
}

TEST_F(RatesTest, WhereOneHasARateEachScoutLooks) {
  EXPECT_TRUE(one_.poll_due(kBegin));
  (void)one_.scouted(rated(microseconds(0), 1));
  EXPECT_TRUE(other_.poll_due(kBegin + kMilli)) << "it has not heard of it";
  (void)other_.scouted(rated(microseconds(0), 1));
  EXPECT_TRUE(one_.poll_due(kBegin + 2 * kMilli));
  (void)one_.scouted({});
  EXPECT_FALSE(other_.poll_due(kBegin + 3 * kMilli)) << "the rate was removed";
}

// The board is writable by other processes.
TEST_F(RatesTest, ALookThatIsFarAwayIsNotBelieved) {
  board_->pools[0].next_rate_poll_ns.store(kBegin + 3'600 * kSecond);
  EXPECT_TRUE(one_.poll_due(kBegin));
}

TEST_F(RatesTest, NoMorePartitionsThanTasksMayStart) {
  EXPECT_EQ(one_.scouted(rated(microseconds(0), 2)).size(), 2U);
  EXPECT_EQ(one_.scouted(rated(microseconds(0), 5)).size(), 3U);
  EXPECT_EQ(one_.scouted(rated(microseconds(10), 0)).size(), 0U);
  EXPECT_TRUE(one_.rated(kQueue));
  EXPECT_FALSE(other_.rated(kQueue));
}

TEST_F(RatesTest, AQueueIsClosedUntilATaskMayStartAndForASecondAtMost) {
  EXPECT_FALSE(one_.closed(kQueue, mono_ns()));
  const Nanos before = mono_ns();
  (void)one_.scouted(rated(std::chrono::hours(1), 0));
  EXPECT_TRUE(one_.closed(kQueue, before));
  EXPECT_FALSE(one_.closed(kQueue, mono_ns() + kSecond));
  (void)one_.scouted(rated(microseconds(0), 1));
  EXPECT_FALSE(one_.closed(kQueue, mono_ns()));
}

}  // namespace
}  // namespace allot::worker
