// SPDX-License-Identifier: Apache-2.0
// Rules of size and form, each over all sources.
#include <gtest/gtest.h>

#include "architecture/source_files.h"

namespace allot::architecture {
namespace {

std::vector<SourceFile> all_sources() {
  return sources_below({"bench", "client", "daemon", "plugin-api", "plugins", "sql", "tests"});
}

bool has_licence(const SourceFile& file) {
  return !file.lines.empty() &&
         file.lines[0].find("SPDX-License-Identifier: Apache-2.0") != std::string::npos;
}

// Lines with code: not blank, no comment, no #include, not only brackets.
std::size_t code_lines(const SourceFile& file) {
  std::size_t count = 0;
  for (const std::string& line : code_of(file)) {
    const std::size_t first = line.find_first_not_of(" \t{}()[];,");
    if (first != std::string::npos && line[first] != '#') ++count;
  }
  return count;
}

TEST(RuleTest, EverySourceBeginsWithItsLicence) {
  std::vector<std::string> findings;
  for (const SourceFile& file : all_sources()) {
    if (!has_licence(file)) findings.push_back(file.path);
  }
  EXPECT_TRUE(findings.empty()) << joined(findings);
  EXPECT_FALSE(has_licence(made_up("x.cc", "\n// SPDX-License-Identifier: Apache-2.0\n")));
}

TEST(RuleTest, NoSourceIsLong) {
  std::vector<std::string> findings;
  for (const SourceFile& file : all_sources()) {
    if (file.lines.size() > 500) {
      findings.push_back(file.path + ": " + std::to_string(file.lines.size()) + " lines");
    }
  }
  EXPECT_TRUE(findings.empty()) << joined(findings);
}

// Code that must never fail has to be readable in an hour.
TEST(RuleTest, TheSupervisorIsSmall) {
  std::size_t sum = 0;
  std::vector<std::string> sizes;
  for (const SourceFile& file : sources_below({"daemon/base", "daemon/ipc", "daemon/supervisor"})) {
    sum += code_lines(file);
    sizes.push_back(file.path + ": " + std::to_string(code_lines(file)));
  }
  EXPECT_LT(sum, 1500U) << joined(sizes);
}

TEST(RuleTest, LinesOfCodeAreCounted) {
  EXPECT_EQ(
      code_lines(made_up("x.cc", "// a\n\n  // b\nint a;  // c\n/* d\n e */\n}\n#include <x>\n")),
      1U);
  EXPECT_EQ(code_lines(made_up("x.cc", "\"// no comment\";\n'\"'; int b;\nint c = 1'000;\n")), 3U);
}

}  // namespace
}  // namespace allot::architecture
