// SPDX-License-Identifier: Apache-2.0
#include "support/galera.h"

#include <gtest/gtest.h>

#include "support/eventually.h"

namespace allot::support {
namespace {

class Galera : public testing::Test {
 protected:
  void SetUp() override {
    const std::string why = why_no_galera();
    if (!why.empty()) GTEST_SKIP() << why;
    cluster_ = std::make_unique<GaleraCluster>();
    execute(0, "CREATE DATABASE d; CREATE TABLE d.t (id INT PRIMARY KEY) ENGINE = InnoDB");
  }

  void execute(std::size_t i, const std::string& sql) const {
    cluster_->node(i).connect().execute(sql);
  }
  // Waits for the rows: a node applies remote commits a moment later, and a frozen node rejects
  // queries until it is back.
  [[nodiscard]] bool has_rows(std::size_t i, std::uint64_t rows) const {
    return eventually([&] {
      try {
        db::Connection db = cluster_->node(i).connect();
        return number_of(db, "SELECT COUNT(*) FROM d.t") == rows;
      } catch (const db::DbError&) {
        return false;
      }
    });
  }

  std::unique_ptr<GaleraCluster> cluster_;
};

TEST_F(Galera, KilledNodeRejoins) {
  execute(0, "INSERT INTO d.t VALUES (1)");
  cluster_->node(0).kill9();
  ASSERT_TRUE(eventually([&] { return cluster_->synced(1, 2); }));
  execute(1, "INSERT INTO d.t VALUES (2)");
  cluster_->rejoin(0);
  EXPECT_TRUE(has_rows(0, 2));
}

TEST_F(Galera, FrozenNodeIsLeftOutAndReturns) {
  {
    const Database::Stall frozen(cluster_->node(0));
    ASSERT_TRUE(eventually([&] { return cluster_->synced(1, 2); }));
    execute(1, "INSERT INTO d.t VALUES (1)");
  }
  EXPECT_TRUE(has_rows(0, 1));
  EXPECT_TRUE(eventually([&] { return cluster_->synced(0); }));
}

TEST_F(Galera, EachNodeTakesWrites) {
  for (std::size_t i = 0; i < GaleraCluster::kNodes; ++i) {
    execute(i, "INSERT INTO d.t VALUES (" + std::to_string(i) + ")");
  }
  EXPECT_TRUE(has_rows(2, 3));
}

}  // namespace
}  // namespace allot::support
