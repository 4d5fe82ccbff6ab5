// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "base/error.h"
#include "json/fields.h"

namespace allot::as_json {
namespace {

using std::chrono::microseconds;

// Microseconds since 1970.
std::int64_t moment(const std::string& text) {
  return parse_moment("run_at", text).time_since_epoch().count();
}

std::string refusal(const std::string& text) {
  try {
    return "taken as " + std::to_string(moment(text));
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), kExitBadInput);
    return error.what();
  }
}

TEST(Due, AMomentIsTheSameInEveryZone) {
  constexpr std::int64_t kChristmas = 1'798'135'200'000'000;  // date -u -d 2026-12-24T18:00 +%s
  EXPECT_EQ(moment("2026-12-24T18:00:00Z"), kChristmas);
  EXPECT_EQ(moment("2026-12-24t18:00:00z"), kChristmas);
  EXPECT_EQ(moment("2026-12-24 18:00:00Z"), kChristmas);
  EXPECT_EQ(moment("2026-12-24T19:30:00+01:30"), kChristmas);
  EXPECT_EQ(moment("2026-12-24T08:00:00-10:00"), kChristmas);
}

TEST(Due, Fractions) {
  const std::int64_t whole = moment("2026-12-24T18:00:00Z");
  EXPECT_EQ(moment("2026-12-24T18:00:00.5Z"), whole + 500'000);
  EXPECT_EQ(moment("2026-12-24T18:00:00.000001Z"), whole + 1);
  EXPECT_EQ(moment("2026-12-24T18:00:00.123456789Z"), whole + 123'456) << "as far as keys go";
}

TEST(Due, InvalidTimeNamesItsField) {
  for (const char* text :
       {"", "tomorrow", "2026-12-24", "2026-12-24T18:00:00", "2026-12-24T18:00Z", "1798135200",
        "2026-12-24T18:00:00Z ", "2026-12-24T18:00:00+0100", "x2026-12-24T18:00:00Z"}) {
    EXPECT_EQ(refusal(text).find("'run_at' is \"" + std::string(text) + "\": not a time"), 0U)
        << refusal(text);
  }
  for (const char* text :
       {"2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z",
        "2026-01-32T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z",
        "2026-01-01T00:00:61Z", "2026-01-01T00:00:00+24:00", "2026-01-01T00:00:00+00:60"}) {
    EXPECT_NE(refusal(text).find("no such day or time"), std::string::npos) << refusal(text);
  }
}

TEST(Due, AHugeTimeIsRefusedBeforeItIsMatched) {
  const std::string text = "2026-12-24T18:00:00." + std::string(1'000'000, '1') + "Z";
  EXPECT_NE(refusal(text).find("not a time"), std::string::npos);
}

TEST(Due, Delays) {
  EXPECT_EQ(parse_delay("delay", "300ms"), microseconds(300'000));
  EXPECT_EQ(parse_delay("delay", "1d"), microseconds(86'400'000'000));
  EXPECT_EQ(parse_delay("delay", "2h"), microseconds(7'200'000'000));
  for (const char* text : {"", "5", "-5s", "1.5s", "5 s", "5w", "999999999999999999999s"}) {
    EXPECT_THROW(parse_delay("delay", text), Error) << text;
  }
}

}  // namespace
}  // namespace allot::as_json
