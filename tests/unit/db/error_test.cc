// SPDX-License-Identifier: Apache-2.0
// Rule: S55.
#include "db/error.h"

#include <gtest/gtest.h>

namespace allot::db {
namespace {

TEST(IsNotWonTest, OnlyAFailureThatDidNotWaitIs) {
  using std::chrono::milliseconds;
  using std::chrono::seconds;
  const auto not_won = [](unsigned number, milliseconds waited) {
    return is_not_won({number, "text", Phase::kStatement, waited}, seconds(2));
  };
  EXPECT_TRUE(not_won(3572, milliseconds(0)));     // MySQL
  EXPECT_TRUE(not_won(3572, milliseconds(5000)));  // after a wait for the table
  EXPECT_TRUE(not_won(1205, milliseconds(0)));     // MariaDB
  EXPECT_TRUE(not_won(1205, milliseconds(999)));   // on a busy machine
  EXPECT_FALSE(not_won(1205, milliseconds(1000)));
  EXPECT_FALSE(not_won(1205, milliseconds(2000)));
  EXPECT_FALSE(not_won(1213, milliseconds(0)));
}

enum Outcome { kKnown, kUnknown };

// One error number in four phases. While connecting and in an open transaction the outcome is
// always known: nothing was done.
struct Line {
  unsigned number;
  ErrorClass error_class;  // while the outcome is known
  Outcome autocommit;      // for a statement that commits by itself
  Outcome commit;          // for COMMIT
  const char* message;
};

// Numbers instead of the connector's names, because the server's documents and logs use numbers.
constexpr Line kTable[] = {
    {1213, ErrorClass::kRetryable, kKnown, kKnown, "text"},  // deadlock
    {1205, ErrorClass::kRetryable, kKnown, kKnown, "text"},  // lock wait timeout
    {1020, ErrorClass::kRetryable, kKnown, kKnown, "text"},  // a row is newer than the view
    {1412, ErrorClass::kRetryable, kKnown, kKnown, "text"},  // the table was altered
    {8002, ErrorClass::kRetryable, kKnown, kKnown, "text"},  // TiDB: a locking read met a write
    {8022, ErrorClass::kRetryable, kKnown, kKnown, "text"},  // TiDB: a conflict at the commit
    {8028, ErrorClass::kRetryable, kKnown, kKnown, "text"},  // TiDB: the schema was changed
    {9007, ErrorClass::kRetryable, kKnown, kKnown, "text"},  // TiDB: a write conflict
    {1062, ErrorClass::kDuplicate, kKnown, kKnown, "text"},  // duplicate key
    {1021, ErrorClass::kFull, kKnown, kUnknown, "text"},     // disk full
    {1030, ErrorClass::kFull, kKnown, kUnknown, "text"},     // error of the storage engine
    {1037, ErrorClass::kFull, kKnown, kUnknown, "text"},     // out of memory
    {1041, ErrorClass::kFull, kKnown, kUnknown, "text"},     // out of memory, or of threads
    {1114, ErrorClass::kFull, kKnown, kUnknown, "text"},     // the table is full
    {1534, ErrorClass::kFull, kKnown, kUnknown, "text"},  // a row of the binary log was not written
    {1026, ErrorClass::kFull, kUnknown, kUnknown,
     "text"},  // a file was not written: the binary log, at the commit
    {1040, ErrorClass::kGone, kKnown, kKnown, "text"},      // too many connections
    {1203, ErrorClass::kGone, kKnown, kKnown, "text"},      // too many connections of this user
    {1226, ErrorClass::kGone, kKnown, kKnown, "text"},      // resource limit of this user
    {1047, ErrorClass::kGone, kKnown, kKnown, "text"},      // Galera: the node left its cluster
    {1290, ErrorClass::kGone, kKnown, kKnown, "text"},      // --read-only: a former primary
    {1836, ErrorClass::kGone, kKnown, kKnown, "text"},      // read-only mode
    {4031, ErrorClass::kGone, kKnown, kKnown, "text"},      // disconnected for inactivity
    {1317, ErrorClass::kGone, kUnknown, kUnknown, "text"},  // query interrupted
    {1180, ErrorClass::kGone, kUnknown, kUnknown,
     "text"},  // Galera: the cluster was lost during COMMIT
    {3100, ErrorClass::kGone, kUnknown, kUnknown, "text"},  // Group Replication: not certified
    {3101, ErrorClass::kGone, kUnknown, kUnknown, "text"},  // Group Replication: rolled back
    {1053, ErrorClass::kGone, kUnknown, kUnknown, "text"},  // server shutdown in progress
    {1927, ErrorClass::kGone, kUnknown, kUnknown, "text"},  // connection was killed
    {1152, ErrorClass::kGone, kUnknown, kUnknown, "text"},  // aborted
    {1184, ErrorClass::kGone, kUnknown, kUnknown, "text"},  // aborted
    {1158, ErrorClass::kGone, kUnknown, kUnknown, "text"},  // packet not read
    {1159, ErrorClass::kGone, kUnknown, kUnknown, "text"},  // not read in time
    {1160, ErrorClass::kGone, kUnknown, kUnknown, "text"},  // packet not written
    {1161, ErrorClass::kGone, kUnknown, kUnknown, "text"},  // not written in time
    {1105, ErrorClass::kGone, kUnknown, kUnknown,
     "target: d.0.primary: vttablet: rpc error: code = Unavailable desc = x"},             // vtgate
    {1105, ErrorClass::kGone, kUnknown, kUnknown, "no healthy tablet available for d.0"},  // vtgate
    {1105, ErrorClass::kGone, kUnknown, kUnknown,
     "operation not allowed in state SHUTTING_DOWN"},                            // vtgate
    {1105, ErrorClass::kGone, kUnknown, kUnknown, "rpc error: unexpected EOF"},  // vtgate
    {1105, ErrorClass::kGone, kUnknown, kUnknown, "tablet is not serving"},      // vtgate
    {1105, ErrorClass::kFatal, kUnknown, kUnknown, "text"},                      // no more is known
    {1598, ErrorClass::kFatal, kUnknown, kUnknown, "text"},  // binary logging is not possible
    {2001, ErrorClass::kGone, kUnknown, kUnknown, "text"},   // no descriptor for a Unix socket
    {2002, ErrorClass::kGone, kUnknown, kUnknown, "text"},   // no socket
    {2003, ErrorClass::kGone, kUnknown, kUnknown, "text"},   // no host
    {2004, ErrorClass::kGone, kUnknown, kUnknown, "text"},   // no descriptor for TCP
    {2005, ErrorClass::kGone, kUnknown, kUnknown, "text"},   // unknown host
    {2006, ErrorClass::kGone, kUnknown, kUnknown, "text"},   // server has gone away
    {2012, ErrorClass::kGone, kUnknown, kUnknown, "text"},   // lost in the handshake
    {2013, ErrorClass::kGone, kUnknown, kUnknown, "text"},   // lost during the query, or too late
    {2014, ErrorClass::kGone, kUnknown, kUnknown, "text"},   // commands out of sync
    {2026, ErrorClass::kGone, kUnknown, kUnknown, "text"},   // TLS: cut
    {2027, ErrorClass::kGone, kUnknown, kUnknown, "text"},   // malformed packet
    {2055, ErrorClass::kGone, kUnknown, kUnknown, "text"},   // lost, with the system's error
    {2008, ErrorClass::kFatal, kUnknown, kUnknown, "text"},  // this side is out of memory
    {2020, ErrorClass::kFatal, kUnknown, kUnknown, "text"},  // packet too large: no resend helps
    {1044, ErrorClass::kRefused, kKnown, kKnown, "text"},    // no access to the database
    {1045, ErrorClass::kRefused, kKnown, kKnown, "text"},    // wrong password
    {1049, ErrorClass::kRefused, kKnown, kKnown, "text"},    // unknown database
    {1054, ErrorClass::kRefused, kKnown, kKnown, "text"},    // unknown column: wrong schema
    {1130, ErrorClass::kRefused, kKnown, kKnown, "text"},    // this host may not connect
    {1142, ErrorClass::kRefused, kKnown, kKnown, "text"},    // no privilege on the table
    {1143, ErrorClass::kRefused, kKnown, kKnown, "text"},    // no privilege on the column
    {1146, ErrorClass::kRefused, kKnown, kKnown, "text"},    // no such table
    {1227, ErrorClass::kRefused, kKnown, kKnown, "text"},    // no such privilege
    {1370, ErrorClass::kRefused, kKnown, kKnown, "text"},    // no privilege on the procedure
    {1698, ErrorClass::kRefused, kKnown, kKnown, "text"},    // wrong password, by plugin
    {70000, ErrorClass::kRefused, kKnown, kKnown, "text"},   // kUnfitServer
    {70001, ErrorClass::kRefused, kKnown, kKnown, "text"},   // kUntrustedServer
    {2059, ErrorClass::kRefused, kKnown, kKnown, "text"},    // authentication plugin not loaded
    {2061, ErrorClass::kRefused, kKnown, kKnown, "text"},    // authentication plugin failed
    {1064, ErrorClass::kFatal, kKnown, kUnknown, "text"},    // syntax error
    {1406, ErrorClass::kFatal, kKnown, kUnknown, "text"},    // data too long
    {1644, ErrorClass::kFatal, kKnown, kUnknown, "text"},    // SIGNAL of a trigger
    {1690, ErrorClass::kFatal, kKnown, kUnknown, "text"},    // a fence that did not hold
    {0, ErrorClass::kFatal, kKnown, kUnknown, "text"},       // no number
};

ExitCode exit_code_of(ErrorClass error_class) {
  switch (error_class) {
    case ErrorClass::kGone:
    case ErrorClass::kFull:
      return kExitUnavailable;
    case ErrorClass::kRefused:
      return kExitConfig;
    default:
      return kExitFailure;
  }
}

class ErrorTest : public testing::TestWithParam<Line> {
 protected:
  static void expect(Phase phase, Outcome outcome) {
    const Line& line = GetParam();
    const ErrorClass error_class = outcome == kUnknown ? ErrorClass::kGone : line.error_class;
    const DbError error(line.number, line.message, phase);
    EXPECT_EQ(error.number(), line.number);
    EXPECT_EQ(error.outcome_unknown(), outcome == kUnknown);
    EXPECT_EQ(error.error_class(), error_class) << name_of(error.error_class());
    EXPECT_EQ(error.exit_code(), exit_code_of(error_class));
    EXPECT_STREQ(error.what(), line.message);
  }
};

TEST_P(ErrorTest, WhileConnecting) {
  expect(Phase::kConnect, kKnown);
}
TEST_P(ErrorTest, InAnOpenTransaction) {
  expect(Phase::kStatement, kKnown);
}
TEST_P(ErrorTest, LostReplyOfAnAutocommitStatement) {
  expect(Phase::kAutocommit, GetParam().autocommit);
}
TEST_P(ErrorTest, AtCommit) {
  expect(Phase::kCommit, GetParam().commit);
}

INSTANTIATE_TEST_SUITE_P(Table, ErrorTest, testing::ValuesIn(kTable), [](const auto& at) {
  return "Line" + std::to_string(at.index) + "Error" + std::to_string(at.param.number);
});

TEST(ErrorTest, OtherWordsKeepTheMeaning) {
  const DbError lost(1105, "code = Unavailable", Phase::kCommit);
  const DbError again(lost, "submit: lost");
  EXPECT_EQ(again.number(), 1105U);
  EXPECT_TRUE(again.outcome_unknown());
  EXPECT_EQ(again.error_class(), ErrorClass::kGone);
  EXPECT_EQ(again.exit_code(), kExitUnavailable);
  EXPECT_STREQ(again.what(), "submit: lost");
}

// The server stops at a statement that it refuses. After a broken connection it continues.
TEST(ErrorTest, OnlyABrokenConnectionLeavesTheRestOfThePacketOpen) {
  for (const unsigned number : {1053U, 1927U, 1160U, 2006U, 2008U, 2013U, 2026U, 2055U}) {
    EXPECT_TRUE(breaks_connection(number, "text")) << number;
  }
  EXPECT_TRUE(breaks_connection(1105, "code = Unavailable"));
  for (const unsigned number : {1105U, 1180U, 1213U, 1290U, 1317U, 1690U, 3100U}) {
    EXPECT_FALSE(breaks_connection(number, "text")) << number;
  }
}

TEST(ErrorTest, EveryClassHasItsOwnName) {
  EXPECT_STREQ(name_of(ErrorClass::kRetryable), "retryable");
  EXPECT_STREQ(name_of(ErrorClass::kDuplicate), "duplicate");
  EXPECT_STREQ(name_of(ErrorClass::kGone), "gone");
  EXPECT_STREQ(name_of(ErrorClass::kRefused), "refused");
  EXPECT_STREQ(name_of(ErrorClass::kFatal), "fatal");
}

TEST(MissingGrant, FromWhatTheServersSay) {
  EXPECT_EQ(
      missing_grant(1142, "INSERT command denied to user 'app'@'localhost' for table `d-1`.`task`",
                    "app@%", "d-1"),
      "GRANT INSERT ON `d-1`.`task` TO 'app'@'%'");
  EXPECT_EQ(missing_grant(1142, "DELETE, UPDATE command denied to user 'a'@'h' for table 'task'",
                          "a@b@10.0.%", "d"),
            "GRANT DELETE, UPDATE ON `d`.`task` TO 'a@b'@'10.0.%'");
  EXPECT_EQ(
      missing_grant(1143, "SELECT command denied to user 'a'@'h' for column 'cause' in table 't'",
                    "a@%", "d"),
      "GRANT SELECT ON `d`.`t` TO 'a'@'%'");
  EXPECT_EQ(missing_grant(1370, "execute command denied to user 'a'@'h' for routine 'd.allot_task'",
                          "a@%", "d"),
            "GRANT EXECUTE ON `d`.* TO 'a'@'%'");
  EXPECT_EQ(missing_grant(1044, "Access denied for user 'a'@'h' to database 'd'", "a@h", "d"), "");
  EXPECT_EQ(missing_grant(1142, "Zugriff verweigert", "a@h", "d"), "");
  EXPECT_EQ(missing_grant(1142, "SELECT command denied to user 'a'@'h' for table 't'", "", "d"),
            "");
}

}  // namespace
}  // namespace allot::db
