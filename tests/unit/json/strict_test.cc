// SPDX-License-Identifier: Apache-2.0
#include "json/strict.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

namespace allot::as_json {
namespace {

using nlohmann::json;

// The error in a text, and its field; "": none.
std::pair<std::string, std::string> fault(const std::string& text, std::size_t most_depth = 5) {
  try {
    static_cast<void>(read_strict(text, most_depth));
    return {};
  } catch (const BadJson& bad) {
    return {bad.what(), bad.field()};
  }
}
using Fault = std::pair<std::string, std::string>;

TEST(StrictJson, ReadsWhatEveryReaderUnderstandsAlike) {
  for (const char* text :
       {"null", "true", "-7", "18446744073709551615", "1.5e300", "\"a\\u0000b\"", "[]", "{}",
        R"({"a":{"b":[1,{"c":2},[]],"d":{}},"b":1})", " [1, 2 , {\"x\" : [null]}] \n"}) {
    EXPECT_EQ(read_strict(text, 5), json::parse(text)) << text;
  }
}

TEST(StrictJson, DuplicateKeyIsNamed) {
  EXPECT_EQ(fault(R"({"a":1,"b":2,"a":1})"), Fault("'a' occurs twice", "a"));
  EXPECT_EQ(fault(R"({"a":{"b":1,"b":2}})"), Fault("'b' occurs twice", "b"));
  EXPECT_EQ(fault(R"([{"a":[{"b":1},{"b":1}]},{"a":1}])"), Fault());
  EXPECT_EQ(fault(R"({"a":{"c":1},"c":1,"b":[],"\u0063":1})"), Fault("'c' occurs twice", "c"));
}

TEST(StrictJson, NothingFollowsTheValue) {
  EXPECT_EQ(fault("{} {}"), Fault("not a single JSON value, at byte 4", ""));
  EXPECT_EQ(fault("1,"), Fault("not a single JSON value, at byte 2", ""));
  EXPECT_EQ(fault(std::string("{}\0{}", 5)), Fault("not JSON, at byte 3: a NUL byte", ""));
  EXPECT_EQ(fault(std::string("\0", 1)), Fault("not JSON, at byte 1: a NUL byte", ""));
}

TEST(StrictJson, ANumberThatNoDoubleHoldsIsNamed) {
  EXPECT_EQ(fault(R"({"a":1,"rate":1e400})"),
            Fault("'rate' is a number out of range, at byte 19", "rate"));
  EXPECT_EQ(fault(R"({"rate":{"x":[0,-1e400]}})").second, "x");
  EXPECT_EQ(fault("[1e400]"), Fault("a number out of range, at byte 6", ""));
  EXPECT_EQ(fault(R"({"a":1e-400})"), Fault()) << "it is 0";
}

TEST(StrictJson, DepthIsBounded) {
  EXPECT_EQ(fault("[[[[[]]]]]"), Fault());
  EXPECT_EQ(fault("[[[[[[]]]]]]"), Fault("nested too deeply", ""));
  EXPECT_EQ(fault(R"({"a":{"a":{"a":{"a":{"a":{}}}}}})"), Fault("nested too deeply", ""));
  EXPECT_EQ(fault(std::string(1'000'000, '[')), Fault("nested too deeply", ""));
}

TEST(StrictJson, InvalidJsonSaysWhere) {
  EXPECT_EQ(fault(""), Fault("not JSON, at byte 1", ""));
  EXPECT_EQ(fault("{'a':1}"), Fault("not JSON, at byte 2", ""));
  EXPECT_EQ(fault("NaN"), Fault("not JSON, at byte 1", ""));
  EXPECT_EQ(fault("[1,]"), Fault("not JSON, at byte 4", ""));
  EXPECT_EQ(fault("\"\xff\""), Fault("not JSON, at byte 2", ""));
}

}  // namespace
}  // namespace allot::as_json
