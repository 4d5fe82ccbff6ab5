// SPDX-License-Identifier: Apache-2.0
#include "architecture/page_tables.h"

#include <algorithm>
#include <filesystem>
#include <regex>
#include <sstream>
#include <stdexcept>

#include "architecture/source_files.h"
#include "architecture/test_names.h"
#include "support/temp_dir.h"

namespace allot::architecture {
namespace {

namespace fs = std::filesystem;

const char* const kBegin = "<!-- Begin: made by allot-architecture-doc, do not edit. -->\n";
const char* const kEnd = "<!-- End -->";

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

std::vector<std::string> texts_of_the_project() {
  const fs::path top = ALLOT_SOURCE_FOLDER;
  std::vector<std::string> paths;
  for (const char* folder :
       {"adapters", "bench", "client", "cmake", "daemon", "docs", "etc", "packaging", "plugin-api",
        "plugins", "scripts", "sql", "systemd", "tests"}) {
    for (const auto& entry : fs::recursive_directory_iterator(top / folder)) {
      if (entry.is_regular_file()) paths.push_back(entry.path().lexically_relative(top).string());
    }
  }
  for (const char* page : {"README.md", "CHANGELOG.md", "CONTRIBUTING.md"})
    paths.emplace_back(page);
  for (const char* page : {kRulesPage, kFeaturesPage, "tests/architecture/numbers_test.cc"})
    std::erase(paths, page);
  return paths;
}

bool is_product(const std::string& path) {
  static const std::regex kProduct("(adapters|client|daemon|plugin-api|plugins|sql)/.*");
  static const std::regex kNot(".*\\.md|adapters/[^/]*/tests/.*");
  return path == "scripts/lib.sh" ||
         (std::regex_match(path, kProduct) && !std::regex_match(path, kNot));
}

// Program of a test source or a nightly step; "" for a file that is in none.
std::string program_of(const std::string& path) {
  static const std::map<std::string, std::string> kPrograms = [] {
    std::map<std::string, std::string> programs;
    for (const auto& [program, source] : TestNames::sources_of_repository())
      programs.emplace(source, program);
    return programs;
  }();
  if (const auto found = kPrograms.find(path); found != kPrograms.end()) return found->second;
  static const std::regex kStep("(tests/nightly/[^/]+)(/.*)?");
  std::smatch step;
  if (std::regex_match(path, step, kStep)) return step[1];
  return "";
}

// "lease" for tests/db/queue/lease_test.cc; "" if the program has no other source.
std::string source_in(const std::string& program, const std::string& path) {
  std::string name = fs::path(path).stem().string();
  if (name.ends_with("_test")) name.resize(name.size() - 5);
  return program.ends_with("_" + name) || program.starts_with("tests/") ? "" : name;
}

std::string joined_by(const std::vector<std::string>& words, const std::string& between) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

std::vector<std::string> in_backticks(std::vector<std::string> words) {
  for (std::string& word : words) word = "`" + word + "`";
  return words;
}

}  // namespace

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

const Mentions& mentions_of_the_project() {
  static const Mentions kAll = [] {
    Mentions all;
    for (const std::string& path : texts_of_the_project()) {
      const std::string text = support::read_file(fs::path(ALLOT_SOURCE_FOLDER) / path);
      if (text.find('\0') != std::string::npos) continue;
      for (const std::string& number : numbers_in(text)) all[number].insert(path);
    }
    return all;
  }();
  return kAll;
}

std::vector<std::string> removals_in(const std::string& text, const std::string& number) {
  std::vector<std::string> removals;
  std::istringstream lines(text);
  bool in_list = false;
  for (std::string line; std::getline(lines, line);) {
    if (line == ")") in_list = false;
    if (in_list) {
      const std::size_t hash = std::min(line.find('#'), line.size());
      const auto numbers = numbers_in(line.substr(hash));
      if (std::find(numbers.begin(), numbers.end(), number) != numbers.end()) {
        std::istringstream names(line.substr(0, hash));
        for (std::string name; names >> name;) removals.push_back(name);
      }
    }
    if (line == "rules=(") in_list = true;
  }
  return removals;
}

RulePlaces places_of(const std::string& number) {
  RulePlaces places;
  places.removals = removals_in(text_of("scripts/mutants"), number);
  const auto mentions = mentions_of_the_project().find(number);
  if (mentions == mentions_of_the_project().end()) return places;
  for (const std::string& path : mentions->second) {
    if (is_product(path)) places.kept.push_back(path);
    const std::string program = program_of(path);
    if (program.empty()) continue;
    const std::string source = source_in(program, path);
    auto& sources = places.noticed[program];
    if (!source.empty()) sources.push_back(source);
  }
  return places;
}

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  if (line.empty() || line[0] != '|') return cells;
  for (std::size_t at = 1, end = 0; (end = line.find('|', at)) != std::string::npos; at = end + 1) {
    const std::string cell = line.substr(at, end - at);
    const std::size_t begin = cell.find_first_not_of(' ');
    cells.push_back(begin == std::string::npos
                        ? ""
                        : cell.substr(begin, cell.find_last_not_of(' ') - begin + 1));
  }
  return cells;
}

// The generated table repeats the numbers, so rows end where it begins.
std::vector<Row> rows_of(const std::vector<std::string>& lines) {
  std::vector<Row> rows;
  for (const std::string& line : lines) {
    if (line + "\n" == kBegin) break;
    std::vector<std::string> cells = cells_of(line);
    if (cells.empty() || numbers_in(cells[0]) != std::vector<std::string>{cells[0]}) continue;
    rows.push_back({cells[0], {cells.begin() + 1, cells.end()}});
  }
  return rows;
}

std::vector<ArrowLine> arrow_lines(const std::string& text) {
  std::vector<ArrowLine> arrows;
  std::istringstream lines(text);
  std::string purpose;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# ")) {
      purpose = line.substr(2);
    } else if (line.empty()) {
      purpose.clear();
    } else {
      const std::size_t colon = line.find(':');
      std::istringstream names(line.substr(colon + 1));
      std::string allowed;
      for (std::string name; names >> name;) allowed += (allowed.empty() ? "" : " ") + name;
      arrows.push_back({purpose, line.substr(0, colon), allowed});
      purpose.clear();
    }
  }
  return arrows;
}

std::string rules_table(const std::vector<Row>& rows) {
  std::string table = "| # | kept in | tests | left out as |\n|---|---|---|---|\n";
  for (const Row& row : rows) {
    const RulePlaces places = places_of(row.number);
    std::vector<std::string> tests;
    for (const auto& [program, sources] : places.noticed) {
      const std::string names = joined_by(sources, ", ");
      tests.push_back("`" + program + "`" + (names.empty() ? "" : " " + names));
    }
    table += "| " + row.number + " | " + joined_by(in_backticks(places.kept), ", ") + " | " +
             joined_by(tests, "; ") + " | " + joined_by(in_backticks(places.removals), ", ") +
             " |\n";
  }
  return table;
}

std::string arrows_table(const std::vector<ArrowLine>& arrows) {
  std::string table = "| folder | contents | may include |\n|---|---|---|\n";
  for (const ArrowLine& line : arrows) {
    table += "| `" + line.folder + "` | " + line.purpose + " | " +
             (line.allowed.empty() ? "" : "`" + line.allowed + "`") + " |\n";
  }
  return table;
}

std::string first_sentence(const std::string& sql) {
  std::string comment;
  std::istringstream lines(sql);
  for (std::string line; std::getline(lines, line) && line.starts_with("-- ");)
    comment += (comment.empty() ? "" : " ") + line.substr(3);
  if (comment.starts_with("Rule")) return "";
  for (std::size_t at = 0; (at = comment.find('.', at)) != std::string::npos; ++at) {
    const bool ends = at + 1 == comment.size() ||
                      (at + 2 < comment.size() && comment[at + 1] == ' ' &&
                       std::islower(static_cast<unsigned char>(comment[at + 2])) == 0);
    if (ends) return comment.substr(0, at);
  }
  return comment;
}

std::string statements_table() {
  std::string tables;
  for (const std::string folder : {"procedures", "queries"}) {
    std::vector<std::string> names;
    for (const auto& entry :
         fs::directory_iterator(std::string(ALLOT_SOURCE_FOLDER) + "/sql/" + folder))
      names.push_back(entry.path().stem().string());
    std::sort(names.begin(), names.end());
    tables +=
        (tables.empty() ? "| " : "\n| ") + folder + " | first sentence of the file |\n|---|---|\n";
    for (const std::string& name : names) {
      std::string sentence = first_sentence(text_of("sql/" + folder + "/" + name + ".sql"));
      for (std::size_t at = 0; (at = sentence.find('|', at)) != std::string::npos; at += 2)
        sentence.insert(at, "\\");
      tables += "| `" + name + "` | " + sentence + " |\n";
    }
  }
  return tables;
}

std::string renewed(const std::string& page, const std::string& table) {
  const std::size_t begin = page.find(kBegin);
  const std::size_t end = page.find(kEnd, begin);
  if (begin == std::string::npos || end == std::string::npos)
    throw std::runtime_error("a page lacks the marks of its generated table");
  return page.substr(0, begin) + kBegin + "\n" + table + "\n" + page.substr(end);
}

std::string renewed_rules() {
  const std::string page = text_of(kRulesPage);
  return renewed(page, rules_table(rows_of(made_up(kRulesPage, page).lines)));
}

std::string renewed_architecture() {
  return renewed(text_of(kArchitecturePage),
                 arrows_table(arrow_lines(text_of("tests/architecture/arrows.txt"))));
}

std::string renewed_sql() {
  return renewed(text_of(kSqlPage), statements_table());
}

}  // namespace allot::architecture
