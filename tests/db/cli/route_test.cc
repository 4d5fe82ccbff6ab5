// SPDX-License-Identifier: Apache-2.0
// allot route, and its effect on submissions of the command line.
#include <nlohmann/json.hpp>

#include "base/exit_codes.h"
#include "db/cli/fixture.h"
#include "support/environment.h"

namespace allot::cli {
namespace {

using nlohmann::json;
using std::chrono::seconds;
using std::chrono::steady_clock;
using support::eventually;

class RouteCommandTest : public CliTest {
 protected:
  RouteCommandTest() { must({"migrate"}); }

  std::uint64_t waiting(const std::string& queue) {
    return count("task JOIN queue USING (queue_id) WHERE name = '" + queue + "'");
  }
  void refuse(const Words& words, const std::string& why, int code = kExitBadInput) {
    const std::string before = everything();
    const auto refused = allot(words);
    EXPECT_EQ(refused.status.code, code) << refused.err;
    EXPECT_TRUE(has(refused.err, why));
    EXPECT_EQ(everything(), before);
  }
};

TEST_F(RouteCommandTest, OneIsSetListedAndRemoved) {
  EXPECT_EQ(must({"route", "set", "mail.*", "wide", "--from", "default"}),
            "tasks of type mail.* submitted to queue default go to queue wide\n");
  EXPECT_EQ(must({"route", "set", "*", "default", "--any-queue"}),
            "tasks that name no queue go to queue default\n");
  const json list = json::parse(must({"route", "list", "--json"}));
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0].at("from"), "default");
  EXPECT_EQ(list[0].at("type"), "mail.*");
  EXPECT_EQ(list[0].at("to"), "wide");
  EXPECT_EQ(list[1].at("from"), nullptr);
  EXPECT_TRUE(has(must({"route", "list"}), "(any)    *       default"));
  must({"submit", "default", "mail.send"});
  must({"submit", "default", "other"});
  must({"submit", "--routed", "other", "payload"});
  must({"submit", "", "other"});
  EXPECT_EQ(waiting("wide"), 1U);
  EXPECT_EQ(waiting("default"), 3U);
  EXPECT_EQ(must({"route", "remove", "mail.*", "--from", "default"}),
            "tasks of type mail.* submitted to queue default no longer go to queue wide\n");
  must({"submit", "default", "mail.send"});
  EXPECT_EQ(waiting("default"), 4U);
}

TEST_F(RouteCommandTest, InvalidRouteIsNamedAndChangesNothing) {
  refuse({"route", "set", "t", "nope", "--from", "default"}, "queue 'nope' does not exist");
  refuse({"route", "set", "t", "wide", "--from", "nope"}, "queue 'nope' does not exist");
  refuse({"route", "set", "t", "wide", "--from", "wide"}, "a route from queue 'wide' to itself");
  refuse({"route", "set", "ma il", "wide", "--from", "default"}, "TYPE: 1 to 127 of");
  refuse({"route", "set", "t", "wide"}, "--from QUEUE or --any-queue", kExitUsage);
  refuse({"route", "set", "*", "wide", "--any-queue", "--move"}, "--move: ");
  refuse({"route", "remove", "t", "--from", "default"},
         "unknown route of tasks of type t submitted to queue default");
  refuse({"submit", "--routed", "t"},
         "no queue is given, and no route exists for tasks of type 't'");
  refuse({"submit", "--routed", "t", "a", "b"}, "b", kExitUsage);
  const auto line = allot_with({"submit", "--ndjson", "-"}, "{\"type\": \"t\"}\n");
  EXPECT_EQ(line.status.code, kExitBadInput);
  EXPECT_TRUE(has(line.err, ":1: no queue is given"));
}

TEST_F(RouteCommandTest, ATypeWithLiveUniqueKeysIsToBeConfirmed) {
  must({"submit", "default", "mail", "--unique-key", "k"});
  must({"submit", "default", "other"});
  refuse({"route", "set", "mail", "wide", "--from", "default"},
         "1 task of queue default with a unique key, which belongs to its queue", kExitUsage);
  must({"route", "set", "other", "wide", "--from", "default"});
  must({"route", "set", "mail", "wide", "--from", "default", "--yes"});
  must({"submit", "default", "mail", "--unique-key", "k"});
  EXPECT_EQ(waiting("wide"), 1U) << "the same key in another queue";
  refuse({"route", "remove", "mail", "--from", "default"}, "1 task of queue wide", kExitUsage);
  must({"route", "remove", "mail", "--from", "default", "--yes"});
}

TEST_F(RouteCommandTest, WaitingTasksAreMovedWithTheRoute) {
  must({"submit", "--ndjson", "-"}, numbered(1, 250));
  must({"submit", "default", "heavy", "x", "--delay", "1h"});
  must({"submit", "default", "heavy", "y", "--unique-key", "k"});
  const json told = json::parse(
      must({"route", "set", "heavy", "wide", "--from", "default", "--move", "--yes", "--json"}));
  EXPECT_EQ(told.at("moved"), 1);
  EXPECT_EQ(told.at("unique"), 1);
  EXPECT_EQ(told.at("leased"), 0);
  EXPECT_EQ(waiting("wide"), 1U);
  EXPECT_EQ(waiting("default"), 251U);
  EXPECT_EQ(json::parse(must({"route", "set", "t*", "wide", "--any-queue", "--move", "--json"}))
                .at("moved"),
            250);
  EXPECT_EQ(waiting("default"), 1U);
}

// $ALLOT_TEST_STREAM_SECONDS sets how long the stream is open before.
TEST_F(RouteCommandTest, AStreamThatIsOpenFollowsWithinASecond) {
  const auto open = seconds(support::environment_or("ALLOT_TEST_STREAM_SECONDS", 1));
  Fed fed(config(), {"submit", "--ndjson", "-", "--batch", "1"});
  int line = 0;
  const auto feed = [&] {
    const std::uint64_t before = count("task");
    ++line;
    fed.feed(numbered(line, line));
    ASSERT_TRUE(eventually([&] { return count("task") > before; }));
  };
  const auto begun = steady_clock::now();
  do feed();
  while (steady_clock::now() - begun < open);
  EXPECT_EQ(waiting("wide"), 0U);
  must({"route", "set", "t", "wide", "--from", "default"});
  const auto set = steady_clock::now();
  steady_clock::duration strayed{0};  // when the last line that did not follow was sent
  ASSERT_TRUE(eventually([&] {
    const auto sent = steady_clock::now() - set;
    feed();
    if (waiting("wide") > 0) return true;
    strayed = sent;
    return false;
  }));
  std::printf("followed after %lld ms\n",
              static_cast<long long>(
                  std::chrono::duration_cast<std::chrono::milliseconds>(strayed).count()));
  EXPECT_LT(strayed, std::chrono::milliseconds(1500)) << "one second, and what a busy machine adds";
  const std::uint64_t former = waiting("default");
  for (int i = 0; i < 5; ++i) feed();
  EXPECT_EQ(waiting("default"), former);
  fed.end();
  EXPECT_EQ(fed.finish().status.code, kExitOk);
}

// Its lines were read and checked before the route was set.
TEST_F(RouteCommandTest, ABatchThatWaitsForItsLastLineFollows) {
  Fed fed(config(), {"submit", "--ndjson", "-", "--batch", "3"});
  fed.feed(numbered(1, 2));
  ASSERT_TRUE(eventually([&] { return fed.all_read(); }));
  must({"route", "set", "t", "wide", "--from", "default"});
  const auto set = steady_clock::now();
  ASSERT_TRUE(eventually([&] { return steady_clock::now() - set > seconds(1); }));
  fed.feed(numbered(3, 3));
  ASSERT_TRUE(eventually([&] { return count("task") == 3; }));
  EXPECT_EQ(waiting("wide"), 3U);
  fed.end();
  EXPECT_EQ(fed.finish().status.code, kExitOk);
}

}  // namespace
}  // namespace allot::cli
