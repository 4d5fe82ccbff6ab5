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

// Only code counts: a comment is never cut so that a source fits.
std::vector<std::string> long_sources(const std::vector<SourceFile>& files) {
  constexpr std::size_t kMostLines = 500;
  std::vector<std::string> findings;
  for (const SourceFile& file : files) {
    const std::size_t lines = code_lines(file);
    if (lines > kMostLines) {
      findings.push_back(file.path + ": " + std::to_string(lines) + " lines of code");
    }
  }
  return findings;
}

TEST(RuleTest, NoSourceIsLong) {
  const std::vector<std::string> findings = long_sources(all_sources());
  EXPECT_TRUE(findings.empty()) << joined(findings);
}

TEST(RuleTest, ALongSourceIsFoundWhateverItsComments) {
  std::string text;
  for (int line = 0; line < 500; ++line) text += "// why\nint a;\n";
  EXPECT_EQ(joined(long_sources({made_up("x.cc", text)})), "");
  EXPECT_EQ(joined(long_sources({made_up("x.cc", text + "int b;\n")})),
            "\n  x.cc: 501 lines of code");
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
