// SPDX-License-Identifier: Apache-2.0
#include "db/statement.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/error.h"

namespace allot::db {
namespace {

std::string defect_of(const Statement& statement) {
  try {
    return "rendered: " + statement.render();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), kExitSoftware);
    return error.what();
  }
}

constexpr sql::SqlText kOne{"one", "SELECT :value"};

TEST(StatementTest, NumbersAndTextBecomeLiterals) {
  EXPECT_EQ(Statement(kOne).set("value", 42U).render(), "SELECT 42");
  EXPECT_EQ(Statement(kOne).set("value", -42).render(), "SELECT -42");
  EXPECT_EQ(Statement(kOne).set("value", std::numeric_limits<std::uint64_t>::max()).render(),
            "SELECT 18446744073709551615");
  EXPECT_EQ(Statement(kOne).set("value", "O'Neil").render(), R"(SELECT 'O\'Neil')");
  EXPECT_EQ(Statement(kOne).set("value", std::string("")).render(), "SELECT ''");
  EXPECT_EQ(Statement(kOne).set_bytes("value", "a\\b").render(), R"(SELECT _binary'a\\b')");
  EXPECT_EQ(Statement(kOne).set_raw("value", "(1,2),(3,4)").render(), "SELECT (1,2),(3,4)");
}

TEST(StatementTest, AValueIsNeverReadForPlaceholders) {
  constexpr sql::SqlText kTwo{"two", "SELECT :a, :b"};
  EXPECT_EQ(Statement(kTwo).set("a", ":b -- '").set("b", ":a").render(),
            R"(SELECT ':b -- \'', ':a')");
}

TEST(StatementTest, NamesAreTakenWhole) {
  constexpr sql::SqlText kSimilar{"similar", "SELECT :a,:ab,:a_2;"};
  EXPECT_EQ(Statement(kSimilar).set("ab", 2).set("a", 1).set("a_2", 3).render(), "SELECT 1,2,3");
}

TEST(StatementTest, APlaceholderMayStandSeveralTimes) {
  constexpr sql::SqlText kTwice{"twice", "SELECT :a + :a"};
  EXPECT_EQ(Statement(kTwice).set("a", 1).render(), "SELECT 1 + 1");
}

TEST(StatementTest, QuotedTextOfTheFileIsLeftAlone) {
  constexpr sql::SqlText kFormat{"format", "SELECT DATE_FORMAT(:at, '%H:%i:%s -- :at') -- 'x"};
  EXPECT_EQ(Statement(kFormat).set("at", 1).render(), "SELECT DATE_FORMAT(1, '%H:%i:%s -- :at')");
}

TEST(StatementTest, CommentsAreNotSent) {
  constexpr sql::SqlText kComments{"comments",
                                   "-- the holder's :name\nSELECT :a -- it's :b\n  FROM t;\n"};
  EXPECT_EQ(Statement(kComments).set("a", 1).render(), "\nSELECT 1 \n  FROM t");
}

TEST(StatementTest, ColonsThatAreNoPlaceholders) {
  constexpr sql::SqlText kColons{"colons", "SELECT @a := 1, a::b, : c, :9, :"};
  EXPECT_EQ(defect_of(Statement(kColons)), "defect: colons.sql: no value for placeholder 'b'");
  constexpr sql::SqlText kPlain{"plain", "SELECT @a := 1, : c, :9, :"};
  EXPECT_EQ(Statement(kPlain).render(), "SELECT @a := 1, : c, :9, :");
}

TEST(StatementTest, AMissingOrUnknownValueIsADefectThatNamesTheFile) {
  EXPECT_EQ(defect_of(Statement(kOne)), "defect: one.sql: no value for placeholder 'value'");
  EXPECT_EQ(defect_of(Statement(kOne).set("value", 1).set("valeu", 2)),
            "defect: one.sql: no placeholder for value 'valeu'");
}

TEST(StatementTest, OnlyTheClosingSemicolonIsCut) {
  constexpr sql::SqlText kSeveral{"several", "SELECT 1;\nSELECT ';' ;\n\n"};
  EXPECT_EQ(Statement(kSeveral).render(), "SELECT 1;\nSELECT ';'");
  EXPECT_EQ(Statement(kSeveral).name(), "several");
}

// Reads a literal like the server in a session without NO_BACKSLASH_ESCAPES and ANSI_QUOTES.
std::string as_the_server_reads(std::string_view literal) {
  EXPECT_GE(literal.size(), 2U);
  EXPECT_EQ(literal.front(), '\'');
  EXPECT_EQ(literal.back(), '\'');
  std::string text;
  for (std::size_t i = 1; i + 1 < literal.size(); ++i) {
    EXPECT_NE(literal[i], '\'') << "the literal ends too early";
    if (literal[i] != '\\') {
      text += literal[i];
      continue;
    }
    switch (literal[++i]) {
      case '0':
        text += '\0';
        break;
      case 'n':
        text += '\n';
        break;
      case 'r':
        text += '\r';
        break;
      case 'Z':
        text += '\x1a';
        break;
      default:
        text += literal[i];
    }
  }
  return text;
}

TEST(StatementTest, EveryByteSurvivesQuoting) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) {
    const std::string one(1, static_cast<char>(byte));
    EXPECT_EQ(as_the_server_reads(Statement::quoted(one)), one) << "byte " << byte;
    all += one;
  }
  EXPECT_EQ(as_the_server_reads(Statement::quoted(all)), all);
  // A trailing backslash must not swallow the closing quote, and a NUL must not end the statement.
  EXPECT_EQ(Statement::quoted("\\"), R"('\\')");
  EXPECT_EQ(Statement::quoted(std::string_view("\0", 1)), R"('\0')");
}

TEST(StatementsIn, CountsNoSemicolonOfALiteral) {
  EXPECT_EQ(statements_in("COMMIT"), 1U);
  EXPECT_EQ(statements_in("BEGIN;\nSELECT 1;\nCOMMIT"), 3U);
  EXPECT_EQ(statements_in("SELECT ';', 'it\\'s; \\\\'; SELECT \"a\"; COMMIT"), 3U);
  EXPECT_EQ(statements_in("SELECT " + Statement::quoted("a';\\;'") + "; COMMIT"), 2U);
}

}  // namespace
}  // namespace allot::db
