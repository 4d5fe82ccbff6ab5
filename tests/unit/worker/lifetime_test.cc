// SPDX-License-Identifier: Apache-2.0
#include "process/lifetime.h"

#include <gtest/gtest.h>

namespace allot::worker {
namespace {

std::size_t room(std::uint32_t max_tasks, std::uint64_t random) {
  config::Pool pool;
  pool.max_tasks = max_tasks;
  return process::Lifetime(pool, random).room();
}

TEST(LifetimeTest, WorkersThatStartTogetherLeaveOneAfterTheOther) {
  EXPECT_EQ(room(1000, 0), 1000U);
  EXPECT_EQ(room(1000, 500), 950U);
  EXPECT_EQ(room(1000, 999), 901U) << "a tenth, at most";
  EXPECT_EQ(room(1'000'000'000, 999), 900'100'000U);
  EXPECT_EQ(room(3, 999), 3U) << "a small number is taken literally";
}

TEST(LifetimeTest, ACallHasNoMoreTasksThanAreLeft) {
  config::Pool pool;
  pool.max_tasks = 5;
  process::Lifetime lifetime(pool, 0);
  lifetime.ran(3);
  EXPECT_EQ(lifetime.room(), 2U);
  lifetime.ran_none();
  EXPECT_EQ(lifetime.room(), 3U);
  lifetime.ran(3);
  EXPECT_EQ(lifetime.room(), 1U);
}

TEST(LifetimeTest, WithoutALimitNoWorkerLeaves) {
  const config::Pool pool;
  process::Lifetime lifetime(pool, 7);
  lifetime.ran(1'000'000);
  lifetime.check();
  EXPECT_EQ(lifetime.over(), nullptr);
  EXPECT_GT(lifetime.room(), 1'000'000U);
}

TEST(LifetimeTest, OneThatRanNothingIsNotTooLarge) {
  config::Pool pool;
  pool.max_memory = 1;
  process::Lifetime lifetime(pool, 7);
  ASSERT_GE(process::resident_mib(), 1U);
  lifetime.check();
  EXPECT_EQ(lifetime.over(), nullptr) << "another one would be as large";
  lifetime.ran(1);
  lifetime.check();
  EXPECT_STREQ(lifetime.over(), "max_memory");
}

TEST(LifetimeTest, FirstOfTwoLimitsCounts) {
  config::Pool pool;
  pool.max_tasks = 2;
  pool.max_age = std::chrono::hours(1);
  process::Lifetime lifetime(pool, 7);
  lifetime.check();
  EXPECT_EQ(lifetime.over(), nullptr);
  lifetime.ran(2);
  lifetime.check();
  EXPECT_STREQ(lifetime.over(), "max_tasks");
}

}  // namespace
}  // namespace allot::worker
