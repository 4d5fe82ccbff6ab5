// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "log/log.h"

namespace allot::log {
namespace {

std::string written(const Value& value) {
  std::string line;
  value.append_to(line);
  return line;
}

std::string quoted(std::string_view text) {
  return written(text);
}

TEST(Quoted, PlainTextStaysAsItIs) {
  for (const char* text :
       {"mail.send", "/usr/lib/x.so", "a,b;c:(d)[e]{f}'g'", "k\xc3\xa4se", "\xe2\x82\xac",
        "\xf0\x9f\x98\x80", "\xef\xbf\xbf", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_EQ(quoted(text), text);
  }
}

TEST(Quoted, SpecialCharactersAreQuoted) {
  EXPECT_EQ(quoted(""), "\"\"");
  EXPECT_EQ(quoted("two words"), "\"two words\"");
  EXPECT_EQ(quoted("a=b"), "\"a=b\"");
  EXPECT_EQ(quoted("say \"hi\""), "\"say \\\"hi\\\"\"");
  EXPECT_EQ(quoted("back\\slash"), "\"back\\\\slash\"");
}

TEST(Quoted, ControlCharactersAreEscaped) {
  EXPECT_EQ(quoted("a\nb\rc\td"), "\"a\\nb\\rc\\td\"");
  EXPECT_EQ(quoted(std::string_view("a\0b", 3)), "\"a\\x00b\"");
  EXPECT_EQ(quoted("\x1b[31m"), "\"\\x1b[31m\"");
  EXPECT_EQ(quoted("\x7f"), "\"\\x7f\"");
  EXPECT_EQ(quoted("\xc2\x9b"), "\"\\xc2\\x9b\"");  // C1: the 8-bit CSI of terminals
  EXPECT_EQ(quoted("\xc2\xa0"), "\xc2\xa0");
}

TEST(Quoted, BytesThatAreNotUtf8AreEscaped) {
  EXPECT_EQ(quoted("\xff"), "\"\\xff\"");
  EXPECT_EQ(quoted("a\xc3"), "\"a\\xc3\"");                           // cut short
  EXPECT_EQ(quoted("\xc3("), "\"\\xc3(\"");                           // wrong second byte
  EXPECT_EQ(quoted("\xc0\xaf"), "\"\\xc0\\xaf\"");                    // overlong '/'
  EXPECT_EQ(quoted("\xe0\x80\xaf"), "\"\\xe0\\x80\\xaf\"");           // overlong
  EXPECT_EQ(quoted("\xed\xa0\x80"), "\"\\xed\\xa0\\x80\"");           // surrogate
  EXPECT_EQ(quoted("\xf4\x90\x80\x80"), "\"\\xf4\\x90\\x80\\x80\"");  // above U+10FFFF
  EXPECT_EQ(quoted("\xe2\x82"), "\"\\xe2\\x82\"");
}

TEST(Value, NumbersAndFlags) {
  EXPECT_EQ(written(12), "12");
  EXPECT_EQ(written(-7L), "-7");
  EXPECT_EQ(written(std::numeric_limits<std::uint64_t>::max()), "18446744073709551615");
  EXPECT_EQ(written(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(written(0.25), "0.25");
  EXPECT_EQ(written(1.5F), "1.5");
  EXPECT_EQ(written(true), "true");
  EXPECT_EQ(written(false), "false");
  EXPECT_EQ(written(static_cast<const char*>(nullptr)), "\"\"");
  EXPECT_EQ(written(std::string("a b")), "\"a b\"");
}

}  // namespace
}  // namespace allot::log
