// SPDX-License-Identifier: Apache-2.0
// The steward's check of the servers of a list, with two real servers (S53).
#include "steward/other_servers.h"

#include <gtest/gtest.h>

#include "queue/model/catalog.h"
#include "queue/model/server_change.h"
#include "support/database.h"
#include "support/eventually.h"

namespace allot::steward {
namespace {

using support::eventually;

class OtherServersTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    for (support::Database*& server : servers_) {
      server = new support::Database({}, support::Network::kTcp);
      server->make_database();
      db::Connection db = server->connect("allot_1");
      db.execute(
          "CREATE USER app@'127.0.0.1' IDENTIFIED BY 'pw';"
          "GRANT ALL ON allot_1.* TO app@'127.0.0.1'");
      queue::ensure_queue(db, "mail", {1});
    }
  }
  static void TearDownTestSuite() {
    for (support::Database*& server : servers_) {
      delete server;
      server = nullptr;
    }
  }
  // Rows of a replica: the first server has been the writer from the start.
  OtherServersTest() {
    for (support::Database* server : servers_) {
      db::Connection db(server->options("allot_1"), nullptr);
      db.execute(
          "SET SESSION sql_safe_updates = 0; DELETE FROM server_identity;"
          "UPDATE queue SET superseded_by = NULL");
    }
    db::Connection old = old_.connect("allot_1");
    queue::note_server(old);
    const std::string named = support::value_of(old, "SELECT identity FROM server_identity");
    new_.connect("allot_1").execute("INSERT INTO server_identity VALUES (1, " +
                                    db::Statement::quoted(named) + ", 1, '2025-01-01', 0)");
  }
  db::ConnectOptions both() {
    db::ConnectOptions options;
    options.servers = {old_.tcp(), new_.tcp()};
    options.user = "app";
    options.password = "pw";
    options.database = "allot_1";
    return options;
  }
  // Independent of the term of the server.
  std::string value(const support::Database& server, const std::string& sql) {
    db::Connection db(server.options("allot_1"), nullptr);
    return support::value_of(db, sql);
  }

  static support::Database* servers_[2];
  support::Database& old_ = *servers_[0];
  support::Database& new_ = *servers_[1];
};
support::Database* OtherServersTest::servers_[2] = {};

// Only the steward connects to the promoted server; the old primary comes back writable.
TEST_F(OtherServersTest, APromotedServerGetsTheNextTermAndTheOldOneAMark) {
  old_.kill9();
  OtherServers servers(both());
  EXPECT_TRUE(eventually([&] { return value(new_, "SELECT term FROM server_identity") == "2"; }));
  EXPECT_TRUE(servers.second_writers().empty());
  old_.start();
  EXPECT_TRUE(eventually([&] { return !servers.second_writers().empty(); }));
  const auto found = servers.second_writers();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].subject, "127.0.0.1:" + std::to_string(old_.tcp().port));
  EXPECT_EQ(found[0].detail.find("it accepts writes with term 1, and the writer has term 2"), 0U)
      << found[0].detail;
  EXPECT_EQ(value(old_, "SELECT superseded_by FROM queue"), "2");
  EXPECT_EQ(value(new_, "SELECT superseded_by FROM queue"), "");
}

// Either may be the former primary: submissions in plain SQL continue.
TEST_F(OtherServersTest, TwoWithEqualTermsAreReportedAndNotMarked) {
  OtherServers servers(both());
  EXPECT_TRUE(eventually([&] { return servers.second_writers().size() == 2; }));
  EXPECT_EQ(value(old_, "SELECT superseded_by FROM queue"), "");
  EXPECT_EQ(value(new_, "SELECT superseded_by FROM queue"), "");
  EXPECT_EQ(value(new_, "SELECT term FROM server_identity"), "1");
}

TEST_F(OtherServersTest, AMarkGoesWhenItsServerIsPromotedAgain) {
  {
    db::Connection db = new_.connect("allot_1");
    queue::note_server(db);
  }
  OtherServers servers(both());
  EXPECT_TRUE(eventually([&] { return value(old_, "SELECT superseded_by FROM queue") == "2"; }));
  db::Connection db(old_.options("allot_1"), nullptr);
  // Without allot promote, which clears the mark.
  db.execute("UPDATE server_identity SET term = 3 WHERE only_row = 1");
  EXPECT_TRUE(eventually([&] { return value(old_, "SELECT superseded_by FROM queue").empty(); }));
  EXPECT_TRUE(eventually([&] { return value(new_, "SELECT superseded_by FROM queue") == "3"; }));
}

TEST_F(OtherServersTest, AReplicaIsNotASecondWriter) {
  db::Connection at_new = new_.connect();
  at_new.execute("SET GLOBAL read_only = 1");
  OtherServers servers(both());
  old_.connect("allot_1").execute("UPDATE server_identity SET identity = 'another'");
  EXPECT_TRUE(eventually([&] { return value(old_, "SELECT term FROM server_identity") == "2"; }));
  EXPECT_TRUE(servers.second_writers().empty());
  at_new.execute("SET GLOBAL read_only = 0");
}

}  // namespace
}  // namespace allot::steward
