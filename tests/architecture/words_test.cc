// SPDX-License-Identifier: Apache-2.0
// scripts/words finds retired phrases. words.txt is a sample of lines from this project: "+" needs
// plain English, "-" has it.
#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "architecture/source_files.h"
#include "support/process.h"
#include "support/temp_dir.h"

namespace allot::architecture {
namespace {

constexpr const char* kSample = ALLOT_SOURCE_FOLDER "/tests/architecture/words.txt";

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream input(text);
  for (std::string line; std::getline(input, line);) lines.push_back(line);
  return lines;
}

class WordsTest : public testing::Test {
 protected:
  // Lines of `text` that have findings, counted from 1.
  [[nodiscard]] std::set<std::size_t> found(const std::string& name, const std::string& text) {
    const std::string path = folder_.write(name, text);
    const auto done = support::run_program({ALLOT_SOURCE_FOLDER "/scripts/words", path});
    std::set<std::size_t> numbers;
    for (const std::string& line : lines_of(done.out)) {
      EXPECT_TRUE(line.starts_with(path + ":")) << line;
      numbers.insert(std::stoul(line.substr(path.size() + 1)));
    }
    EXPECT_EQ(done.status.code, numbers.empty() ? 0 : 1) << done.err;
    return numbers;
  }

 private:
  support::TempDir folder_;
};

TEST_F(WordsTest, NineOfTenFindingsInASampleAreRight) {
  const std::vector<std::string> sample = lines_of(support::read_file(kSample));
  ASSERT_EQ(sample.size(), 200U);
  std::string source;  // each line is a comment of its own
  for (const std::string& line : sample) source += "// " + line.substr(2) + "\n\n";
  std::size_t right = 0;
  std::size_t wrong = 0;
  std::size_t missed = 0;
  const std::set<std::size_t> numbers = found("sample.cc", source);
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const bool plain = sample[i].starts_with("- ");
    ASSERT_TRUE(plain || sample[i].starts_with("+ ")) << sample[i];
    if (numbers.contains(2 * i + 1)) {
      ++(plain ? wrong : right);
    } else if (!plain) {
      ++missed;
    }
  }
  EXPECT_GE(right, 9 * wrong) << wrong << " wrong findings";
  EXPECT_GE(right, 9 * missed) << missed << " missed lines";
}

TEST_F(WordsTest, CodeIsNotCheckedButCommentsAndMessagesAre) {
  EXPECT_EQ(found("a.cc",
                  "nobody = so_many;\n"
                  "kill(nobody);  // nobody waits\n"
                  "say(\"nobody\");\n"
                  "say(\"nobody waits\");\n"),
            (std::set<std::size_t>{2, 4}));
  EXPECT_EQ(found("a.sql", "-- That of the queue\nSELECT beside, 'goes on here' FROM meanwhile\n"),
            (std::set<std::size_t>{1, 2}));
  EXPECT_EQ(found("a.md", "Run `anew`.\n\n```sh\nmeanwhile\n```\n\nIt begins anew.\n"),
            (std::set<std::size_t>{7}));
}

TEST_F(WordsTest, ACommentBeginsWithItsSubject) {
  EXPECT_EQ(found("a.cc",
                  "// What a cancel did.\n"
                  "int a;  // of the queue\n"
                  "// The result of a cancel request.\n"
                  "// What follows is the second line of it.\n"),
            (std::set<std::size_t>{1}));
}

}  // namespace
}  // namespace allot::architecture
