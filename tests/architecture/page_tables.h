// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

// Tables of docs/rules.md, docs/architecture.md and sql/README.md that are generated from the
// sources. The target architecture-doc writes them (page_tables_main.cc); numbers_test.cc,
// include_test.cc and sql_test.cc compare.
namespace allot::architecture {

inline constexpr const char* kRulesPage = "docs/rules.md";
inline constexpr const char* kFeaturesPage = "docs/features.md";
inline constexpr const char* kArchitecturePage = "docs/architecture.md";
inline constexpr const char* kSqlPage = "sql/README.md";

// Numbers of rules and features in a text: one letter and one or two digits without a leading
// zero, as a separate word.
std::vector<std::string> numbers_in(const std::string& text);

// Files that mention a number, by number. Every text of the project except the two pages that
// define the numbers and numbers_test.cc, which has made-up ones.
using Mentions = std::map<std::string, std::set<std::string>>;
const Mentions& mentions_of_the_project();

// Where a rule is kept and what notices its absence.
struct RulePlaces {
  std::vector<std::string> kept;                            // product files, sorted
  std::map<std::string, std::vector<std::string>> noticed;  // test program: its sources
  std::vector<std::string> removals;                        // rules of scripts/mutants
};
RulePlaces places_of(const std::string& number);

// Rules of a list in scripts/mutants whose comments name the number.
std::vector<std::string> removals_in(const std::string& text, const std::string& number);

// A line of a table, by its first column.
struct Row {
  std::string number;
  std::vector<std::string> cells;  // without the number
};
std::vector<std::string> cells_of(const std::string& line);
// Rows whose first column is a number.
std::vector<Row> rows_of(const std::vector<std::string>& lines);

// A line of the table of permitted includes, with the comment above it.
struct ArrowLine {
  std::string purpose;
  std::string folder;
  std::string allowed;
};
std::vector<ArrowLine> arrow_lines(const std::string& text);

// The tables in Markdown.
std::string rules_table(const std::vector<Row>& rows);
std::string arrows_table(const std::vector<ArrowLine>& arrows);
// The statements and procedures of the repository, each with the first sentence of its file.
std::string statements_table();

// First sentence of the comment at the head of an SQL file, without its full stop; "" if none.
std::string first_sentence(const std::string& sql);

// The page with the text between its two marks replaced. Throws if a mark is missing.
std::string renewed(const std::string& page, const std::string& table);

// The page as it has to be, from its present text.
std::string renewed_rules();
std::string renewed_architecture();
std::string renewed_sql();

}  // namespace allot::architecture
