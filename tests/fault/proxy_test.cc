// SPDX-License-Identifier: Apache-2.0
#include "fault/proxy.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

#include "support/database.h"
#include "support/eventually.h"

namespace allot::fault {
namespace {

using std::chrono::milliseconds;
using support::eventually;

class ProxyTest : public testing::TestWithParam<Wire> {
 protected:
  [[nodiscard]] db::Connection connect() const {
    return db::Connection(proxy_.to_proxy(server_.options("mysql")));
  }
  std::vector<Fault> wait_for_faults(std::size_t n) {
    std::vector<Fault> all;
    EXPECT_TRUE(eventually([&] {
      for (Fault& fault : proxy_.take_faults()) all.push_back(std::move(fault));
      return all.size() >= n;
    }));
    return all;
  }
  void make_table() {
    server_.connect("mysql").execute(
        "DROP TABLE IF EXISTS test_reply;"
        "CREATE TABLE test_reply (a INT PRIMARY KEY) ENGINE=InnoDB");
  }
  std::uint64_t rows() {
    auto direct = server_.connect("mysql");
    return support::number_of(direct, "SELECT COUNT(*) FROM test_reply");
  }

  support::Database& server_ = support::Database::shared();
  support::TempDir folder_;
  Proxy proxy_{folder_ / "proxy", server_.socket(), GetParam()};
};

TEST_P(ProxyTest, PassesAllAndKnowsWhoTalks) {
  auto db = connect();
  EXPECT_EQ(support::number_of(db, "SELECT LENGTH(REPEAT('x', 1000000))"), 1'000'000U);
  auto results = db.execute("SELECT REPEAT('x', 3000000)");
  EXPECT_EQ(results.front().next()->text(0).size(), 3'000'000U);
  const auto clients = proxy_.clients();
  ASSERT_EQ(clients.size(), 1U);
  EXPECT_EQ(clients[0].pid, ::getpid());
  EXPECT_EQ(clients[0].connection, support::number_of(db, "SELECT CONNECTION_ID()"));
}

TEST_P(ProxyTest, AHeldPacketArrivesWhenItsClientIsGone) {
  make_table();
  proxy_.hold_back("VALUES (7)");
  {
    auto options = proxy_.to_proxy(server_.options("mysql"));
    options.call_timeout = milliseconds(1'000);
    db::Connection db(options);
    EXPECT_THROW(db.execute("INSERT INTO test_reply VALUES (7); SELECT 1"), db::DbError);
  }
  EXPECT_TRUE(proxy_.holds());
  EXPECT_EQ(rows(), 0U);
  EXPECT_NE(proxy_.let_go(), 0U);
  EXPECT_TRUE(eventually([&] { return proxy_.delivered() && rows() == 1; }));
  EXPECT_TRUE(eventually([&] { return proxy_.clients().empty(); }));
  EXPECT_EQ(proxy_.let_go(), 0U) << "it is held no more";
}

TEST_P(ProxyTest, AHeldPacketOfAKilledConnectionIsGone) {
  auto db = connect();
  const auto id = std::to_string(support::number_of(db, "SELECT CONNECTION_ID()"));
  proxy_.hold_back("SELECT 7");
  std::thread client([&] { EXPECT_THROW(db.execute("SELECT 7"), db::DbError); });
  EXPECT_TRUE(eventually([&] { return proxy_.holds(); }));
  server_.connect("mysql").execute("KILL CONNECTION " + id);
  client.join();
  EXPECT_TRUE(eventually([&] { return proxy_.clients().empty(); }));
  EXPECT_EQ(proxy_.let_go(), 0U);
}

TEST_P(ProxyTest, ADelayPasses) {
  auto db = connect();
  const auto before = now();
  proxy_.begin(Trouble::kDelay, false, 0, milliseconds(300));
  EXPECT_TRUE(proxy_.troubled()) << "it continues";
  EXPECT_EQ(support::number_of(db, "SELECT 7"), 7U);
  EXPECT_GE(now() - before, 290'000'000);
  EXPECT_TRUE(proxy_.troubled()) << "it ended since it was asked for";
  EXPECT_FALSE(proxy_.troubled());
  const auto faults = wait_for_faults(1);
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_EQ(faults[0].kind, "delay");
  EXPECT_EQ(faults[0].pid, ::getpid());
  EXPECT_EQ(faults[0].reach, Reach::kOne);
}

TEST_P(ProxyTest, ACutIsSeenByBoth) {
  auto db = connect();
  const auto id = proxy_.clients().at(0).connection;
  proxy_.begin(Trouble::kCut, true, 0, milliseconds(0));
  const auto faults = wait_for_faults(1);
  EXPECT_EQ(faults.at(0).kind, "cut");
  EXPECT_EQ(faults.at(0).reach, Reach::kAll);
  EXPECT_THROW(db.execute("SELECT 1"), db::DbError);
  auto direct = server_.connect("mysql");
  EXPECT_TRUE(eventually([&] {
    return support::number_of(direct,
                              "SELECT COUNT(*) FROM information_schema.processlist WHERE id = " +
                                  std::to_string(id)) == 0;
  }));
}

TEST_P(ProxyTest, ABlackHoleIsSilentUntilItIsCut) {
  auto db = connect();
  const auto before = now();
  proxy_.begin(Trouble::kBlackHole, true, 0, milliseconds(400));
  EXPECT_THROW(db.execute("SELECT 1"), db::DbError);
  EXPECT_GE(now() - before, 390'000'000);
}

TEST_P(ProxyTest, TheLostReplyBelongsToACommit) {
  make_table();
  auto db = connect();
  proxy_.begin(Trouble::kLoseReply, true, 0, std::chrono::seconds(20));
  db.execute("BEGIN");
  db.execute("INSERT INTO test_reply VALUES (1)");  // not yet
  EXPECT_THROW(db.execute("COMMIT"), db::DbError);
  EXPECT_EQ(wait_for_faults(1).at(0).kind, "lose_reply");
  EXPECT_EQ(rows(), 1U) << "the commit was done";
  auto again = connect();
  EXPECT_THROW(again.execute("BEGIN; INSERT INTO test_reply VALUES (2); COMMIT"), db::DbError);
  EXPECT_EQ(rows(), 2U);
}

TEST_P(ProxyTest, AWriteOutsideOfATransactionIsACommit) {
  make_table();
  auto db = connect();
  proxy_.begin(Trouble::kLoseReply, false, 0, std::chrono::seconds(20));
  EXPECT_EQ(support::number_of(db, "SELECT COUNT(*) FROM test_reply"), 0U);
  EXPECT_THROW(db.execute("INSERT INTO test_reply VALUES (1)"), db::DbError);
  EXPECT_EQ(rows(), 1U) << "it was done";
}

TEST_P(ProxyTest, HalfOpenTheServerKnowsAndTheClientDoesNot) {
  auto db = connect();
  const auto id = proxy_.clients().at(0).connection;
  const auto before = now();
  proxy_.begin(Trouble::kHalfOpen, true, 0, milliseconds(500));
  auto direct = server_.connect("mysql");
  EXPECT_TRUE(eventually([&] {
    return support::number_of(direct,
                              "SELECT COUNT(*) FROM information_schema.processlist WHERE id = " +
                                  std::to_string(id)) == 0;
  }));
  EXPECT_THROW(db.execute("SELECT 1"), db::DbError);
  EXPECT_GE(now() - before, 490'000'000);
}

TEST_P(ProxyTest, AnOrphanKeepsItsLocks) {
  make_table();
  auto db = connect();
  db.execute("BEGIN; INSERT INTO test_reply VALUES (3)");
  proxy_.begin(Trouble::kOrphan, true, 0, milliseconds(3'000));
  EXPECT_THROW(db.execute("SELECT 1"), db::DbError);
  EXPECT_EQ(rows(), 0U);
  const auto before = now();
  server_.connect("mysql").execute("INSERT INTO test_reply VALUES (3)");  // waits for its rollback
  EXPECT_GE(wait_for_faults(1).at(0).end, before);
}

INSTANTIATE_TEST_SUITE_P(Wires, ProxyTest, testing::Values(Wire::kPlain, Wire::kTls),
                         [](const auto& wire) {
                           return wire.param == Wire::kTls ? "Tls" : "Plain";
                         });

}  // namespace
}  // namespace allot::fault
