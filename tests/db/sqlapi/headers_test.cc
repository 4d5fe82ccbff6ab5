// SPDX-License-Identifier: Apache-2.0
// Headers of a task submitted by SQL: the same as for any other interface.
// Rule: S75.
#include "queue/model/headers.h"

#include "db/sqlapi/fixture.h"

namespace allot::sqlapi {
namespace {

const std::string kTraceId = "0af7651916cd43dd8448eb211c80319c";
const std::string kSpan = "b7ad6b7169203331";
const std::string kGood = "00-" + kTraceId + "-" + kSpan + "-01";

class HeadersTest : public SqlApiTest {
 protected:
  // Stored headers; "NULL" for none.
  std::string stored(const nlohmann::json& options) {
    observer_.execute("DELETE FROM task; DELETE FROM task_unique");
    call_submit(app_, "default", "t", "", options.dump());
    return value("SELECT COALESCE(headers, 'NULL') FROM task");
  }
  std::string of_parent(const std::string& parent) { return stored({{"traceparent", parent}}); }
};

TEST_F(HeadersTest, HeadersAreWrittenAsByTheClient) {
  const nlohmann::json options{
      {"max_attempts", 3}, {"traceparent", kGood}, {"tracestate", "a=1,b=\"\\x"}};
  const queue::Headers wanted{3, queue::trace_of(kGood, "a=1,b=\"\\x")};
  EXPECT_EQ(stored(options), wanted.text());
  nlohmann::json with_key = options;
  with_key["unique_key"] = "k";
  EXPECT_EQ(stored(with_key), wanted.text());
  EXPECT_EQ(stored({{"max_attempts", 100000}}), (queue::Headers{100000, {}}.text()));
  EXPECT_EQ(stored({{"prio", 1}}), "NULL");
}

TEST_F(HeadersTest, EveryTaskOfAListHasItsOwn) {
  call_submit_many(app_, nlohmann::json{{{"queue", "default"}, {"type", "a"}, {"max_attempts", 2}},
                                        {{"queue", "default"}, {"type", "b"}}}
                             .dump());
  EXPECT_EQ(value("SELECT GROUP_CONCAT(type, ' ', COALESCE(headers, '-') ORDER BY type) FROM task"),
            "a max_attempts=2,b -");
}

TEST_F(HeadersTest, ATraceIsReadAsTheClientReadsIt) {
  for (const std::string& parent :
       {kGood, "01" + kGood.substr(2) + "-more", "cc" + kGood.substr(2), kGood.substr(0, 53) + "ff",
        kGood.substr(0, 53) + "00", "ff" + kGood.substr(2), kGood + "-", kGood + "0", kGood + "\n",
        kGood.substr(1), std::string("00"), std::string(),
        "00-" + std::string(32, '0') + "-" + kSpan + "-01",
        "00-" + kTraceId + "-" + std::string(16, '0') + "-01",
        "00-0AF7651916CD43DD8448EB211C80319C-" + kSpan + "-01", "01" + kGood.substr(2) + "more",
        "01" + kGood.substr(2) + "\n", std::string(2000, '0')}) {
    const queue::Headers wanted{0, queue::trace_of(parent, {})};
    EXPECT_EQ(of_parent(parent), wanted.any() ? wanted.text() : "NULL") << parent;
  }
}

TEST_F(HeadersTest, AStateThatDoesNotFitIsLeftOut) {
  const std::string parent = "traceparent=" + kGood;
  EXPECT_EQ(stored({{"traceparent", kGood}, {"tracestate", "a=" + std::string(908, 'x')}}), parent);
  EXPECT_EQ(stored({{"traceparent", kGood}, {"tracestate", "a=\u00e9"}}), parent);
  EXPECT_EQ(stored({{"traceparent", kGood}, {"tracestate", "a=1\nmax_attempts=1"}}), parent);
  EXPECT_EQ(stored({{"traceparent", kGood}, {"tracestate", ""}}), parent);
  EXPECT_EQ(stored({{"tracestate", "a=1"}}), "NULL");
}

TEST_F(HeadersTest, ACancelledTaskKeepsThem) {
  const auto made = call_submit(app_, "default", "t", "", R"({"max_attempts": 3})");
  app_.execute("CALL allot_cancel('" + made.id + "', 'not wanted', @result)");
  EXPECT_EQ(value("SELECT headers FROM task_dead"), "max_attempts=3");
}

TEST_F(HeadersTest, InvalidHeaderIsRefused) {
  for (const char* most : {"0", "-1", "100001", "1.5", "\"3\"", "null", "9999999999", "[]"}) {
    EXPECT_NE(refusal("t", "", std::string("{\"max_attempts\": ") + most + "}")
                  .find("'max_attempts' must be a whole number, 1 to 100000"),
              std::string::npos)
        << most;
  }
  EXPECT_NE(refusal("t", "", R"({"traceparent": 1})").find("'traceparent' must be a string"),
            std::string::npos);
  EXPECT_NE(refusal("t", "", R"({"tracestate": []})").find("'tracestate' must be a string"),
            std::string::npos);
  EXPECT_NE(refusal("t", "", R"({"headers": {}})").find("unknown option"), std::string::npos);
  EXPECT_EQ(tasks(), 0U);
}

}  // namespace
}  // namespace allot::sqlapi
