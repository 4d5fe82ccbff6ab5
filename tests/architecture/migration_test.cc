// SPDX-License-Identifier: Apache-2.0
// Migrations only add: programs of the previous version go on while their schema becomes a newer
// one.
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>

#include "architecture/source_files.h"

namespace allot::architecture {
namespace {

// Changes that a statement of the previous version would notice: a name that is gone or means
// something else, and a column without which an INSERT is refused.
std::vector<std::string> disturbances(const std::string& text) {
  static const std::regex kComment("--[^\n]*|/\\*|\\*/");
  const std::string sql = std::regex_replace(text, kComment, " ");
  static const std::regex kTaken(
      R"(\b(DROP\s+(TABLE|COLUMN|DATABASE)|TRUNCATE|RENAME|MODIFY|CHANGE|DELETE\s+FROM)\b[^,;]*)",
      std::regex::icase);
  std::vector<std::string> found;
  for (std::sregex_iterator at(sql.begin(), sql.end(), kTaken), end; at != end; ++at) {
    found.push_back(at->str());
  }
  static const std::regex kColumn(R"(\bADD\s+COLUMN\b[^,;]*)", std::regex::icase);
  static const std::regex kNotNull(R"(\bNOT\s+NULL\b)", std::regex::icase);
  static const std::regex kDefault(R"(\bDEFAULT\b)", std::regex::icase);
  for (std::sregex_iterator at(sql.begin(), sql.end(), kColumn), end; at != end; ++at) {
    const std::string column = at->str();
    if (std::regex_search(column, kNotNull) && !std::regex_search(column, kDefault)) {
      found.push_back(column);
    }
  }
  return found;
}

TEST(MigrationTest, TheyOnlyAdd) {
  std::size_t files = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(ALLOT_SOURCE_FOLDER "/sql/migrations")) {
    ++files;
    const auto found = disturbances(text_of("sql/migrations/" + entry.path().filename().string()));
    EXPECT_TRUE(found.empty()) << entry.path().filename() << joined(found);
  }
  EXPECT_GE(files, 5U);
}

TEST(MigrationTest, WhatTakesIsFound) {
  EXPECT_EQ(disturbances("ALTER TABLE t DROP COLUMN a;").size(), 1U);
  EXPECT_EQ(disturbances("DROP TABLE t;").size(), 1U);
  EXPECT_EQ(disturbances("ALTER TABLE t CHANGE a b INT;").size(), 1U);
  EXPECT_EQ(disturbances("ALTER TABLE t MODIFY a BIGINT;").size(), 1U);
  EXPECT_EQ(disturbances("ALTER TABLE t ADD COLUMN a INT NOT NULL;").size(), 1U);
  EXPECT_EQ(disturbances("ALTER TABLE t ADD COLUMN a INT NOT NULL, ADD COLUMN b INT NULL;").size(),
            1U);
  EXPECT_EQ(disturbances("ALTER TABLE t ADD COLUMN a INT NULL;").size(), 0U);
  EXPECT_EQ(disturbances("ALTER TABLE t ADD COLUMN a INT NOT NULL DEFAULT 0;").size(), 0U);
  EXPECT_EQ(disturbances("-- DROP TABLE t;\nALTER TABLE t ADD KEY k (a);").size(), 0U);
}

}  // namespace
}  // namespace allot::architecture
