// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace allot::architecture {

// Names of tests in documents: the program in backticks, followed by its suites and cases in plain
// letters: `db_queue` FenceTest, LeaseTest.AnEpochNeverRepeats. As for ctest -R, a name also
// matches longer names that continue with an underscore. A rule that scripts/mutants removes is in
// backticks as well.
class TestNames {
 public:
  // From the CMakeLists.txt and sources of tests/, and from scripts/mutants.
  static TestNames of_repository();

  // Adds each Suite, Suite.Case and Case of a source of `program`.
  void add_source(const std::string& program, const std::string& text);
  void add_program(const std::string& program) { names_[program]; }
  void add_mutation(const std::string& rule) { mutations_.insert(rule); }
  // Contents of a CMakeLists.txt: the program and, relative to it, the sources of each test.
  static std::vector<std::pair<std::string, std::string>> programs_in(const std::string& text);
  // Programs of tests/ with their sources, relative to the repository, sorted. "" for a source
  // that is not a test, and for one named by a variable, which belongs to the product.
  static std::vector<std::pair<std::string, std::string>> sources_of_repository();
  static std::vector<std::string> mutations_in(const std::string& text);

  struct Named {
    std::size_t tests = 0;
    std::vector<std::string> unknown;  // words that look like a test name but are not
  };
  [[nodiscard]] Named named_in(const std::string& text) const;

  [[nodiscard]] std::size_t programs() const { return names_.size(); }
  [[nodiscard]] std::size_t mutations() const { return mutations_.size(); }

 private:
  [[nodiscard]] bool is_in(const std::string& program, const std::string& test) const;

  std::map<std::string, std::set<std::string>> names_;
  std::set<std::string> mutations_;
};

}  // namespace allot::architecture
