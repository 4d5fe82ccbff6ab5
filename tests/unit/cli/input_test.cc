// SPDX-License-Identifier: Apache-2.0
#include "cli/sources/input.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "support/temp_dir.h"

namespace allot::cli {
namespace {

constexpr std::size_t kMost = 1'000'000;

class InputTest : public testing::Test {
 protected:
  std::vector<std::string> lines(const std::string& content, std::size_t most = kMost) {
    Input input(folder_.write("in", content));
    std::vector<std::string> all;
    for (std::string line; input.next_line(line, most);) all.push_back(line);
    return all;
  }

  support::TempDir folder_;
};

ExitCode code_of(const std::function<void()>& call) {
  try {
    call();
    return kExitOk;
  } catch (const Error& error) {
    return error.exit_code();
  }
}

using Lines = std::vector<std::string>;

TEST_F(InputTest, Lines) {
  EXPECT_EQ(lines(""), Lines{});
  EXPECT_EQ(lines("\n"), Lines{""});
  EXPECT_EQ(lines("a\nb\n"), (Lines{"a", "b"}));
  EXPECT_EQ(lines("a\n\nb"), (Lines{"a", "", "b"}));
  EXPECT_EQ(lines(std::string("a\0b\r\n", 5)), Lines{std::string("a\0b\r", 4)});
}

// The input is longer than one read, with line ends at and around the border.
TEST_F(InputTest, LinesAcrossReads) {
  for (const std::size_t size : {262'143U, 262'144U, 262'145U, 600'000U}) {
    const std::string big(size, 'x');
    EXPECT_TRUE(lines(big + "\nrest\n" + big) == (Lines{big, "rest", big})) << size;
    EXPECT_TRUE(lines("first\n" + big + "\n") == (Lines{"first", big})) << size;
  }
  Lines many;
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += many.emplace_back("line " + std::to_string(i)) + "\n";
  EXPECT_TRUE(lines(text) == many);
}

TEST_F(InputTest, ALineHasABound) {
  EXPECT_EQ(lines("12345\n12345", 5), (Lines{"12345", "12345"}));
  EXPECT_EQ(code_of([&] { lines("1\n123456\n", 5); }), kExitBadInput);
  EXPECT_EQ(code_of([&] { lines("1\n123456", 5); }), kExitBadInput);
  EXPECT_EQ(code_of([&] { lines(std::string(900'000, 'x'), 300'000); }), kExitBadInput);
}

TEST_F(InputTest, AllOfItOrOneByteMoreThanAllowed) {
  const std::string big(700'000, 'y');
  const std::string path = folder_.write("in", big);
  EXPECT_TRUE(Input(path).read_all(kMost) == big);
  EXPECT_TRUE(Input(path).read_all(big.size()) == big);
  EXPECT_EQ(Input(path).read_all(big.size() - 1).size(), big.size());
  EXPECT_EQ(Input(path).read_all(10).size(), 11U);
}

// If a failure looked like the end, half of a file would be submitted as if it were all.
TEST_F(InputTest, AFailureIsNoEnd) {
  EXPECT_EQ(code_of([&] { Input{folder_ / "missing"}; }), kExitNoInput);
  Input folder(folder_.path());
  std::string line;
  EXPECT_EQ(code_of([&] { folder.next_line(line, kMost); }), kExitNoInput);
  EXPECT_EQ(code_of([&] { (void)Input(folder_.path()).read_all(kMost); }), kExitNoInput);
}

}  // namespace
}  // namespace allot::cli
