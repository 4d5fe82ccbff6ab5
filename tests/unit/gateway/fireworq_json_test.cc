// SPDX-License-Identifier: Apache-2.0
// JSON as sent by Fireworq's programs: section by section of docs/from-fireworq.md.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <string_view>

#include "config/number.h"
#include "gateway/fireworq/json_text.h"

namespace allot::gateway::fireworq {
namespace {

std::string wrong_of(const std::string& text) {
  try {
    static_cast<void>(first_value(text));
    return {};
  } catch (const BadJson& bad) {
    return bad.what();
  }
}

TEST(JsonText, TheFirstValueCounts) {
  EXPECT_EQ(first_value(" {\"a\": [1, {}]} what follows"), "{\"a\": [1, {}]}");
  EXPECT_EQ(first_value("null,"), "null");
  EXPECT_EQ(first_value("-0.5e+3 "), "-0.5e+3");
  EXPECT_EQ(first_value("\"\\u00e4\\\"\""), "\"\\u00e4\\\"\"");
  EXPECT_EQ(wrong_of(""), "EOF");
  EXPECT_EQ(wrong_of(" \n"), "EOF");
  for (const char* text : {"{", "[1,", "{\"a\"", "{\"a\":", "\"a", "tru", "-", "1.", "\"\\u12"}) {
    EXPECT_EQ(wrong_of(text), "unexpected EOF") << text;
  }
  for (const char* text : {"}", "{a:1}", "[1 2]", "{\"a\" 1}", "{\"a\":1,}", "[1,]", "nulL",
                           "\"\x01\"", "\"\\x\"", "'a'", "+1", ".5"}) {
    EXPECT_NE(wrong_of(text), "") << text;
    EXPECT_EQ(wrong_of(text).find('\n'), std::string::npos) << text;
  }
  EXPECT_EQ(first_value("01"), "0") << "another value follows";
}

TEST(JsonText, HowDeepAValueMayBe) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_TRUE(is_json(nested(kMostDepth)));
  EXPECT_NE(wrong_of(nested(kMostDepth + 1)).find("deeper"), std::string::npos);
  EXPECT_NE(wrong_of(std::string(4'000'000, '[')), "");
}

TEST(JsonText, OneValueAloneIsJson) {
  EXPECT_TRUE(is_json(" 1\n"));
  EXPECT_FALSE(is_json("1 2"));
  EXPECT_FALSE(is_json("a"));
  EXPECT_FALSE(is_json(""));
}

TEST(JsonText, MembersInTheirOrder) {
  Members members(first_value(R"({ "a" : "}{", "\u0062":[{"x":1}] ,"c":1})"));
  ASSERT_TRUE(members.next());
  EXPECT_EQ(members.key(), "a");
  EXPECT_EQ(members.value(), "\"}{\"");
  ASSERT_TRUE(members.next());
  EXPECT_EQ(members.key(), "b");
  EXPECT_EQ(members.value(), "[{\"x\":1}]");
  ASSERT_TRUE(members.next());
  EXPECT_EQ(members.value(), "1");
  EXPECT_FALSE(members.next());
  Members none("{ }");
  EXPECT_FALSE(none.next());
}

TEST(JsonText, ManyMembers) {
  constexpr std::size_t kMany = 10'000;
  std::string text = "{";
  for (std::size_t i = 0; i < kMany; ++i) text += "\"k\":0 , ";
  text += "\"last\":\"x\"}";
  Members members(first_value(text));
  for (std::size_t i = 0; i < kMany; ++i) {
    ASSERT_TRUE(members.next());
    ASSERT_EQ(members.key(), "k");
    ASSERT_EQ(members.value(), "0");
  }
  ASSERT_TRUE(members.next());
  EXPECT_EQ(members.key(), "last");
  EXPECT_EQ(members.value(), "\"x\"");
  EXPECT_FALSE(members.next());
}

// Otherwise 100 MiB of members would take hours. The text after these is invalid.
TEST(JsonText, EachStepLooksAtItsOwnMember) {
  const std::string_view text = R"({ "a":1 , "b":[2],)";
  const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* pages =
      ::mmap(nullptr, 2 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  char* begin = static_cast<char*>(pages) + size - text.size();
  text.copy(begin, text.size());
  ASSERT_EQ(::mprotect(static_cast<char*>(pages) + size, size, PROT_NONE), 0);
  Members members({begin, text.size() + size});
  ASSERT_TRUE(members.next());
  EXPECT_EQ(members.value(), "1");
  ASSERT_TRUE(members.next());
  EXPECT_EQ(members.value(), "[2]");
  EXPECT_EQ(::munmap(pages, 2 * size), 0);
}

TEST(JsonText, KeysWithoutCase) {
  EXPECT_TRUE(same_key("URL", "url"));
  EXPECT_FALSE(same_key("url", "ur"));
  EXPECT_FALSE(same_key("ur_", "ur\x7f"));
}

TEST(JsonText, TextOfAString) {
  EXPECT_EQ(string_of(R"("a\n\t\/\"\\\b\f\r")"), "a\n\t/\"\\\b\f\r");
  EXPECT_EQ(string_of(R"("\u00e4\ud83d\ude00")"), "\xc3\xa4\xf0\x9f\x98\x80");
  const std::string replaced = "\xef\xbf\xbd";
  EXPECT_EQ(string_of(R"("\ud83d")"), replaced) << "half of a pair";
  EXPECT_EQ(string_of(R"("\ude00x")"), replaced + "x");
  EXPECT_EQ(string_of(R"("\ud83d\u0041")"), replaced + "A");
  EXPECT_EQ(string_of("\"\xff\xc3\""), replaced + replaced);
  EXPECT_EQ(string_of("\"\xed\xa0\x80\""), replaced + replaced + replaced) << "a coded surrogate";
  EXPECT_EQ(string_of("\"\xc0\x80\""), replaced + replaced) << "longer than it need be";
  EXPECT_EQ(string_of("1"), std::nullopt);
}

TEST(JsonText, Counts) {
  EXPECT_EQ(config::whole_number<std::uint32_t>("0"), 0U);
  EXPECT_EQ(config::whole_number<std::uint32_t>("4294967295"), 4294967295U);
  for (const char* text : {"4294967296", "-1", "-0", "1.0", "1e3", "\"1\"", "true", "{}"}) {
    EXPECT_EQ(config::whole_number<std::uint32_t>(text), std::nullopt) << text;
  }
  EXPECT_EQ(number_of("2.5"), 2.5);
  EXPECT_EQ(number_of("-1"), -1);
  EXPECT_EQ(number_of("1e999"), std::nullopt);
  EXPECT_EQ(number_of("\"1\""), std::nullopt);
}

}  // namespace
}  // namespace allot::gateway::fireworq
