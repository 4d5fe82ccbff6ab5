// SPDX-License-Identifier: Apache-2.0
#include "queue/model/error_text.h"

#include <gtest/gtest.h>

namespace allot::queue {
namespace {

constexpr const char* kBad = "\xef\xbf\xbd";

TEST(ErrorTextTest, GoodTextIsKept) {
  for (const char* text : {"", "plain", "two\nlines\t\x01", "\xc2\x80 \xdf\xbf", "\xe0\xa0\x80",
                           "\xed\x9f\xbf \xee\x80\x80", "\xf0\x90\x80\x80 \xf4\x8f\xbf\xbf"}) {
    EXPECT_EQ(error_text(text), text);
  }
  EXPECT_EQ(error_text(std::string_view("a\0b", 3)), std::string_view("a\0b", 3));
}

TEST(ErrorTextTest, EachBadByteIsReplaced) {
  struct Case {
    const char* what;
    const char* raw;
    std::size_t bad;
  };
  for (const Case& at :
       {Case{"lone continuation", "\x80", 1}, Case{"overlong two", "\xc0\xaf", 2},
        Case{"overlong three", "\xe0\x9f\xbf", 3}, Case{"surrogate", "\xed\xa0\x80", 3},
        Case{"overlong four", "\xf0\x8f\xbf\xbf", 4},
        Case{"beyond the last", "\xf4\x90\x80\x80", 4}, Case{"never a lead", "\xf5", 1},
        Case{"never a lead", "\xff", 1}}) {
    std::string wanted = "<";
    for (std::size_t i = 0; i < at.bad; ++i) wanted += kBad;
    EXPECT_EQ(error_text("<" + std::string(at.raw) + ">"), wanted + ">") << at.what;
  }
  // Cut off at the end, or by a character that begins too early.
  EXPECT_EQ(error_text("<\xe2\x82"), std::string("<") + kBad + kBad);
  EXPECT_EQ(error_text("\xe2\x82>"), std::string(kBad) + kBad + ">");
}

TEST(ErrorTextTest, IsCutBetweenCharacters) {
  constexpr std::size_t kMost = 64 << 10;
  EXPECT_EQ(error_text(std::string(kMost, 'x')).size(), kMost);
  EXPECT_EQ(error_text(std::string(kMost + 1, 'x')).size(), kMost);
  std::string euros = "x";
  while (euros.size() < 2 * kMost) euros += "\xe2\x82\xac";
  EXPECT_EQ(error_text(euros), euros.substr(0, kMost));  // 1 + 3 * 21845
  EXPECT_EQ(error_text("x" + euros), ("x" + euros).substr(0, kMost - 2));
  EXPECT_LE(error_text(std::string(2 * kMost, '\xff')).size(), kMost);
}

}  // namespace
}  // namespace allot::queue
