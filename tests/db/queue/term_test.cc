// SPDX-License-Identifier: Apache-2.0
// S52, S53: of two servers that accept writes the one with the higher term is used. Both servers
// are real, and each has the rows of a replica.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "db/writer.h"
#include "queue/model/catalog.h"
#include "queue/model/server_change.h"
#include "queue/submit/address.h"
#include "support/database.h"
#include "support/db_error.h"
#include "support/temp_dir.h"

namespace allot::queue {
namespace {

using support::Database;
using support::db_error_of;
using support::number_of;

std::string place(const db::Server& server) {
  return server.host + ":" + std::to_string(server.port);
}

class TermTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    for (Database*& server : servers_) {
      server = new Database({}, support::Network::kTcp);
      server->make_database();
      server->connect().execute(
          "CREATE USER app@'127.0.0.1' IDENTIFIED BY 'pw'; GRANT ALL ON allot_1.* TO "
          "app@'127.0.0.1'");
    }
  }
  static void TearDownTestSuite() {
    for (Database*& server : servers_) {
      delete server;
      server = nullptr;
    }
  }
  // The first server has been the writer from the start, and the second one has its rows.
  TermTest() : old_(servers_[0]->connect("allot_1")), new_(servers_[1]->connect("allot_1")) {
    for (db::Connection* db : {&old_, &new_}) ensure_queue(*db, "mail", {1});
    note_server(old_);
    new_.execute(
        "INSERT INTO server_identity VALUES (1, " +
        db::Statement::quoted(support::value_of(old_, "SELECT identity FROM server_identity")) +
        ", 1, '2025-01-01', 0)");
  }

  TermTest(const TermTest&) = delete;
  TermTest& operator=(const TermTest&) = delete;
  // A marked server would refuse the next test.
  ~TermTest() override {
    for (db::Connection* db : {&old_, &new_}) {
      db->execute("DELETE FROM server_identity; UPDATE queue SET superseded_by = NULL");
    }
  }

  static db::ConnectOptions options(std::vector<db::Server> servers) {
    db::ConnectOptions options;
    options.servers = std::move(servers);
    options.user = "app";
    options.password = "pw";
    options.database = "allot_1";
    return options;
  }
  static db::ConnectOptions both() { return options({old_place(), new_place()}); }
  static db::Server old_place() { return servers_[0]->tcp(); }
  static db::Server new_place() { return servers_[1]->tcp(); }
  static std::uint64_t term(db::Connection& db) {
    return number_of(db, "SELECT term FROM server_identity");
  }

  static Database* servers_[2];
  db::Connection old_;
  db::Connection new_;
};
Database* TermTest::servers_[2] = {};

TEST_F(TermTest, TheHigherTermIsUsed) {
  EXPECT_TRUE(note_server(new_));
  const db::Connection db(both());
  EXPECT_EQ(db.where(), place(new_place()));
  ASSERT_EQ(db.passed_over().size(), 1U);
  EXPECT_EQ(db.passed_over()[0], "database at " + place(old_place()) +
                                     " has term 1, and another server has term 2: not used");
}

TEST_F(TermTest, TwoWithEqualTermsAreBothRefusedUntilOneIsPromoted) {
  const auto refused = db_error_of([] { db::Connection{both()}; });
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->error_class(), db::ErrorClass::kGone);
  EXPECT_EQ(refused->exit_code(), kExitUnavailable);
  EXPECT_NE(std::string(refused->what()).find("both have term 1"), std::string::npos);
  EXPECT_EQ(promote(old_, 1), 3U);
  EXPECT_EQ(db::Connection(both()).where(), place(old_place()));
}

// A moving address: only one server can be asked, and it is the former one.
TEST_F(TermTest, LowerTermIsRefused) {
  const support::TempDir folder;
  note_server(new_);
  db::ConnectOptions options = TermTest::options({new_place()});
  options.memory = std::make_shared<db::TermMemory>(folder.path(), "address");
  EXPECT_EQ(db::Connection(options).standing().term, 2U);
  // Another process of the same host.
  options.servers = {old_place()};
  options.memory = std::make_shared<db::TermMemory>(folder.path(), "address");
  const auto refused = db_error_of([&] { db::Connection{options}; });
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->error_class(), db::ErrorClass::kGone);
  EXPECT_NE(std::string(refused->what()).find("has term 1, and another server has term 2"),
            std::string::npos)
      << refused->what();
}

TEST_F(TermTest, AnOpenSessionIsRefusedOnceAHigherTermIsSeen) {
  db::ConnectOptions options = TermTest::options({old_place()});
  db::Connection session(options);
  session.require_writer();
  options.memory->saw(2);
  const auto refused = db_error_of([&] { session.require_writer(); });
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->error_class(), db::ErrorClass::kGone);
}

// Lost commits: the new server was promoted once more than the old one has seen.
TEST_F(TermTest, APromotedServerIsAboveEveryTermThatWasSeen) {
  EXPECT_EQ(promote(old_, 7), 9U);
  EXPECT_EQ(promote(old_, 7), 11U);
  EXPECT_EQ(support::value_of(old_, "SELECT identity FROM server_identity"),
            support::value_of(new_, "SELECT identity FROM server_identity"));
  EXPECT_FALSE(note_server(old_)) << "it is its own predecessor";
}

// It was marked by a steward of another host, and this host has not seen a term.
TEST_F(TermTest, APromotedServerIsAboveItsMark) {
  mark_superseded(old_, 7);
  EXPECT_EQ(promote(old_, 0), 9U);
  EXPECT_TRUE(find_queue(old_, "mail"));
}

// A worker that reaches only the other server, or was still connecting, does not know of the
// promotion.
TEST_F(TermTest, AServerThatIsNotedAfterAPromotionStaysBelowIt) {
  promote(old_, 1);
  EXPECT_TRUE(note_server(new_));
  EXPECT_LT(term(new_), term(old_));
  EXPECT_EQ(db::Connection(both()).where(), place(old_place()));
}

// S53: a session in plain SQL, and one opened before, do not ask another server.
TEST_F(TermTest, AMarkedServerTakesNoSubmission) {
  db::Connection open(options({old_place()}));
  EXPECT_TRUE(find_queue(open, "mail"));
  mark_superseded(old_, 2);
  const auto refused = db_error_of([&] { static_cast<void>(address(open, "mail", "t")); });
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->number(), db::kSuperseded);
  EXPECT_EQ(refused->error_class(), db::ErrorClass::kGone);
  const auto in_sql = db_error_of(
      [&] { open.execute("CALL allot_submit('mail', 't', 'x', NULL, @id, @existed)"); });
  ASSERT_TRUE(in_sql);
  EXPECT_NE(std::string(in_sql->what()).find("no longer the writer: another one has term 2"),
            std::string::npos)
      << in_sql->what();
  EXPECT_EQ(number_of(old_, "SELECT COUNT(*) FROM task"), 0U);
  EXPECT_TRUE(db_error_of([] { db::Connection{options({old_place()})}; })) << "nor a connection";
}

TEST_F(TermTest, AMarkIsForAServerOfALowerTermOnly) {
  note_server(new_);
  mark_superseded(new_, 2);
  EXPECT_TRUE(find_queue(new_, "mail"));
  mark_superseded(old_, 2);
  clear_superseded(old_);
  EXPECT_TRUE(db_error_of([&] { static_cast<void>(find_queue(old_, "mail")); }))
      << "its term is lower still";
  EXPECT_EQ(promote(old_, 2), 4U);
  EXPECT_TRUE(find_queue(old_, "mail"));
}

// A recreated database behind the address: it has no row yet.
TEST_F(TermTest, AServerThatWasNeverNotedHasTheLowestTerm) {
  old_.execute("DELETE FROM server_identity");
  db::ConnectOptions options = TermTest::options({old_place()});
  EXPECT_EQ(db::Connection(options).standing().term, 0U);
  options.memory->saw(1);
  EXPECT_TRUE(db_error_of([&] { db::Connection{options}; }));
}

TEST_F(TermTest, AnAccountThatMayNotReadTheTermIsRefusedWithTheGrantItLacks) {
  old_.execute(
      "CREATE USER IF NOT EXISTS narrow@'127.0.0.1' IDENTIFIED BY 'pw';"
      "GRANT SELECT ON allot_1.allot_schema TO narrow@'127.0.0.1'");
  db::ConnectOptions narrow = options({old_place()});
  narrow.user = "narrow";
  const auto refused = db_error_of([&] { db::Connection{narrow}; });
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->error_class(), db::ErrorClass::kRefused);
  EXPECT_NE(std::string(refused->what()).find("GRANT SELECT ON `allot_1`."), std::string::npos)
      << refused->what();
}

TEST_F(TermTest, WithoutASchemaTheTermIsMissing) {
  db::ConnectOptions empty = options({old_place()});
  empty.database.clear();
  db::Connection db(empty);
  EXPECT_EQ(db.standing().term, std::nullopt);
  db.require_writer();
}

}  // namespace
}  // namespace allot::queue
