// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "base/nearest.h"
#include "config/rows.h"

namespace allot::config {
namespace {

TEST(Duration, HasOneNumberAndOneUnit) {
  EXPECT_EQ(parse_duration("300ms"), milliseconds(300));
  EXPECT_EQ(parse_duration("30s"), seconds(30));
  EXPECT_EQ(parse_duration("5m"), minutes(5));
  EXPECT_EQ(parse_duration("1h"), hours(1));
  EXPECT_EQ(parse_duration("7d"), hours(168));
  EXPECT_EQ(parse_duration("0s"), milliseconds(0));
  EXPECT_EQ(parse_duration("2562047788015h"), hours(2'562'047'788'015));
}

TEST(Duration, RefusesEverythingElse) {
  for (const char* text : {"", "30", "s", "30 s", " 30s", "30s ", "-30s", "+30s", "1.5s", "1h30m",
                           "30S", "30sec", "0x10s", "2562047788016h", "99999999999999999999s"}) {
    EXPECT_EQ(parse_duration(text), std::nullopt) << text;
  }
}

TEST(Duration, IsWrittenInTheLargestWholeUnit) {
  EXPECT_EQ(text_of(milliseconds(0)), "0s");
  EXPECT_EQ(text_of(milliseconds(1)), "1ms");
  EXPECT_EQ(text_of(milliseconds(1500)), "1500ms");
  EXPECT_EQ(text_of(seconds(90)), "90s");
  EXPECT_EQ(text_of(seconds(120)), "2m");
  EXPECT_EQ(text_of(hours(720)), "720h");
}

TEST(Duration, ReadsBackWhatItWrites) {
  for (const std::int64_t ms : {0LL, 1LL, 999LL, 1000LL, 59'999LL, 60'000LL, 3'600'000LL}) {
    EXPECT_EQ(parse_duration(text_of(milliseconds(ms))), milliseconds(ms));
  }
}

TEST(Nearest, FindsATypingMistakeAndNothingFarther) {
  const std::vector<std::string_view> known = {"partitions", "block_size", "max_attempts", "port"};
  EXPECT_EQ(nearest("partitons", known), "partitions");
  EXPECT_EQ(nearest("blocksize", known), "block_size");
  EXPECT_EQ(nearest("max_atempt", known), "max_attempts");
  EXPECT_EQ(nearest("prot", known), "port");
  EXPECT_EQ(nearest("concurrency", known), "");
  EXPECT_EQ(nearest("", known), "");
}

}  // namespace
}  // namespace allot::config
