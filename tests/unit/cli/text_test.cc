// SPDX-License-Identifier: Apache-2.0
#include "cli/words/text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace allot::cli {
namespace {

using nlohmann::json;

TEST(Printable, PlainTextStays) {
  EXPECT_EQ(printable("", 10), "");
  EXPECT_EQ(printable("a b~", 10), "a b~");
  EXPECT_EQ(printable("Größe 10 € \U0001f600", 100), "Größe 10 € \U0001f600");
}

TEST(Printable, TerminalControlIsEscaped) {
  EXPECT_EQ(printable(std::string("\0", 1), 10), "\\x00");
  EXPECT_EQ(printable("a\nb", 10), "a\\nb");
  EXPECT_EQ(as_json::printable_lines("a\n\tb\r\x1b"), "a\n\tb\\x0d\\x1b");
  EXPECT_EQ(printable("\x1b[31m", 10), "\\x1b[31m");
  EXPECT_EQ(printable("\x7f", 10), "\\x7f");
  EXPECT_EQ(printable("\xc2\x9b", 10), "\\xc2\\x9b") << "C1: the eight-bit escape";
  EXPECT_EQ(printable("\xe2\x80\xae", 20), "\\xe2\\x80\\xae") << "right-to-left override";
}

TEST(Printable, InvalidUtf8IsEscapedByteByByte) {
  EXPECT_EQ(printable("\xff", 20), "\\xff");
  EXPECT_EQ(printable("\xc3", 20), "\\xc3") << "cut off";
  EXPECT_EQ(printable("\xc3z", 20), "\\xc3z");
  EXPECT_EQ(printable("\xc0\xaf", 20), "\\xc0\\xaf") << "overlong";
  EXPECT_EQ(printable("\xe0\x80\xaf", 20), "\\xe0\\x80\\xaf") << "overlong";
  EXPECT_EQ(printable("\xed\xa0\x80", 20), "\\xed\\xa0\\x80") << "surrogate";
  EXPECT_EQ(printable("\xf4\x90\x80\x80", 20), "\\xf4\\x90\\x80\\x80") << "beyond Unicode";
}

TEST(Printable, EveryByteYieldsOneSafeLine) {
  std::string all;
  for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
  for (const char c : printable(all, 10'000)) {
    EXPECT_TRUE(c >= ' ' && c < 0x7f) << static_cast<int>(c);
  }
}

TEST(Printable, LongTextIsCutBetweenCharacters) {
  EXPECT_EQ(printable("12345", 5), "12345");
  EXPECT_EQ(printable("123456", 5), "12345...");
  EXPECT_EQ(printable("ääää", 3), "ää...");
}

TEST(DidYouMean, NamesTheNearest) {
  const std::vector<std::string> known{"mail", "reports", "default"};
  EXPECT_EQ(did_you_mean("mial", known), "; did you mean 'mail'?");
  EXPECT_EQ(did_you_mean("defualt", known), "; did you mean 'default'?");
  EXPECT_EQ(did_you_mean("zzzz", known), "");
  EXPECT_EQ(did_you_mean("mail", std::vector<std::string>()), "");
  EXPECT_EQ(did_you_mean(std::string(8'000'000, 'm'), known), "");
}

TEST(HowLong, PicksTheUnit) {
  EXPECT_EQ(how_long(0), "0 ms");
  EXPECT_EQ(how_long(999), "999 ms");
  EXPECT_EQ(how_long(1'000), "1.0 s");
  EXPECT_EQ(how_long(12'399), "12.3 s");
  EXPECT_EQ(how_long(59'999), "59.9 s");
  EXPECT_EQ(how_long(245'000), "4 min 05 s");
  EXPECT_EQ(how_long(11'220'000), "3 h 07 min");
  EXPECT_EQ(how_long(212'400'000), "2 d 11 h");
  EXPECT_EQ(how_long(UINT64_MAX), "213503982334 d 14 h");
}

TEST(Table, ColumnsAreAsWideAsTheirWidestCell) {
  const json items{{{"name", "a"}, {"count", "7"}, {"note", ""}},
                   {{"name", "longer"}, {"count", "100000+"}, {"note", "x y"}}};
  EXPECT_EQ(table_of(items, {{"NAME", "name"}, {"COUNT", "count"}, {"NOTE", "note"}}),
            "NAME      COUNT  NOTE\n"
            "a             7\n"
            "longer  100000+  x y\n");
}

TEST(Table, AColumnWithOneWordIsAlignedLeft) {
  const json items{{{"a", 10}, {"b", 10}}, {{"a", "-"}, {"b", 1}}};
  EXPECT_EQ(table_of(items, {{"A", "a"}, {"B", "b"}}),
            "A    B\n"
            "10  10\n"
            "-    1\n");
}

TEST(Table, WithoutRowsOnlyHeads) {
  EXPECT_EQ(table_of(json::array(), {{"A", "a"}, {"B", "b"}}), "A  B\n");
}

}  // namespace
}  // namespace allot::cli
