// SPDX-License-Identifier: Apache-2.0
// Snapshots of hosts: one for each instance, from its last writer.
#include "db/queue/fixture.h"
#include "queue/minutes/instances.h"
#include "queue/minutes/minute_store.h"

namespace allot::queue {
namespace {

class HostSnapshotTest : public QueueTest {
 protected:
  static Holder steward(std::uint64_t id, std::uint64_t origin = 1) {
    return {id, origin, "host" + std::to_string(origin), "test", 12};
  }
};

TEST_F(HostSnapshotTest, EachInstanceHasItsLastOne) {
  put_snapshot(observer_, steward(7), "{}");
  put_snapshot(observer_, steward(7), R"({"a":"\\ 'b' \u00e9 Ã\xa9"})");
  put_snapshot(observer_, steward(8, 2), "{}");
  const auto all = list_snapshots(observer_);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].host, "host1");
  EXPECT_EQ(all[0].state, R"({"a":"\\ 'b' \u00e9 Ã\xa9"})");
  EXPECT_LT(all[0].age, std::chrono::seconds(30));
}

TEST_F(HostSnapshotTest, AWriterThatLeavesRemovesItsOwn) {
  put_snapshot(observer_, steward(7), "{}");
  put_snapshot(observer_, steward(8), "{}");  // next steward, during a reload
  remove_snapshot(observer_, steward(7));
  ASSERT_EQ(list_snapshots(observer_).size(), 1U);
  remove_snapshot(observer_, steward(8));
  EXPECT_TRUE(list_snapshots(observer_).empty());
}

TEST_F(HostSnapshotTest, SnapshotsOfRemovedHostsAreDeleted) {
  put_snapshot(observer_, steward(7), "{}");
  put_snapshot(observer_, steward(8, 2), "{}");
  observer_.execute(
      "UPDATE host_snapshot SET taken_at = taken_at - INTERVAL 25 HOUR WHERE origin = 1");
  purge_minutes(observer_);
  ASSERT_EQ(list_snapshots(observer_).size(), 1U);
  EXPECT_EQ(list_snapshots(observer_)[0].host, "host2");
}

}  // namespace
}  // namespace allot::queue
