// SPDX-License-Identifier: Apache-2.0
#include "gateway/api/route.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "gateway/api/problem.h"

namespace allot::gateway::api {
namespace {

Match found(const std::string& method, const std::string& path, const std::string& base = "",
            bool read_only = false) {
  return match(method, path, base, read_only);
}

// Rejects a row without a test or without a text.
TEST(RouteTable, EachRowIsWhole) {
  std::set<std::string> names;
  std::set<std::pair<std::string, std::string>> requests;
  for (const Route& route : routes()) {
    const std::string what = std::string(route.method) + " " + std::string(route.path);
    EXPECT_TRUE(names.insert(std::string(route.name)).second) << what;
    EXPECT_TRUE(requests.insert({std::string(route.method), std::string(route.path)}).second)
        << what;
    EXPECT_TRUE(route.summary.ends_with('.')) << what;
    ASSERT_FALSE(route.answers.empty()) << what;
    EXPECT_EQ(route.verb == nullptr,
              route.executor == Executor::kCombiner || route.executor == Executor::kScrape)
        << what;
    EXPECT_EQ(route.example.empty(), route.body != Body::kTasks) << what;
    EXPECT_FALSE(route.writes() && !route.role) << what << " changes something for anybody";
    EXPECT_TRUE(route.role || route.path.starts_with("/health/")) << what;
    for (const Parameter& each : route.parameters) {
      EXPECT_FALSE(each.what.empty()) << what << " " << each.name;
      // A cursor and a token are words made by the gateway before, the queue of the examples takes
      // no partition key, and there is a payload already.
      const bool none = each.name == "cursor" || each.name == "token" ||
                        each.name == "partition_key" || each.name == "payload_base64";
      EXPECT_TRUE(!each.example.empty() || none) << what << " " << each.name;
      EXPECT_FALSE(each.in == In::kBody && route.body != Body::kOptions) << what;
      EXPECT_FALSE(each.kind == Kind::kNumber && each.most == 0) << what << " " << each.name;
      if (each.in == In::kPath) {
        EXPECT_NE(route.path.find("{" + std::string(each.name) + "}"), std::string_view::npos)
            << what;
      }
    }
  }
}

TEST(Router, PathsAreFound) {
  const Match show = found("GET", "/api/v1/tasks/abc");
  ASSERT_NE(show.route, nullptr);
  EXPECT_EQ(show.route->name, "show_task");
  EXPECT_EQ(show.path.at("id"), "abc");
  EXPECT_EQ(found("HEAD", "/api/v1/tasks/abc").route, show.route);
  const Match key = found("GET", "/api/v1/queues/mail/keys/a%2Fb%20%25+");
  ASSERT_NE(key.route, nullptr);
  EXPECT_EQ(key.path.at("unique_key"), "a/b %+");
  EXPECT_EQ(found("GET", "/x/api/v1/queues", "/x").route->name, "list_queues");
}

TEST(Router, OtherPathsAreNot) {
  for (const char* path : {"/", "//", "", "/api", "/api/v1", "/api/v1/", "/api/v1/tasks/",
                           "/api/v1/tasks//why", "/api/v1/tasks/a/b", "/API/v1/queues",
                           "/api/v1/queues/", "/api/v1/../v1/queues", "/api/v1/queues;x"}) {
    const Match none = found("GET", path);
    EXPECT_EQ(none.route, nullptr) << path;
  }
  EXPECT_EQ(found("GET", "/api/v1/queues", "/x").route, nullptr);
  EXPECT_EQ(found("GET", "/xapi/v1/queues", "/x").route, nullptr);
  EXPECT_EQ(found("GET", "/x", "/x").route, nullptr);
  EXPECT_THROW(found("GET", "/api/v1/tasks/%4"), Refusal);
  EXPECT_THROW(found("GET", "/api/v1/tasks/%zz"), Refusal);
}

TEST(Router, AWrongMethodGetsTheOthers) {
  const Match wrong = found("PATCH", "/api/v1/queues/mail/rate");
  EXPECT_EQ(wrong.route, nullptr);
  EXPECT_EQ(wrong.allowed, (std::set<std::string_view>{"DELETE", "PUT"}));
  EXPECT_TRUE(found("PUT", "/api/v1/queues/mail/rate", "", true).allowed.empty());
}

TEST(Query, IsDecoded) {
  const Values values = query_of("a=1&b=x+y%2Bz&&c&d=%00");
  EXPECT_EQ(values, (Values{{"a", "1"}, {"b", "x y+z"}, {"c", ""}, {"d", std::string(1, '\0')}}));
  EXPECT_TRUE(query_of("").empty());
  EXPECT_TRUE(query_of("&&").empty());
  for (const char* wrong : {"a=%", "a=%4", "a=%4x", "%=1", "a=1&a=2"}) {
    EXPECT_THROW(query_of(wrong), Refusal) << wrong;
  }
}

TEST(Query, EscapesAreDecoded) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  EXPECT_EQ(unescaped(escaped(all), false), all);
  EXPECT_EQ(unescaped(escaped(all), true), all);
}

TEST(HttpPage, TheReferenceIsFresh) {
  std::ifstream in(std::string(ALLOT_SOURCE_DIR) + "/docs/http.md");
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  EXPECT_TRUE(page == with_reference(page))
      << "docs/http.md is stale: run  cmake --build build/dev --target http-doc  and commit the "
         "change";
}

}  // namespace
}  // namespace allot::gateway::api
