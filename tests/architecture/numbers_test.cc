// SPDX-License-Identifier: Apache-2.0
// Numbers of safety rules (S1 ...) and features (A1 ...): each mentioned number has its line in
// docs/rules.md, and the names in such a line exist.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <regex>
#include <set>

#include "architecture/source_files.h"
#include "architecture/test_names.h"
#include "support/temp_dir.h"

namespace allot::architecture {
namespace {

namespace fs = std::filesystem;

const std::string kRules = "docs/rules.md";
const std::string kFeatures = "docs/features.md";

// Texts that look like numbers but have another meaning: the control characters U+0080 to U+009F,
// and the language. The features with these two numbers are called by their names.
const std::set<std::string>& other_meanings() {
  static const std::set<std::string> kWords{"C1", "C11"};
  return kWords;
}

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// One letter and a number of one or two digits without a leading zero, as a separate word.
std::vector<std::string> numbers_in(const std::string& text) {
  static const std::string kLetters = "ABCDEFS";
  std::vector<std::string> found;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (kLetters.find(text[at]) == std::string::npos || (at > 0 && is_word(text[at - 1]))) continue;
    std::size_t end = at + 1;
    while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) != 0) ++end;
    const std::size_t digits = end - at - 1;
    if (digits < 1 || digits > 2 || text[at + 1] == '0') continue;
    if (end < text.size() && is_word(text[end])) continue;
    found.push_back(text.substr(at, end - at));
  }
  return found;
}

// Every text of the project except the list itself and the made-up numbers of this file.
std::vector<std::string> texts_of_the_project() {
  const fs::path top = ALLOT_SOURCE_FOLDER;
  std::vector<std::string> paths;
  for (const char* folder : {"bench", "client", "cmake", "daemon", "docs", "etc", "packaging",
                             "plugin-api", "plugins", "scripts", "sql", "systemd", "tests"}) {
    for (const auto& entry : fs::recursive_directory_iterator(top / folder)) {
      if (entry.is_regular_file()) paths.push_back(entry.path().lexically_relative(top).string());
    }
  }
  for (const char* page : {"README.md", "CHANGELOG.md", "CONTRIBUTING.md"})
    paths.emplace_back(page);
  std::erase(paths, kRules);
  std::erase(paths, "tests/architecture/numbers_test.cc");
  std::sort(paths.begin(), paths.end());
  return paths;
}

// Each mentioned number, with its first place.
using Mentions = std::map<std::string, std::string>;

void add_mentions(const std::string& path, const std::string& text, Mentions& mentions) {
  for (const std::string& number : numbers_in(text)) mentions.emplace(number, path);
}

const Mentions& mentions_of_the_project() {
  static const Mentions kAll = [] {
    Mentions all;
    for (const std::string& path : texts_of_the_project()) {
      const std::string text = support::read_file(fs::path(ALLOT_SOURCE_FOLDER) / path);
      if (text.find('\0') == std::string::npos) add_mentions(path, text, all);
    }
    return all;
  }();
  return kAll;
}

// A line of a table, by its first column.
struct Row {
  std::string number;
  std::vector<std::string> cells;  // without the number
};

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  if (line.empty() || line[0] != '|') return cells;
  for (std::size_t at = 1, end = 0; (end = line.find('|', at)) != std::string::npos; at = end + 1) {
    cells.push_back(trimmed(line.substr(at, end - at)));
  }
  return cells;
}

std::vector<Row> rows_of(const SourceFile& page) {
  std::vector<Row> rows;
  for (const std::string& line : page.lines) {
    std::vector<std::string> cells = cells_of(line);
    if (cells.empty() || numbers_in(cells[0]) != std::vector<std::string>{cells[0]}) continue;
    rows.push_back({cells[0], {cells.begin() + 1, cells.end()}});
  }
  return rows;
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
  for (const auto& [number, path] : mentions) {
    if (known.contains(number) || other_meanings().contains(number)) continue;
    findings.push_back(path + ": " + number + " has no line");
  }
  return findings;
}

// Names of files in backticks.
std::vector<std::string> files_in(const std::string& text) {
  static const std::regex kFile("`([^`]*/[^`]*)`");
  std::vector<std::string> files;
  for (std::sregex_iterator at(text.begin(), text.end(), kFile), end; at != end; ++at) {
    files.push_back((*at)[1]);
  }
  return files;
}

template <typename Exists>
std::vector<std::string> faults_of_rule(const Row& row, const TestNames& names, Exists&& exists) {
  std::vector<std::string> findings;
  const auto add = [&](const std::string& text) { findings.push_back(row.number + ": " + text); };
  if (row.cells.size() != 4 || std::any_of(row.cells.begin(), row.cells.end(),
                                           [](const auto& cell) { return cell.empty(); })) {
    add("needs the rule, what it prevents, where it is kept, and its tests");
    return findings;
  }
  const auto files = files_in(row.cells[2]);
  if (files.empty()) add("names no file");
  for (const std::string& file : files) {
    if (!exists(file)) add("there is no " + file);
  }
  const auto named = names.named_in(row.cells[3]);
  if (named.tests == 0) add("names no test");
  for (const std::string& name : named.unknown) add("there is no test " + name);
  return findings;
}

std::vector<std::string> faults_of_feature(const Row& row, const TestNames& names,
                                           const std::set<std::string>& in_features) {
  std::vector<std::string> findings;
  const auto add = [&](const std::string& text) { findings.push_back(row.number + ": " + text); };
  if (row.cells.size() != 2 || row.cells[0].empty()) {
    add("needs what it is, and where that is shown");
    return findings;
  }
  const bool linked = row.cells[1].find("(features.md") != std::string::npos;
  if (linked && !in_features.contains(row.number)) add(kFeatures + " has no row of it");
  const auto named = names.named_in(row.cells[1]);
  if (!linked && named.tests == 0) add("is shown nowhere");
  for (const std::string& name : named.unknown) add("there is no test " + name);
  return findings;
}

std::set<std::string> numbers_of(const std::vector<Row>& rows) {
  std::set<std::string> numbers;
  for (const Row& row : rows) numbers.insert(row.number);
  return numbers;
}

// Names in the column "guarded by" of any table that do not exist.
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
    } else if (column != 0 && column < cells.size()) {
      const auto named = names.named_in(cells[column]);
      tests += named.tests;
      for (const std::string& name : named.unknown) findings.push_back(page.at(i) + name);
    }
  }
  return findings;
}

SourceFile page_of(const std::string& path) {
  return made_up(path, text_of(path));
}

TEST(NumbersTest, EachHasOneLine) {
  const auto findings = mismatches(mentions_of_the_project(), rows_of(page_of(kRules)));
  EXPECT_TRUE(findings.empty()) << joined(findings);
  for (const std::string& word : other_meanings()) {
    EXPECT_TRUE(mentions_of_the_project().contains(word)) << word << " need not be left out";
  }
}

TEST(NumbersTest, NamedFilesAndTestsExist) {
  const TestNames names = TestNames::of_repository();
  EXPECT_GT(names.programs(), 60U);
  EXPECT_GT(names.mutations(), 20U);
  const auto in_features = numbers_of(rows_of(page_of(kFeatures)));
  const auto exists = [](const std::string& path) {
    return fs::exists(std::string(ALLOT_SOURCE_FOLDER) + "/" + path);
  };
  std::vector<std::string> findings;
  std::size_t rules = 0;
  for (const Row& row : rows_of(page_of(kRules))) {
    const bool rule = row.number[0] == 'S';
    rules += rule ? 1 : 0;
    for (auto& finding :
         rule ? faults_of_rule(row, names, exists) : faults_of_feature(row, names, in_features)) {
      findings.push_back(std::move(finding));
    }
  }
  EXPECT_GT(rules, 25U);
  EXPECT_TRUE(findings.empty()) << joined(findings);
}

TEST(NumbersTest, TheGuardsOfFeaturesAreThere) {
  std::size_t tests = 0;
  const auto findings = wrong_guards(page_of(kFeatures), TestNames::of_repository(), tests);
  EXPECT_TRUE(findings.empty()) << joined(findings);
  EXPECT_GT(tests, 40U);
}

using Texts = std::vector<std::string>;

TEST(NumbersTest, AreFoundInATextAsWords) {
  EXPECT_EQ(numbers_in("// S3: as in (A13), S8-S10, `B3`."),
            (Texts{"S3", "A13", "S8", "S10", "B3"}));
  EXPECT_EQ(numbers_in("0xC1 S100 S01 s3 G7 C_1 XA1 A1b UTF-8 S"), Texts{});
  Mentions mentions;
  add_mentions("x.cc", "S3", mentions);
  add_mentions("y.cc", "S3 A1", mentions);
  EXPECT_EQ(mentions, (Mentions{{"A1", "y.cc"}, {"S3", "x.cc"}}));
}

TEST(NumbersTest, AMismatchIsFound) {
  const auto rows =
      rows_of(made_up("x.md", "| | rule |\n|---|---|\n| S1 | a |\ntext S9\n| A1 | b |"));
  ASSERT_EQ(numbers_of(rows), (std::set<std::string>{"A1", "S1"}));
  EXPECT_EQ(mismatches({{"A1", "x"}, {"S1", "x"}, {"C11", "x"}}, rows), Texts{});
  EXPECT_EQ(mismatches({{"A1", "x"}}, rows), Texts{"S1 is mentioned nowhere"});
  EXPECT_EQ(mismatches({{"A1", "x"}, {"S1", "x"}, {"S2", "x"}}, rows), Texts{"x: S2 has no line"});
  EXPECT_EQ(mismatches({{"S1", "x"}}, {rows[0], rows[0]}), Texts{"S1 has two lines"});
  EXPECT_EQ(mismatches({{"C11", "x"}}, {{"C11", {}}}), Texts{"C11 means another"});
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
  const TestNames names = made_up_names();
  const auto exists = [](const std::string& path) { return path == "sql/a.sql"; };
  const auto faults = [&](const std::string& line) {
    return faults_of_rule(rows_of(made_up("x.md", line)).at(0), names, exists);
  };
  EXPECT_EQ(faults("| S1 | r | p | `sql/a.sql` | `db_queue` FenceTest |"), Texts{});
  EXPECT_EQ(faults("| S1 | r | p | `sql/a.sql`, code | `epoch_end` |"), Texts{});
  EXPECT_EQ(faults("| S1 | r | p | code | `epoch_end` |"), Texts{"S1: names no file"});
  EXPECT_EQ(faults("| S1 | r | p | `sql/b.sql` | `epoch_end` |"),
            Texts{"S1: there is no sql/b.sql"});
  EXPECT_EQ(faults("| S1 | r | p | `sql/a.sql` | none |"), Texts{"S1: names no test"});
  EXPECT_EQ(faults("| S1 | r | p | `sql/a.sql` | `e2e_key` FenceTest |"),
            Texts{"S1: there is no test FenceTest"});
  EXPECT_EQ(faults("| S1 | r | | `sql/a.sql` | `e2e_key` |").size(), 1U);
  const auto feature = [&](const std::string& line) {
    return faults_of_feature(rows_of(made_up("x.md", line)).at(0), names, {"A1"}).size();
  };
  EXPECT_EQ(feature("| A1 | it | [features](features.md) |"), 0U);
  EXPECT_EQ(feature("| A2 | it | [features](features.md) |"), 1U);
  EXPECT_EQ(feature("| A2 | it | `e2e_key` |"), 0U);
  EXPECT_EQ(feature("| A2 | it | nowhere |"), 1U);
  EXPECT_EQ(feature("| A2 | it | `e2e_kex` |"), 2U);
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
  EXPECT_EQ(found("\n| A1 | it | `db_queue` GoneTest |\n"), Texts{}) << "another table";
}

}  // namespace
}  // namespace allot::architecture
