// SPDX-License-Identifier: Apache-2.0
// Migrations only add: programs of the previous version continue while their schema is upgraded.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <regex>

#include "architecture/source_files.h"

namespace allot::architecture {
namespace {

// Changes that affect statements of the previous version: a name that is gone or changed its
// meaning, and a column without which an INSERT is refused.
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

std::map<std::string, std::string> migrations() {
  std::map<std::string, std::string> texts;
  for (const auto& entry :
       std::filesystem::directory_iterator(ALLOT_SOURCE_FOLDER "/sql/migrations")) {
    const std::string name = entry.path().filename().string();
    texts[name] = text_of("sql/migrations/" + name);
  }
  return texts;
}

TEST(MigrationTest, MigrationsOnlyAdd) {
  for (const auto& [name, text] : migrations()) {
    const auto found = disturbances(text);
    EXPECT_TRUE(found.empty()) << name << joined(found);
  }
}

// FNV-1a, which allot_schema records too.
std::uint64_t checksum(std::string_view text) {
  std::uint64_t hash = 14695981039346656037U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return hash;
}

// Never edit a migration listed here, not even its comments, and never change its number here:
// databases were made by it, and a database made by another text is refused. Add a new file and its
// row.
const std::map<std::string, std::uint64_t> kLanded = {
    {"0001_initial.sql", 0xc59eea007266d9e5U},
};

TEST(MigrationTest, LandedMigrationsNeverChange) {
  std::map<std::string, std::uint64_t> found;
  for (const auto& [name, text] : migrations()) found[name] = checksum(text);
  EXPECT_EQ(found, kLanded);
  EXPECT_EQ(checksum("a"), 0xaf63dc4c8601ec8cU);
}

// Statements that the migrator could not repeat after a partial run: the error that one thing
// exists already must mean that the whole statement is done. Also syntax unknown to MySQL.
std::vector<std::string> half_done(const std::string& text) {
  static const std::regex kComment("--[^\n]*|/\\*|\\*/");
  const std::string sql = std::regex_replace(text, kComment, " ");
  static const std::regex kTwo(R"(\bALTER\s+TABLE\b[^;]*\bADD\b[^;]*\bADD\b[^;]*)",
                               std::regex::icase);
  static const std::regex kMariaDb(
      R"(\bADD\s+[^;]*\bIF\s+NOT\s+EXISTS\b[^;]*|\bCREATE\s+[A-Z ]*INDEX\s+IF\b[^;]*)",
      std::regex::icase);
  std::vector<std::string> found;
  for (const std::regex* wrong : {&kTwo, &kMariaDb}) {
    for (std::sregex_iterator at(sql.begin(), sql.end(), *wrong), end; at != end; ++at) {
      found.push_back(at->str());
    }
  }
  return found;
}

TEST(MigrationTest, EachStatementMayBeRepeated) {
  for (const auto& [name, text] : migrations()) {
    const auto found = half_done(text);
    EXPECT_TRUE(found.empty()) << name << joined(found);
  }
  EXPECT_EQ(half_done("ALTER TABLE t ADD COLUMN a INT NULL, ADD KEY a (a);").size(), 1U);
  EXPECT_EQ(half_done("ALTER TABLE t ADD COLUMN /*M!1 IF NOT EXISTS */ a INT NULL;").size(), 1U);
  EXPECT_EQ(half_done("CREATE INDEX IF NOT EXISTS a ON t (a);").size(), 1U);
  EXPECT_EQ(half_done("ALTER TABLE t ADD KEY a (a); ALTER TABLE t ADD KEY b (b);").size(), 0U);
  EXPECT_EQ(half_done("CREATE TABLE IF NOT EXISTS t (a INT);").size(), 0U);
}

TEST(MigrationTest, DestructiveStatementsAreFound) {
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
