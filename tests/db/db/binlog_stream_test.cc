// SPDX-License-Identifier: Apache-2.0
// Requirements on a server for following its binary log, and the message if they are not met.
// Rule: S76.
#include "db/binlog_stream.h"

#include <gtest/gtest.h>

#include "support/database.h"

namespace allot::db {
namespace {

using support::Database;

Database& server_with_log() {
  static Database server({"--log-bin=log", "--binlog-format=ROW", "--server-id=1"});
  return server;
}

// Message for an account with these privileges; empty: it may follow.
std::string refusal(Database& server, const std::string& user, const std::string& rights) {
  auto root = server.connect();
  root.execute("CREATE USER IF NOT EXISTS '" + user + "'@'localhost' IDENTIFIED BY 'w'");
  if (!rights.empty()) {
    root.execute("GRANT " + rights + " ON *.* TO '" + user + "'@'localhost'");
  }
  ConnectOptions options = server.options();
  options.user = user;
  options.password = "w";
  try {
    const BinlogStream stream(options, "any");
    return {};
  } catch (const DbError& error) {
    return error.what();
  }
}

TEST(BinlogStreamTest, TwoRightsAreEnough) {
  EXPECT_EQ(refusal(server_with_log(), "reader", "REPLICATION SLAVE, REPLICATION CLIENT"), "");
}

TEST(BinlogStreamTest, AMissingRightIsNamed) {
  const std::string wanted = "REPLICATION SLAVE and REPLICATION CLIENT on *.*";
  for (const auto& [user, rights] :
       {std::pair{"none", ""}, {"looks", "REPLICATION CLIENT"}, {"follows", "REPLICATION SLAVE"}}) {
    EXPECT_NE(refusal(server_with_log(), user, rights).find(wanted), std::string::npos)
        << user << ": " << refusal(server_with_log(), user, rights);
  }
}

TEST(BinlogStreamTest, ALogThatIsOffIsNamed) {
  Database server({"--skip-log-bin"});
  EXPECT_NE(refusal(server, "reader", "REPLICATION SLAVE, REPLICATION CLIENT").find("log_bin"),
            std::string::npos);
}

TEST(BinlogStreamTest, AnotherFormatIsNamed) {
  Database server({"--log-bin=log", "--binlog-format=MIXED", "--server-id=1"});
  EXPECT_NE(refusal(server, "reader", "REPLICATION SLAVE, REPLICATION CLIENT").find("MIXED"),
            std::string::npos);
}

// A replica starts at a random id of the upper half.
TEST(BinlogStreamTest, TwoStreamsHaveTwoIds) {
  const BinlogStream one(server_with_log().options(), "any");
  const BinlogStream two(server_with_log().options(), "any");
  EXPECT_NE(one.server_id(), two.server_id());
  EXPECT_GE(one.server_id(), std::uint32_t{1} << 31);
  EXPECT_GE(two.server_id(), std::uint32_t{1} << 31);
}

TEST(BinlogStreamTest, AnInterruptEndsIt) {
  BinlogStream stream(server_with_log().options(), "any");
  stream.interrupt();
  EXPECT_THROW(
      {
        for (;;) stream.next();
      },
      DbError);
}

}  // namespace
}  // namespace allot::db
