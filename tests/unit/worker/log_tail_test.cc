// SPDX-License-Identifier: Apache-2.0
// Rule: S81.
#include <gtest/gtest.h>

#include <algorithm>

#include "worker/run/run.h"

namespace allot::worker {
namespace {

TEST(LogTail, KeepsTheLastLines) {
  LogTail tail;
  EXPECT_EQ(tail.text(), "");
  for (int i = 0; i < 100; ++i) tail.add("info", std::to_string(i));
  const std::string text = tail.text();
  EXPECT_TRUE(text.starts_with("info 36\n")) << text;
  EXPECT_TRUE(text.ends_with("info 99\n")) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 64);
}

TEST(LogTail, IsBoundedInBytes) {
  LogTail tail;
  for (int i = 0; i < 20; ++i) tail.add("warn", std::string(1000, 'a' + static_cast<char>(i)));
  EXPECT_LE(tail.text().size(), LogTail::kMostBytes);
  EXPECT_EQ(tail.text().size(), std::size_t{16} * 1006);
  tail.add("error", std::string(100'000, 'x'));
  EXPECT_EQ(tail.text().size(), LogTail::kMostBytes);
  EXPECT_TRUE(tail.text().starts_with("error xxx"));
}

}  // namespace
}  // namespace allot::worker
