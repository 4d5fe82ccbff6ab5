// SPDX-License-Identifier: Apache-2.0
#include "fault/meter.h"

#include <gtest/gtest.h>

#include "support/database.h"

namespace allot::fault {
namespace {

// Ends with error 1205, after a second.
void wait_in_vain(Cluster& cluster) {
  auto first = cluster.connect();
  auto second = cluster.connect();
  ASSERT_TRUE(first && second);
  first->execute("CREATE TABLE IF NOT EXISTS held (a INT PRIMARY KEY) ENGINE=InnoDB");
  first->execute("REPLACE INTO held VALUES (1)");
  first->execute("BEGIN; SELECT * FROM held WHERE a = 1 FOR UPDATE");
  second->execute("SET SESSION innodb_lock_wait_timeout = 1");
  try {
    second->execute("SELECT * FROM held WHERE a = 1 FOR UPDATE");
    ADD_FAILURE() << "it did not wait";
  } catch (const db::DbError& error) {
    EXPECT_EQ(error.number(), 1205U);
  }
}

// Without a host, nothing else waits for locks.
TEST(Meter, WaitsThatTimedOutAreCountedApart) {
  Cluster cluster({.hosts = 0, .workers = 1, .max_attempts = 1});
  Meter meter(cluster);
  meter.sample(false);
  const auto before = meter.counted();
  wait_in_vain(cluster);
  const Nanoseconds at = now();
  meter.sample(false);
  EXPECT_EQ(meter.counted().timeouts - before.timeouts, 1U);
  EXPECT_EQ(meter.counted().lock_waits - before.lock_waits, 1U);
  EXPECT_TRUE(meter.provoked_times().empty());
  wait_in_vain(cluster);
  meter.sample(true);
  EXPECT_EQ(meter.counted().timeouts - before.timeouts, 1U);
  EXPECT_EQ(meter.provoked().timeouts, 1U);
  ASSERT_EQ(meter.provoked_times().size(), 1U);
  EXPECT_GE(meter.provoked_times().front().first, at);
  EXPECT_EQ(meter.provoked().deadlocks, 0U);
}

}  // namespace
}  // namespace allot::fault
