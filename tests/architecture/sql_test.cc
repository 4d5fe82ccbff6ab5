// SPDX-License-Identifier: Apache-2.0
// SQL stands in sql/, where it is read as SQL and its plan is tested, and each of it is used.
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>

#include "architecture/source_files.h"

namespace allot::architecture {
namespace {

// Where a program may speak SQL itself: sessions and migrations, and the database of the embedded
// server, which no file of sql/ could be run in before it exists.
bool may_speak_sql(const SourceFile& file, const std::string& literal) {
  return file.in("daemon/db/") ||
         (file.in("daemon/embedded/") && literal.starts_with("CREATE DATABASE"));
}

std::vector<std::string> sql_in(const SourceFile& file) {
  static const std::regex kSql(
      R"(\b(SELECT\s.*|INSERT\s.*INTO|REPLACE\s+INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM|)"
      R"((CREATE|ALTER|DROP|TRUNCATE)\s+(TABLE|DATABASE|INDEX|USER)|SHOW\s+\w+|KILL\s+\w+)\b)");
  std::vector<std::string> findings;
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    for (const std::string& literal : literals_of(file.lines[i])) {
      if (std::regex_search(literal, kSql) && !may_speak_sql(file, literal)) {
        findings.push_back(file.at(i) + literal);
      }
    }
  }
  return findings;
}

TEST(SqlTest, StandsInSqlFiles) {
  std::vector<std::string> findings;
  for (const SourceFile& file : sources_below({"daemon", "plugins"})) {
    for (std::string& finding : sql_in(file)) findings.push_back(std::move(finding));
  }
  EXPECT_TRUE(findings.empty()) << joined(findings);
}

TEST(SqlTest, InASourceIsFound) {
  const auto found = [](const std::string& path, const std::string& line) {
    return sql_in(made_up(path, line)).size();
  };
  EXPECT_EQ(found("daemon/queue/x.cc", "db.execute(\"SELECT 1\");"), 1U);
  EXPECT_EQ(found("daemon/queue/x.cc", "db.execute(\"DELETE FROM task\");"), 1U);
  EXPECT_EQ(found("daemon/cli/x.cc", "f(\"a\", \"INSERT IGNORE INTO task VALUES\");"), 1U);
  EXPECT_EQ(found("daemon/worker/x.cc", "f(\"UPDATE task SET attempt = 1\");"), 1U);
  EXPECT_EQ(found("daemon/worker/x.cc", "// \"SELECT 1\""), 0U);
  EXPECT_EQ(found("daemon/worker/x.cc", "db.execute(\"COMMIT\"); say(\"please SELECT\");"), 0U);
  EXPECT_EQ(found("daemon/db/x.cc", "db.execute(\"SELECT 1\");"), 0U);
  EXPECT_EQ(found("daemon/embedded/x.cc", "db.execute(\"CREATE DATABASE x\");"), 0U);
  EXPECT_EQ(found("daemon/embedded/x.cc", "db.execute(\"CREATE TABLE x\");"), 1U);
}

// `word` in `text`, and not as the beginning of a longer one.
bool has_word(const std::string& text, const std::string& word) {
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const char next = at + word.size() < text.size() ? text[at + word.size()] : ' ';
    if (next != '_' && std::isalnum(static_cast<unsigned char>(next)) == 0) return true;
  }
  return false;
}

TEST(SqlTest, EveryFileIsUsed) {
  EXPECT_FALSE(has_word("sql::k_ack_history sql::k_acks", "sql::k_ack"));

  std::string all;
  for (const SourceFile& file : sources_below({"daemon"})) {
    for (const std::string& line : file.lines) all += line + "\n";
  }
  std::size_t files = 0;
  const std::string folder = std::string(ALLOT_SOURCE_FOLDER) + "/sql/queries";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    ASSERT_EQ(entry.path().extension(), ".sql") << entry.path();
    EXPECT_TRUE(has_word(all, "sql::k_" + entry.path().stem().string()))
        << entry.path().filename() << " is used by nobody";
    ++files;
  }
  EXPECT_GT(files, 20U);
}

// The picture in sql/README.md has each verb's file on an arrow, or in a list.
TEST(SqlTest, EveryFileIsInTheReadme) {
  const std::string readme = text_of("sql/README.md");
  const std::string folder = std::string(ALLOT_SOURCE_FOLDER) + "/sql/queries";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    EXPECT_TRUE(has_word(readme, entry.path().stem().string())) << entry.path().filename();
  }
}

}  // namespace
}  // namespace allot::architecture
