// SPDX-License-Identifier: Apache-2.0
// Numbers of safety rules (S1 ...) and features (A1 ...): each mentioned number has its line in
// docs/rules.md or docs/features.md, each rule is kept and tested somewhere, and the tests that a
// feature names exist.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "architecture/page_tables.h"
#include "architecture/source_files.h"
#include "architecture/test_names.h"

namespace allot::architecture {
namespace {

// Texts that look like numbers but have another meaning: the control characters U+0080 to U+009F,
// and the language. The features with these two numbers are called by their names.
const std::set<std::string>& other_meanings() {
  static const std::set<std::string> kWords{"C1", "C11"};
  return kWords;
}

// Numbers without a line, lines without a mention, and duplicate lines.
std::vector<std::string> mismatches(const Mentions& mentions, const std::vector<Row>& rows) {
  std::vector<std::string> findings;
  std::set<std::string> known;
  for (const Row& row : rows) {
    if (!known.insert(row.number).second) findings.push_back(row.number + " has two lines");
    if (!mentions.contains(row.number)) findings.push_back(row.number + " is mentioned nowhere");
    if (other_meanings().contains(row.number)) findings.push_back(row.number + " means another");
  }
  for (const auto& [number, paths] : mentions) {
    if (known.contains(number) || other_meanings().contains(number)) continue;
    findings.push_back(*paths.begin() + ": " + number + " has no line");
  }
  return findings;
}

std::vector<std::string> faults_of_rule(const Row& row, const RulePlaces& places) {
  std::vector<std::string> findings;
  const auto add = [&](const std::string& text) { findings.push_back(row.number + ": " + text); };
  if (row.cells.size() != 2 || row.cells[0].empty() || row.cells[1].empty())
    add("needs the rule and what it prevents");
  if (places.kept.empty()) add("no source of the product names it");
  if (places.noticed.empty() && places.removals.empty()) add("no test names it");
  return findings;
}

// Rows without a test in the column "guarded by" of any table, and names there that do not exist.
std::vector<std::string> wrong_guards(const SourceFile& page, const TestNames& names,
                                      std::size_t& tests) {
  std::vector<std::string> findings;
  std::size_t column = 0;  // 0: not in such a table
  for (std::size_t i = 0; i < page.lines.size(); ++i) {
    const auto cells = cells_of(page.lines[i]);
    const auto head = std::find(cells.begin(), cells.end(), "guarded by");
    if (cells.empty()) column = 0;
    if (head != cells.end()) {
      column = static_cast<std::size_t>(std::distance(cells.begin(), head));
    } else if (column != 0 && column < cells.size() && !cells[column].starts_with("--")) {
      const auto named = names.named_in(cells[column]);
      tests += named.tests;
      if (named.tests == 0) findings.push_back(page.at(i) + "names no test");
      for (const std::string& name : named.unknown) findings.push_back(page.at(i) + name);
    }
  }
  return findings;
}

SourceFile page_of(const std::string& path) {
  return made_up(path, text_of(path));
}

// Safety rules are defined in one page, features in the other.
std::vector<Row> rows_of_both_pages() {
  std::vector<Row> rows = rows_of(page_of(kRulesPage).lines);
  std::erase_if(rows, [](const Row& row) { return row.number[0] != 'S'; });
  for (const Row& row : rows_of(page_of(kFeaturesPage).lines)) {
    if (row.number[0] != 'S') rows.push_back(row);
  }
  return rows;
}

TEST(NumbersTest, EachHasOneLine) {
  const auto findings = mismatches(mentions_of_the_project(), rows_of_both_pages());
  EXPECT_TRUE(findings.empty()) << joined(findings);
  for (const std::string& word : other_meanings()) {
    EXPECT_TRUE(mentions_of_the_project().contains(word)) << word << " need not be left out";
  }
}

TEST(NumbersTest, EachRuleIsKeptAndTestedSomewhere) {
  const TestNames names = TestNames::of_repository();
  EXPECT_GT(names.programs(), 60U);
  EXPECT_GT(names.mutations(), 20U);
  std::vector<std::string> findings;
  const std::vector<Row> rows = rows_of(page_of(kRulesPage).lines);
  EXPECT_GT(rows.size(), 25U);
  for (const Row& row : rows) {
    for (auto& finding : faults_of_rule(row, places_of(row.number)))
      findings.push_back(std::move(finding));
  }
  EXPECT_TRUE(findings.empty()) << joined(findings);
}

TEST(NumbersTest, ThePageListsTheSourcesThatNameEachRule) {
  EXPECT_TRUE(text_of(kRulesPage) == renewed_rules())
      << kRulesPage << " is stale: run  cmake --build build/dev --target architecture-doc";
}

TEST(NumbersTest, TheGuardsOfFeaturesAreThere) {
  std::size_t tests = 0;
  const auto findings = wrong_guards(page_of(kFeaturesPage), TestNames::of_repository(), tests);
  EXPECT_TRUE(findings.empty()) << joined(findings);
  EXPECT_GT(tests, 40U);
}

using Texts = std::vector<std::string>;

TEST(NumbersTest, AreFoundInATextAsWords) {
  EXPECT_EQ(numbers_in("// S3: as in (A13), S8-S10, `B3`."),
            (Texts{"S3", "A13", "S8", "S10", "B3"}));
  EXPECT_EQ(numbers_in("0xC1 S100 S01 s3 G7 C_1 XA1 A1b UTF-8 S"), Texts{});
}

TEST(NumbersTest, AMismatchIsFound) {
  const auto rows =
      rows_of(made_up("x.md", "| | rule |\n|---|---|\n| S1 | a |\ntext S9\n| A1 | b |").lines);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].number + rows[1].number, "S1A1");
  EXPECT_EQ(mismatches({{"A1", {"x"}}, {"S1", {"x"}}, {"C11", {"x"}}}, rows), Texts{});
  EXPECT_EQ(mismatches({{"A1", {"x"}}}, rows), Texts{"S1 is mentioned nowhere"});
  EXPECT_EQ(mismatches({{"A1", {"x"}}, {"S1", {"x"}}, {"S2", {"x"}}}, rows),
            Texts{"x: S2 has no line"});
  EXPECT_EQ(mismatches({{"S1", {"x"}}}, {rows[0], rows[0]}), Texts{"S1 has two lines"});
  EXPECT_EQ(mismatches({{"C11", {"x"}}}, {{"C11", {}}}), Texts{"C11 means another"});
}

TestNames made_up_names() {
  TestNames names;
  names.add_source("db_queue", "TEST_F(FenceTest, Holds) {}\nTEST_P(Late,\n       Verb) {}\n");
  names.add_source("db_queue_threads", "TEST(Race, Won) {}\n");
  names.add_program("e2e_key");
  names.add_mutation("epoch_end");
  return names;
}

TEST(NumbersTest, AWrongLineIsFound) {
  const RulePlaces both{{"sql/a.sql"}, {{"db_queue", {"lease"}}}, {}};
  const auto faults = [](const std::string& line, const RulePlaces& places) {
    return faults_of_rule(rows_of(made_up("x.md", line).lines).at(0), places);
  };
  EXPECT_EQ(faults("| S1 | r | p |", both), Texts{});
  EXPECT_EQ(faults("| S1 | r | p |", {{"sql/a.sql"}, {}, {"epoch_end"}}), Texts{});
  EXPECT_EQ(faults("| S1 | r | p |", {{"sql/a.sql"}, {}, {}}), Texts{"S1: no test names it"});
  EXPECT_EQ(faults("| S1 | r | p |", {{}, both.noticed, {}}),
            Texts{"S1: no source of the product names it"});
  EXPECT_EQ(faults("| S1 | r | |", both), Texts{"S1: needs the rule and what it prevents"});
  EXPECT_EQ(faults("| S1 | r |", both), Texts{"S1: needs the rule and what it prevents"});
}

TEST(NumbersTest, RemovalsNameTheRuleInTheirComment) {
  const std::string list =
      "x  # S1\nrules=(\n  # S1: not a removal\n  a b  # S1: c\n  d  # S12\n)\n";
  EXPECT_EQ(removals_in(list, "S1"), (Texts{"a", "b"}));
  EXPECT_EQ(removals_in(list, "S2"), Texts{});
}

TEST(NumbersTest, APageKeepsWhatIsOutsideOfItsTable) {
  const std::string begin = "<!-- Begin: made by allot-architecture-doc, do not edit. -->\n";
  EXPECT_EQ(renewed("a\n" + begin + "old\n<!-- End -->\nb\n", "| t |\n"),
            "a\n" + begin + "\n| t |\n\n<!-- End -->\nb\n");
  EXPECT_THROW((void)renewed("a", "t"), std::runtime_error);
  EXPECT_EQ(rows_of(made_up("x.md", "| S1 | a |\n" + begin + "| S1 | b |\n").lines).size(), 1U);
  EXPECT_EQ(arrows_table(arrow_lines("# head\n\n# one\na:\nb:   a  c\n")),
            "| folder | contents | may include |\n|---|---|---|\n| `a` | one |  |\n"
            "| `b` |  | `a c` |\n");
}

TEST(TestNamesTest, AreThoseOfTheirProgram) {
  const TestNames names = made_up_names();
  EXPECT_EQ(names.named_in("`db_queue` FenceTest.Holds, Late; Verb and `e2e_key`").tests, 5U);
  EXPECT_EQ(names.named_in("`db_queue` FenceTest.Verb").unknown, Texts{"FenceTest.Verb"});
  EXPECT_EQ(names.named_in("FenceTest").unknown, Texts{"FenceTest"});
  EXPECT_EQ(names.named_in("`db_queue` Race.Won").unknown, Texts{});
  EXPECT_EQ(names.named_in("`db_queue_threads` FenceTest").unknown, Texts{"FenceTest"});
  EXPECT_EQ(names.named_in("`e2e_kex`, of SQL (S7).").unknown, Texts{"`e2e_kex`"});
}

TEST(TestNamesTest, AreReadFromWhatMakesTheTests) {
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(TestNames::programs_in("allot_test(a # no\n  SOURCES b.cc c.cc\n LINKS x TIMEOUT 3)\n"),
            (Pairs{{"a", "b.cc"}, {"a", "c.cc"}}));
  EXPECT_EQ(TestNames::programs_in("allot_test_kinds(e2e SOURCES door.cc key_test.cc LINKS x)"),
            (Pairs{{"e2e_key", "key_test.cc"}}));
  EXPECT_EQ(TestNames::programs_in("allot_unit_tests(a SOURCES b.cc DEFINES X=1)"),
            (Pairs{{"unit_a", "b.cc"}}));
  EXPECT_EQ(TestNames::programs_in("add_test(NAME plain COMMAND x)"), (Pairs{{"plain", ""}}));
  EXPECT_EQ(TestNames::mutations_in("x\nrules=(\n  a b  # S1: not c\n)\nothers=(d)\n"),
            (Texts{"a", "b"}));
}

TEST(NumbersTest, AWrongGuardIsFound) {
  std::size_t tests = 0;
  const auto found = [&](const std::string& last) {
    return wrong_guards(made_up("x.md", "| | feature | guarded by |\n|---|---|---|\n" + last),
                        made_up_names(), tests);
  };
  EXPECT_EQ(found("| A1 | it | `db_queue` FenceTest |\n"), Texts{});
  EXPECT_EQ(tests, 2U);
  EXPECT_EQ(found("| A1 | it | `db_queue` GoneTest |\n"), Texts{"x.md:3: GoneTest"});
  EXPECT_EQ(found("| A1 | it | by review |\n"), Texts{"x.md:3: names no test"});
  EXPECT_EQ(found("\n| A1 | it | `db_queue` GoneTest |\n"), Texts{}) << "another table";
}

}  // namespace
}  // namespace allot::architecture
