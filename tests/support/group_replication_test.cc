// SPDX-License-Identifier: Apache-2.0
#include "support/group_replication.h"

#include <gtest/gtest.h>

#include "support/eventually.h"

namespace allot::support {
namespace {

class GroupReplication : public testing::Test {
 protected:
  void SetUp() override {
    const std::string why = why_no_group_replication();
    if (!why.empty()) GTEST_SKIP() << why;
    group_ = std::make_unique<ReplicationGroup>();
    ASSERT_TRUE(group_->is_primary(0));
    db::Connection db = group_->node(0).connect();
    db.execute(
        "CREATE DATABASE d; CREATE TABLE d.t (id INT PRIMARY KEY); INSERT INTO d.t VALUES (1)");
  }

  std::unique_ptr<ReplicationGroup> group_;
};

TEST_F(GroupReplication, KilledPrimaryIsReplacedAndRejoinsReadOnly) {
  group_->node(0).kill9();
  db::Connection db = group_->node(group_->primary_without(0)).connect("d");
  db.execute("INSERT INTO t VALUES (2)");
  group_->rejoin(0);
  EXPECT_THROW(group_->node(0).connect("d"), db::DbError) << "it is read-only";
}

TEST_F(GroupReplication, FrozenPrimaryIsReplacedAndReturnsReadOnly) {
  {
    const Database::Stall frozen(group_->node(0));
    db::Connection db = group_->node(group_->primary_without(0)).connect("d");
    db.execute("INSERT INTO t VALUES (2)");
    EXPECT_EQ(number_of(db, "SELECT COUNT(*) FROM t"), 2U);
  }
  EXPECT_TRUE(eventually([this] { return group_->online(1) == 3; }, std::chrono::seconds(60)));
  EXPECT_THROW(group_->node(0).connect("d"), db::DbError) << "it is read-only";
}

}  // namespace
}  // namespace allot::support
