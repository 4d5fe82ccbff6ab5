// SPDX-License-Identifier: Apache-2.0
#include "architecture/test_names.h"

#include <algorithm>
#include <filesystem>
#include <regex>
#include <sstream>

#include "architecture/source_files.h"

namespace allot::architecture {
namespace {

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

std::string without_hash_comments(const std::string& text) {
  return std::regex_replace(text, std::regex("#[^\n]*"), "");
}

bool is_keyword(const std::string& word) {
  return word == "LINKS" || word == "TIMEOUT" || word == "LABELS" || word == "DEFINES";
}

// Suites and cases begin with a capital letter and contain a small one, which rules and acronyms
// do not.
bool looks_like_a_test(const std::string& word) {
  static const std::regex kName("[A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*(\\.[A-Za-z0-9]+)?");
  return std::regex_match(word, kName);
}

}  // namespace

std::vector<std::pair<std::string, std::string>> TestNames::programs_in(const std::string& text) {
  static const std::regex kCall(R"(\ballot_(test|test_kinds|unit_tests)\(([^()]*)\))");
  static const std::regex kCommand(R"(\badd_test\(NAME\s+(\w+))");
  const std::string code = without_hash_comments(text);
  std::vector<std::pair<std::string, std::string>> programs;
  for (std::sregex_iterator at(code.begin(), code.end(), kCall), end; at != end; ++at) {
    const bool kinds = (*at)[1] == "test_kinds";
    const std::vector<std::string> words = words_of((*at)[2]);
    const std::string program = ((*at)[1] == "unit_tests" ? "unit_" : "") + words[0];
    bool sources = false;
    for (const std::string& word : words) {
      if (word == "SOURCES" || is_keyword(word)) {
        sources = word == "SOURCES";
      } else if (sources && kinds && word.ends_with("_test.cc")) {
        programs.emplace_back(words[0] + "_" + word.substr(0, word.size() - 8), word);
      } else if (sources && !kinds) {
        programs.emplace_back(program, word);
      }
    }
  }
  for (std::sregex_iterator at(code.begin(), code.end(), kCommand), end; at != end; ++at) {
    programs.emplace_back((*at)[1], "");
  }
  return programs;
}

std::vector<std::string> TestNames::mutations_in(const std::string& text) {
  static const std::regex kList(R"((^|\n)rules=\(([^)]*)\))");
  std::smatch found;
  const std::string code = without_hash_comments(text);
  if (!std::regex_search(code, found, kList)) return {};
  return words_of(found[2]);
}

void TestNames::add_source(const std::string& program, const std::string& text) {
  static const std::regex kTest(R"((^|\n)TEST(_F|_P)?\(\s*(\w+),\s*(\w+)\))");
  std::set<std::string>& names = names_[program];
  for (std::sregex_iterator at(text.begin(), text.end(), kTest), end; at != end; ++at) {
    const std::string suite = (*at)[3];
    const std::string name = (*at)[4];
    names.insert({suite, name, suite + "." + name});
  }
}

std::vector<std::pair<std::string, std::string>> TestNames::sources_of_repository() {
  namespace fs = std::filesystem;
  const fs::path top = ALLOT_SOURCE_FOLDER;
  std::vector<std::pair<std::string, std::string>> all;
  for (const auto& entry : fs::recursive_directory_iterator(top / "tests")) {
    if (entry.path().filename() != "CMakeLists.txt") continue;
    const fs::path folder = entry.path().parent_path().lexically_relative(top);
    for (const auto& [program, source] :
         programs_in(text_of((folder / "CMakeLists.txt").string()))) {
      const bool ours = source.ends_with(".cc") && !source.starts_with("${");
      all.emplace_back(program, ours ? (folder / source).lexically_normal().string() : "");
    }
  }
  std::sort(all.begin(), all.end());
  return all;
}

TestNames TestNames::of_repository() {
  namespace fs = std::filesystem;
  TestNames all;
  for (const auto& [program, source] : sources_of_repository()) {
    all.add_program(program);
    if (!source.empty()) all.add_source(program, text_of(source));
  }
  for (const auto& step :
       fs::directory_iterator(std::string(ALLOT_SOURCE_FOLDER) + "/tests/nightly")) {
    all.add_program("tests/nightly/" + step.path().filename().string());
  }
  for (const std::string& rule : mutations_in(text_of("scripts/mutants"))) all.add_mutation(rule);
  return all;
}

// `ctest -R db_worker` also runs db_worker_threads.
bool TestNames::is_in(const std::string& program, const std::string& test) const {
  return std::any_of(names_.begin(), names_.end(), [&](const auto& known) {
    const bool named = known.first == program || known.first.starts_with(program + "_");
    return named && !program.empty() && known.second.contains(test);
  });
}

TestNames::Named TestNames::named_in(const std::string& text) const {
  static const std::regex kWord(R"(`([^`]*)`|[A-Za-z0-9_.]*[A-Za-z0-9_])");
  Named named;
  std::string program;
  for (std::sregex_iterator at(text.begin(), text.end(), kWord), end; at != end; ++at) {
    const std::string quoted = (*at)[1];
    const bool in_backticks = (*at)[1].matched;
    if (in_backticks && names_.contains(quoted)) {
      program = quoted;
      ++named.tests;
    } else if (in_backticks && mutations_.contains(quoted)) {
      ++named.tests;
    } else if (in_backticks) {
      named.unknown.push_back("`" + quoted + "`");
    } else if (looks_like_a_test(at->str())) {
      if (!is_in(program, at->str())) named.unknown.push_back(at->str());
      ++named.tests;
    }
  }
  return named;
}

}  // namespace allot::architecture
