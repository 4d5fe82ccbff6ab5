// SPDX-License-Identifier: Apache-2.0
// Rules of size and form, each over all sources.
#include <gtest/gtest.h>

#include <regex>

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

// Lines of code: not blank, not a comment, not an #include, not only brackets.
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

// Comments do not count, so that a comment is never cut to make a source fit.
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

// kill(2) with the result of a failed lookup (0, -1) signals the group of the test, or every
// process of its user; support::send_signal() refuses it. Programs under test signal themselves,
// and helpers signal only processes that they started.
std::vector<std::string> plain_kills(const std::vector<SourceFile>& files) {
  static const std::regex kPlain(R"((^|[^\w.>:]|[^\w]::)kill\(.*(SIG[A-Z]|number|, \d))");
  std::vector<std::string> findings;
  for (const SourceFile& file : files) {
    if (file.in("tests/plugins/") || file.in("tests/support/") ||
        file.path == "tests/fault/plugin.cc") {
      continue;
    }
    const std::vector<std::string> code = code_of(file);
    for (std::size_t line = 0; line < code.size(); ++line) {
      if (std::regex_search(code[line], kPlain)) findings.push_back(file.at(line) + code[line]);
    }
  }
  return findings;
}

TEST(RuleTest, NoTestSignalsByKill) {
  const std::vector<std::string> findings = plain_kills(sources_below({"tests"}));
  EXPECT_TRUE(findings.empty()) << joined(findings);
}

TEST(RuleTest, PlainKillsAreFound) {
  const auto found = [](const std::string& path, const std::string& text) {
    return plain_kills({made_up(path, text)}).size();
  };
  EXPECT_EQ(
      found("tests/x.cc", "kill(pid, SIGKILL);\n  if (::kill(pid, 9) == 0)\n  (kill(1, 2))\n"), 3U);
  EXPECT_EQ(found("tests/x.cc",
                  "host->kill(SIGKILL);\nmover.kill(a, 1);\nTargets kill();\n\"kill(1)\";\n"),
            0U);
  EXPECT_EQ(found("tests/plugins/x.cc", "kill(pid, 9);\n"), 0U);
}

// Code that must never fail has to be readable in an hour. Headers of base that only other programs
// include do not belong to it.
TEST(RuleTest, TheSupervisorIsSmall) {
  const auto sources = sources_below({"daemon/base", "daemon/ipc", "daemon/supervisor"});
  std::string code;
  for (const SourceFile& file : sources) {
    for (const std::string& line : file.lines) code += line + "\n";
  }
  std::size_t sum = 0;
  std::vector<std::string> sizes;
  for (const SourceFile& file : sources) {
    const std::string name = file.path.substr(std::string("daemon/").size());
    if (file.is_header() && code.find("#include \"" + name + "\"") == code.npos) continue;
    sum += code_lines(file);
    sizes.push_back(file.path + ": " + std::to_string(code_lines(file)));
  }
  EXPECT_LT(sum, 1567U) << joined(sizes);
}

TEST(RuleTest, LinesOfCodeAreCounted) {
  EXPECT_EQ(
      code_lines(made_up("x.cc", "// a\n\n  // b\nint a;  // c\n/* d\n e */\n}\n#include <x>\n")),
      1U);
  EXPECT_EQ(code_lines(made_up("x.cc", "\"// no comment\";\n'\"'; int b;\nint c = 1'000;\n")), 3U);
}

}  // namespace
}  // namespace allot::architecture
