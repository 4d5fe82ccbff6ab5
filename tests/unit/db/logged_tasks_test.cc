// SPDX-License-Identifier: Apache-2.0
// Rows of the binary log, as written by a server; and invalid ones.
// Rule: S76.
#include "db/logged_tasks.h"

#include <gtest/gtest.h>

namespace allot::db {
namespace {

using namespace std::string_literals;

// queue_id INT, partition_no SMALLINT, prio TINYINT, run_key BIGINT, expires_at DATETIME(6), type
// VARCHAR(127) of one byte each, payload MEDIUMBLOB.
const LoggedColumns kColumns{"\x03\x02\x01\x08\x12\x0f\xfc"s, "\x06\x7f\x00\x03"s};
const std::string kAll = "\x7f";

std::string row(char queue, char key, const std::string& payload, bool expires = false) {
  return (expires ? "\0"s : "\x10"s) + queue + "\0\0\0"s + "\1\0"s + "\1"s + key +
         "\0\0\0\0\0\0\0"s + (expires ? std::string(8, 'd') : "") + "\1t"s +
         static_cast<char>(payload.size()) + "\0\0"s + payload;
}

TEST(LoggedTasksTest, EachRowIsATask) {
  EXPECT_EQ(logged_tasks(kColumns, kAll, row(7, 9, "abc") + row(8, 10, "", true) + row(7, 11, "x")),
            (std::vector<LoggedTask>{{7, 9}, {8, 10}, {7, 11}}));
}

// With binlog_row_image = MINIMAL.
TEST(LoggedTasksTest, ColumnsMayBeMissing) {
  const std::string four = "\0"s + "\7\0\0\0"s + "\1\0"s + "\1"s + "\x09\0\0\0\0\0\0\0"s;
  EXPECT_EQ(logged_tasks(kColumns, "\x0f", four + four), (std::vector<LoggedTask>{{7, 9}, {7, 9}}));
  EXPECT_EQ(logged_tasks(kColumns, "\x07", four), std::nullopt) << "the run_key";
}

TEST(LoggedTasksTest, ARowThatIsCutOffIsNone) {
  const std::string whole = row(7, 9, "abc", true);
  for (std::size_t size = 1; size < whole.size(); ++size) {
    EXPECT_EQ(logged_tasks(kColumns, kAll, whole.substr(0, size)), std::nullopt) << size;
  }
}

TEST(LoggedTasksTest, AnUnknownTypeIsNone) {
  LoggedColumns columns = kColumns;
  columns.types[5] = '\xf5';  // JSON
  EXPECT_EQ(logged_tasks(columns, kAll, row(7, 9, "abc")), std::nullopt);
  columns = kColumns;
  columns.metadata.clear();
  EXPECT_EQ(logged_tasks(columns, kAll, row(7, 9, "abc")), std::nullopt);
}

TEST(LoggedTasksTest, AnUpdateHasTasksWithAChangedRunKey) {
  EXPECT_EQ(logged_tasks(kColumns, kAll,
                         row(7, 9, "abc") + row(7, 5, "abc") + row(8, 3, "") + row(8, 3, "new") +
                             row(8, 4, "", true) + row(8, 6, ""),
                         kAll),
            (std::vector<LoggedTask>{{7, 5, 9}, {8, 6, 4}}));
}

// With binlog_row_image = MINIMAL: the key before, and the changes after.
TEST(LoggedTasksTest, ColumnsOfAnUpdateMayBeMissing) {
  const std::string key = "\0"s + "\7\0\0\0"s + "\1\0"s + "\1"s + "\x09\0\0\0\0\0\0\0"s;
  const std::string run_key = "\0"s + "\x05\0\0\0\0\0\0\0"s;
  const std::string type = "\0\1u"s;
  EXPECT_EQ(logged_tasks(kColumns, "\x0f", key + run_key, "\x08"),
            (std::vector<LoggedTask>{{7, 5, 9}}));
  EXPECT_EQ(logged_tasks(kColumns, "\x0f", key + type, "\x20"), (std::vector<LoggedTask>{}));
  EXPECT_EQ(logged_tasks(kColumns, "\x07", key + run_key, kAll), std::nullopt) << "the run_key";
}

TEST(LoggedTasksTest, AnUpdatedRowThatIsCutOffIsNone) {
  const std::string whole = row(7, 9, "abc", true) + row(7, 5, "abc", true);
  for (std::size_t size = 1; size < whole.size(); ++size) {
    EXPECT_EQ(logged_tasks(kColumns, kAll, whole.substr(0, size), kAll), std::nullopt) << size;
  }
}

}  // namespace
}  // namespace allot::db
