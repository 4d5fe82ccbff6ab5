// SPDX-License-Identifier: Apache-2.0
#include <future>
#include <sstream>

#include "db/gateway/fixture.h"
#include "support/rewriting_proxy.h"
#include "support/temp_dir.h"

namespace allot::gateway::api {
namespace {

class LinesTest : public GatewayTest {
 protected:
  using Then = http::LineStream::Then;
  // An NDJSON body in transfer.
  class Stream {
   public:
    Stream(Application& application, const std::string& query, const std::string& token = "all",
           std::vector<http::Field> fields = {}) {
      Asked asked{"POST", "/api/v1/tasks" + query, "x", "application/x-ndjson"};
      asked.token = token;
      asked.fields = std::move(fields);
      admission_ = application.admit(head_of(asked));
    }
    [[nodiscard]] const http::Admission& admission() const { return admission_; }
    // Responses sent before the stream needs more lines, or ends.
    std::vector<json> take(const std::string& lines, bool last = false) {
      std::vector<json> all = take_once(lines, last);
      while (then_ == Then::kRest) {
        for (json& document : take_once({}, last)) all.push_back(std::move(document));
      }
      return all;
    }
    std::vector<json> take_once(const std::string& lines, bool last = false) {
      return lines_of(lines, last, false);
    }
    std::vector<json> stop() { return lines_of({}, true, true); }
    [[nodiscard]] bool continues() const { return then_ != Then::kEnd; }

   private:
    std::vector<json> lines_of(const std::string& lines, bool last, bool stops) {
      std::promise<std::string> answer;
      const auto written = [&](std::string text, Then then) {
        then_ = then;
        answer.set_value(std::move(text));
      };
      if (stops) {
        admission_.lines->stop("the gateway stops", written);
      } else {
        admission_.lines->take(lines, last, written);
      }
      std::istringstream text(answer.get_future().get());
      std::vector<json> documents;
      for (std::string line; std::getline(text, line);) documents.push_back(json::parse(line));
      return documents;
    }

    http::Admission admission_;
    Then then_ = Then::kLines;
  };

  static std::string lines(int first, int last, const std::string& queue = "mail") {
    std::string text;
    for (int i = first; i <= last; ++i) {
      text += R"({"queue":")" + queue + R"(","type":"t","payload":")" + std::to_string(i) + "\"}\n";
    }
    return text;
  }
};

TEST_F(LinesTest, LinesWithoutATraceHaveTheTraceOfTheRequest) {
  const std::string parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const std::string other = "00-0af7651916cd43dd8448eb211c80319d-b7ad6b7169203331-01";
  Stream stream(*application_, "", "all", {{"traceparent", parent}});
  const auto answered =
      stream.take(R"({"queue":"mail","type":"a"})"
                  "\n"
                  R"({"queue":"mail","type":"b","max_attempts":2,"traceparent":")" +
                      other + "\"}\n",
                  true);
  EXPECT_EQ(answered.back()["ok"], true) << answered.back();
  EXPECT_EQ(value("SELECT headers FROM task WHERE type = 'a'"), "traceparent=" + parent);
  EXPECT_EQ(value("SELECT headers FROM task WHERE type = 'b'"),
            "max_attempts=2\ntraceparent=" + other);
}

TEST_F(LinesTest, EachBatchIsAnsweredOnceItIsIn) {
  Stream stream(*application_, "?batch=2&ids=true");
  ASSERT_TRUE(stream.admission().lines);
  EXPECT_EQ(stream.admission().lines_type, "application/x-ndjson");
  const auto first = stream.take(lines(1, 3));
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first[0]["first_line"], 1);
  EXPECT_EQ(first[0]["last_line"], 2);
  EXPECT_EQ(first[0]["ids"].size(), 2U);
  EXPECT_EQ(number("SELECT COUNT(*) FROM task"), 2U);
  EXPECT_TRUE(stream.continues());
  const auto rest = stream.take(lines(4, 5) + "\n", true);
  EXPECT_FALSE(stream.continues());
  ASSERT_EQ(rest.size(), 3U);
  EXPECT_EQ(rest[0]["last_line"], 4);
  EXPECT_EQ(rest[1]["last_line"], 5);
  EXPECT_EQ(rest[2], (json{{"ok", true},
                           {"problem", nullptr},
                           {"tasks", 5},
                           {"existed", 0},
                           {"states", json::object()},
                           {"batches", 3},
                           {"next_line", nullptr},
                           {"unknown_lines", nullptr}}));
  EXPECT_EQ(number("SELECT COUNT(*) FROM task"), 5U);
}

// S62: at most one batch, the next one, is unreported to the client.
TEST_F(LinesTest, TheLineOfABatchLeavesBeforeTheNextOneIsSubmitted) {
  Stream stream(*application_, "?batch=2");
  auto told = stream.take_once(lines(1, 5), true);
  for (const unsigned in : {2U, 4U, 5U}) {
    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(told[0]["last_line"], in);
    EXPECT_EQ(number("SELECT COUNT(*) FROM task"), in);
    told = stream.take_once({}, true);
  }
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0]["ok"], true);
  EXPECT_FALSE(stream.continues());
}

TEST_F(LinesTest, AStopBetweenTwoBatchesSaysTheLineBehindTheFirst) {
  Stream stream(*application_, "?batch=2");
  (void)stream.take_once(lines(1, 5));
  EXPECT_EQ(stream.stop().back()["next_line"], 3);
  EXPECT_EQ(number("SELECT COUNT(*) FROM task"), 2U);
}

TEST_F(LinesTest, AWrongLineEndsItAndSaysWhereToGoOn) {
  Stream stream(*application_, "?batch=2");
  const auto told = stream.take(lines(1, 3) + "{\"queue\":\"mail\"}\n" + lines(5, 6));
  EXPECT_FALSE(stream.continues());
  ASSERT_EQ(told.size(), 2U);
  EXPECT_EQ(told[1]["ok"], false);
  EXPECT_EQ(told[1]["next_line"], 3);
  EXPECT_EQ(told[1]["tasks"], 2);
  EXPECT_EQ(told[1]["problem"]["status"], 400);
  EXPECT_EQ(told[1]["problem"]["field"], "type");
  EXPECT_EQ(told[1]["problem"]["detail"], "line 4: 'type' is missing");
  EXPECT_EQ(number("SELECT COUNT(*) FROM task"), 2U);
  Stream again(*application_, "?batch=2&from_line=3");
  const auto rest = again.take(lines(1, 4), true);
  EXPECT_EQ(rest.back()["tasks"], 2);
  EXPECT_EQ(number("SELECT COUNT(DISTINCT payload) FROM task"), 4U);
}

// A stream may be slow, and its batches large.
TEST_F(LinesTest, ALineIsCheckedBeforeItsBatchIsComplete) {
  const std::string label(300, 'x');
  const std::vector<std::string> bad_lines{
      R"({"queue":"nowhere","type":"t"})",
      json({{"queue", "mail"}, {"type", "t"}, {"label", label}}).dump()};
  for (const std::string& bad : bad_lines) {
    Stream stream(*application_, "?batch=100");
    const auto told = stream.take(lines(1, 1) + bad + "\n" + lines(3, 3));
    EXPECT_FALSE(stream.continues()) << bad;
    ASSERT_EQ(told.size(), 1U) << bad;
    EXPECT_EQ(told[0]["problem"]["detail"].get<std::string>().find("line 2: "), 0U) << told[0];
  }
  EXPECT_EQ(number("SELECT COUNT(*) FROM task"), 0U);
}

TEST_F(LinesTest, AStopSaysWhereToGoOn) {
  Stream stream(*application_, "?batch=2");
  (void)stream.take(lines(1, 3));
  const auto told = stream.stop();
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0]["next_line"], 3);
  EXPECT_EQ(told[0]["problem"]["status"], 503);
  EXPECT_EQ(number("SELECT COUNT(*) FROM task"), 2U);
}

TEST_F(LinesTest, BehindABatchAStopSaysTheLineBehindIt) {
  Stream stream(*application_, "?batch=2");
  (void)stream.take(lines(1, 4));
  EXPECT_EQ(stream.stop().back()["next_line"], 5);
  // Omitted lines are not submitted by the next stream, either.
  Stream later(*application_, "?batch=2&from_line=7");
  (void)later.take(lines(1, 3));
  EXPECT_EQ(later.stop().back()["next_line"], 7);
  EXPECT_EQ(number("SELECT COUNT(*) FROM task"), 4U);
}

// The connection is killed in the look-up of a queue: nothing of that batch was sent.
TEST_F(LinesTest, AConnectionThatIsLostBeforeItsBatchLosesNoLine) {
  const support::TempDir folder;
  const std::string way = folder / "way";
  Service settings = service();
  settings.threads = 1;
  settings.database.socket = way;
  Application application(settings, authorize);
  for (const int first : {1, 2}) {
    SCOPED_TRACE(first);
    std::optional<support::RewritingProxy> link;
    link.emplace(way, server_.socket(), [](std::string sql) { return sql; });
    // The single connection is open and was recently used: it is not checked.
    ASSERT_TRUE(support::eventually([&] {
      return api::ask(application, {"GET", "/api/v1/queues"}).status() == 200;
    }));
    Stream stream(application, "?batch=1");
    if (first == 2) {
      ASSERT_EQ(stream.take(lines(1, 1)).size(), 1U);
    }
    db::Connection keeper = server_.connect(name_);
    keeper.execute("LOCK TABLES queue WRITE");
    auto answer =
        std::async(std::launch::async, [&] { return stream.take(lines(first, 3, "other"), true); });
    ASSERT_TRUE(support::eventually([&] {
      return number("SELECT COUNT(*) FROM information_schema.processlist WHERE db = '" + name_ +
                    "' AND state LIKE 'Waiting for table%'") == 1;
    }));
    link.reset();  // the reply to the queue search is lost
    const auto told = answer.get();
    keeper.execute("UNLOCK TABLES");
    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(told[0]["problem"]["status"], 503) << told[0];
    EXPECT_EQ(told[0]["next_line"], first);
    EXPECT_TRUE(told[0]["unknown_lines"].is_null()) << told[0];
    EXPECT_FALSE(stream.continues());
    EXPECT_EQ(number("SELECT COUNT(*) FROM task"), static_cast<std::uint64_t>(first - 1));
  }
}

// The database was unreachable, so nothing was sent.
TEST_F(LinesTest, WithoutADatabaseNoLineIsUnknown) {
  Service settings = service();
  settings.database.socket = "/nonexistent/socket";
  Application nowhere(settings, authorize);
  Stream stream(nowhere, "?from_line=3");
  const auto told = stream.take(lines(1, 4), true);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0]["problem"]["status"], 503);
  EXPECT_EQ(told[0]["next_line"], 3);
  EXPECT_TRUE(told[0]["unknown_lines"].is_null());
}

TEST_F(LinesTest, TakenKeysAreCountedByTheStatesOfTheirTasks) {
  put("mail", R"(,"unique_key":"k")");
  Stream stream(*application_, "");
  const auto told = stream.take(R"({"queue":"mail","type":"t","unique_key":"k"})", true);
  EXPECT_EQ(told.back()["existed"], 1);
  EXPECT_EQ(told.back()["states"], (json{{"waiting", 1}}));
}

TEST_F(LinesTest, TheQueueHasToBeTheCallers) {
  Stream stream(*application_, "?batch=1", "mail");
  const auto told = stream.take(lines(1, 1) + lines(2, 2, "other"), true);
  EXPECT_EQ(told.back()["problem"]["status"], 403);
  EXPECT_EQ(told.back()["next_line"], 2);
  EXPECT_EQ(number("SELECT COUNT(*) FROM task"), 1U);
  Stream none(*application_, "?batch=1", "mail");
  EXPECT_EQ(none.take(lines(1, 1) + lines(2, 2, "none"), true).back(), told.back())
      << "whether it exists is not said";
}

TEST_F(LinesTest, OptionsAreChecked) {
  for (const char* query : {"?batch=0", "?batch=x", "?from_line=0", "?ids=1", "?queue=mail"}) {
    const Stream stream(*application_, query);
    ASSERT_TRUE(stream.admission().refusal) << query;
    EXPECT_EQ(stream.admission().refusal->status, 400U) << query;
  }
  Asked asked{"POST", "/api/v1/tasks", "x", "application/x-ndjson", {{"idempotency-key", "k"}}};
  EXPECT_EQ(ask(asked).status(), 400U);
}

}  // namespace
}  // namespace allot::gateway::api
