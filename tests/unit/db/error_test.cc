// SPDX-License-Identifier: Apache-2.0
#include "db/error.h"

#include <gtest/gtest.h>

namespace allot::db {
namespace {

struct Case {
  unsigned number;
  ErrorClass error_class;
  ExitCode exit_code;
};

class ErrorTest : public testing::TestWithParam<Case> {};

TEST_P(ErrorTest, ClassAndExitCode) {
  const DbError error(GetParam().number, "text");
  EXPECT_EQ(error.number(), GetParam().number);
  EXPECT_EQ(error.error_class(), GetParam().error_class) << name_of(error.error_class());
  EXPECT_EQ(error.exit_code(), GetParam().exit_code);
  EXPECT_STREQ(error.what(), "text");
}

// Numbers instead of the connector's names, because the server's documents and logs use numbers.
INSTANTIATE_TEST_SUITE_P(
    Numbers, ErrorTest,
    testing::Values(
        Case{1213, ErrorClass::kRetryable, kExitFailure},  // deadlock
        Case{1205, ErrorClass::kRetryable, kExitFailure},  // lock wait timeout
        Case{1412, ErrorClass::kRetryable, kExitFailure},  // the table was altered meanwhile
        Case{1021, ErrorClass::kFull, kExitUnavailable},   // disk full
        Case{1026, ErrorClass::kFull, kExitUnavailable},   // a file cannot be written
        Case{1030, ErrorClass::kFull, kExitUnavailable},   // the storage engine's own error
        Case{1037, ErrorClass::kFull, kExitUnavailable},   // out of memory
        Case{1041, ErrorClass::kFull, kExitUnavailable},   // out of memory, or of threads
        Case{1114, ErrorClass::kFull, kExitUnavailable},   // the table is full
        Case{1534, ErrorClass::kFull, kExitUnavailable},   // the binary log cannot be written
        Case{1062, ErrorClass::kDuplicate, kExitFailure},  // duplicate key
        Case{2001, ErrorClass::kGone, kExitUnavailable},   // no descriptor for a unix socket
        Case{2004, ErrorClass::kGone, kExitUnavailable},   // nor for one of TCP
        Case{2002, ErrorClass::kGone, kExitUnavailable},   // no socket
        Case{2003, ErrorClass::kGone, kExitUnavailable},   // no host
        Case{2005, ErrorClass::kGone, kExitUnavailable},   // unknown host
        Case{2006, ErrorClass::kGone, kExitUnavailable},   // server has gone away
        Case{2012, ErrorClass::kGone, kExitUnavailable},   // server lost in the handshake
        Case{2013, ErrorClass::kGone, kExitUnavailable},   // lost during query, or timeout
        Case{2014, ErrorClass::kGone, kExitUnavailable},   // commands out of sync
        Case{1040, ErrorClass::kGone, kExitUnavailable},   // too many connections
        Case{1047, ErrorClass::kGone, kExitUnavailable},   // Galera: the node left its cluster
        Case{1053, ErrorClass::kGone, kExitUnavailable},   // server shutdown in progress
        Case{1203, ErrorClass::kGone, kExitUnavailable},   // too many connections of this user
        Case{1226, ErrorClass::kGone, kExitUnavailable},   // resource limit of this user
        Case{1290, ErrorClass::kGone, kExitUnavailable},   // --read-only: a former primary
        Case{1317, ErrorClass::kGone, kExitUnavailable},   // query interrupted
        Case{1836, ErrorClass::kGone, kExitUnavailable},   // read-only mode
        Case{1927, ErrorClass::kGone, kExitUnavailable},   // connection was killed
        Case{2055, ErrorClass::kGone, kExitUnavailable},   // lost, with the system's error
        Case{4031, ErrorClass::kGone, kExitUnavailable},   // disconnected for inactivity
        Case{1044, ErrorClass::kRefused, kExitConfig},     // no access to the database
        Case{1045, ErrorClass::kRefused, kExitConfig},     // wrong password
        Case{1049, ErrorClass::kRefused, kExitConfig},     // unknown database
        Case{1054, ErrorClass::kRefused, kExitConfig},     // unknown column: wrong schema
        Case{1130, ErrorClass::kRefused, kExitConfig},     // this host may not connect
        Case{1142, ErrorClass::kRefused, kExitConfig},     // no privilege on the table
        Case{1143, ErrorClass::kRefused, kExitConfig},     // no privilege on the column
        Case{1146, ErrorClass::kRefused, kExitConfig},     // no such table
        Case{1227, ErrorClass::kRefused, kExitConfig},     // no such privilege
        Case{2026, ErrorClass::kRefused, kExitConfig},     // TLS: the server cannot be trusted
        Case{1698, ErrorClass::kRefused, kExitConfig},     // wrong password, by plugin
        Case{1064, ErrorClass::kFatal, kExitFailure},      // syntax error
        Case{1406, ErrorClass::kFatal, kExitFailure},      // data too long
        Case{2020, ErrorClass::kFatal, kExitFailure},      // packet too large: no resend helps
        Case{0, ErrorClass::kFatal, kExitFailure}),
    [](const auto& at) { return "Error" + std::to_string(at.param.number); });

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
  EXPECT_EQ(missing_grant(1044, "Access denied for user 'a'@'h' to database 'd'", "a@h", "d"), "");
  EXPECT_EQ(missing_grant(1142, "Zugriff verweigert", "a@h", "d"), "");
  EXPECT_EQ(missing_grant(1142, "SELECT command denied to user 'a'@'h' for table 't'", "", "d"),
            "");
}

}  // namespace
}  // namespace allot::db
