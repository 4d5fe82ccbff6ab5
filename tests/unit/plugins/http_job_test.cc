// SPDX-License-Identifier: Apache-2.0
// Jobs of Fireworq: the request to their target, and the effect of each answer.
#include <atomic>
#include <stdexcept>

#include "job.h"
#include "support/reserved_port.h"
#include "trouble.h"
#include "unit/plugins/http_fixture.h"

namespace allot {
namespace {

using http_plugin::Hop;
using std::chrono::seconds;

std::string job_for(const std::string& url, const std::string& more = {},
                    const std::string& body = "{\"a\":1}") {
  return "{\"url\":\"" + url + "\",\"category\":\"mail\"" + more + "}\n" + body;
}

class HttpJobTest : public HttpTest {
 protected:
  static test::Settings jobs(const std::string& origin, const test::Settings& more = {}) {
    test::Settings all = {{"allow", origin}, {"fireworq.enabled", "true"}};
    for (const auto& [key, value] : more) all.emplace("fireworq." + key, value);
    return all;
  }
  static Outcome of_task(const Target& target, const test::Task& task,
                         const test::Settings& more = {}) {
    return test::Handler("fireworq.job", jobs(target.origin(), more)).run(task).outcome;
  }
  static Outcome outcome(const Target& target, const std::string& more = {}) {
    return of_task(target, {.payload = job_for(target.origin() + "/x", more)});
  }
  // With a target that gives this answer.
  static Outcome answered(int status, const std::string& body) {
    return outcome(Target(Target::always(status, body)));
  }
  static std::string reason_of(Target::Script script, const std::string& more = {}) {
    return outcome(Target(std::move(script)), more).reason;
  }
};

TEST_F(HttpJobTest, TheRequestIsFireworqs) {
  Target target(Target::always(200, R"({"status":"success","message":"hi"})"));
  const std::string url = target.origin() + "/x?y=1#not-this";
  const std::string parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  test::Task task = {.payload = job_for(url), .id = "id-1", .attempt = 2, .traceparent = parent};
  EXPECT_EQ(of_task(target, task), success());
  const std::string host = "Host: 127.0.0.1:" + std::to_string(target.port()) + "\r\n";
  EXPECT_EQ(target.requests().at(0).head,
            "POST /x?y=1 HTTP/1.1\r\n" + host +
                "User-Agent: Fireworq/1.5.1\r\nConnection: close\r\n"
                "Content-Type: application/json\r\nContent-Length: 7\r\n"
                "X-Allot-Task: id-1\r\nX-Allot-Attempt: 2\r\ntraceparent: " +
                parent + "\r\n\r\n");
  EXPECT_EQ(target.requests().at(0).body, "{\"a\":1}");
  const test::Settings bare = {{"user_agent", "Mine/1"},
                               {"keep_alive", "30s"},
                               {"send_task", "false"},
                               {"send_attempt", "false"},
                               {"send_trace", "false"}};
  EXPECT_EQ(of_task(target, task, bare), success());
  EXPECT_EQ(target.requests().at(1).head,
            "POST /x?y=1 HTTP/1.1\r\n" + host +
                "User-Agent: Mine/1\r\nConnection: keep-alive\r\n"
                "Content-Type: application/json\r\nContent-Length: 7\r\n\r\n");
}

// Fireworq escapes them, so its programs send such URLs.
TEST_F(HttpJobTest, InvalidUrlCharactersAreEscaped) {
  const auto path = [](const std::string& url) { return http_plugin::parse_url_of_job(url).path; };
  EXPECT_EQ(path("http://h/\xff\x80?q=\"<>^`{|}#\xff"), "/%FF%80?q=%22%3C%3E%5E%60%7B%7C%7D");
  EXPECT_EQ(path("http://h/a b\\?c d"), "/a%20b%5C?c%20d");
  EXPECT_EQ(path("http://h/%2f%"), "/%2f%") << "what is written already stays";
  for (const char* url : {"http://\xff\x80.example/", "http://h^/", "http://h b/", "http://h\\/",
                          "http://h/\x7f", "http://h/\n"}) {
    EXPECT_THROW((void)http_plugin::parse_url_of_job(url), std::invalid_argument) << url;
  }
  EXPECT_THROW((void)http_plugin::parse_url("http://h/{x}"), std::invalid_argument) << "configured";
  http_plugin::Answer answer;
  answer.status = 302;
  answer.location = "\xff\x80{1}";
  const Hop from{http_plugin::parse_url("http://h/a/b"), true};
  EXPECT_EQ(http_plugin::next_hop(from, answer)->url.path, "/a/%FF%80%7B1%7D");
}

TEST_F(HttpJobTest, ABodyIsAnyBytes) {
  for (const std::string& body : {std::string(), std::string("a\nb\0c", 5)}) {
    Target target(Target::always(200, R"({"status":"success"})"));
    EXPECT_EQ(of_task(target, {.payload = job_for(target.origin(), "", body)}), success());
    EXPECT_EQ(target.requests().at(0).body, body);
  }
}

TEST_F(HttpJobTest, TheWordDecidesAndNeverTheStatus) {
  EXPECT_EQ(answered(200, R"({"status":"success"})"), success());
  EXPECT_EQ(answered(500, R"({"status":"success","message":"m"})"), success());
  EXPECT_EQ(answered(200, R"({"status":"failure","message":"m","code":7})"),
            retry("failure 200: m", seconds(0)));
  EXPECT_EQ(answered(503, R"({"status":"permanent-failure"})"), fail("permanent-failure 503: "));
}

TEST_F(HttpJobTest, AWrongBodyIsAFailureThatQuotesIt) {
  const auto said = [](const std::string& body) { return answered(200, body).reason; };
  const std::string quoted = "\nOriginal response body:\n";
  const std::string parse = "failure 200: Cannot parse body as JSON: ";
  EXPECT_TRUE(begins(said("text"), parse)) << said("text");
  EXPECT_TRUE(said("text").ends_with(quoted + "text"));
  EXPECT_TRUE(begins(said("\"foo bar\""), parse));
  EXPECT_TRUE(begins(said(R"({"status":)"), parse));
  EXPECT_TRUE(begins(said(R"({"status":"success"} x)"), parse)) << "text follows it";
  EXPECT_TRUE(begins(said(""), parse));
  const std::string invalid = "failure 200: Invalid result status: ";
  EXPECT_EQ(said(R"({"status":"ok"})"), invalid + "ok" + quoted + R"({"status":"ok"})");
  EXPECT_EQ(said("{}"), invalid + quoted + "{}");
  for (const std::string word : {"Success", "internal-failure"}) {
    EXPECT_TRUE(begins(said("{\"status\":\"" + word + "\"}"), invalid + word)) << word;
  }
}

TEST_F(HttpJobTest, ABodyThatBreaksOffHasAStatus) {
  EXPECT_EQ(reason_of([](Peer& peer) {
              if (peer.request()) peer.send("HTTP/1.1 201 x\r\nContent-Length: 30\r\n\r\n{\"sta");
            }),
            "failure 201: Cannot read body: the answer broke off");
  EXPECT_EQ(reason_of([](Peer& peer) {
              if (!peer.request()) return;
              peer.send("HTTP/1.1 200 x\r\n\r\n");
              while (peer.send(std::string(65536, 'x'))) {
              }
            }),
            "failure 200: Cannot read body: it is longer than 1 MiB");
}

TEST_F(HttpJobTest, WithoutAnAnswerItIsInternal) {
  const std::string failed = "internal-failure 0: Request failed: ";
  EXPECT_TRUE(begins(reason_of([](Peer& peer) {
                       if (peer.request()) peer.reset();
                     }),
                     failed + "no answer: "));
  EXPECT_TRUE(begins(reason_of([](Peer& peer) {
                       if (peer.request()) peer.send("HTTP/1.1 200 x\r\nContent-Le");
                     }),
                     failed + "the answer broke off"));
  const support::ReservedPort port;
  const std::string origin = "http://127.0.0.1:" + std::to_string(port.number());
  const auto nobody = test::Handler("fireworq.job", jobs(origin)).run(job_for(origin)).outcome;
  EXPECT_EQ(nobody.reason,
            failed + "no connection to " + origin + ": 127.0.0.1: Connection refused");
}

TEST_F(HttpJobTest, TheTimeoutIsForAllOfIt) {
  const std::string over = "internal-failure 0: Request failed: its time limit was over: ";
  const auto hangs = [](Peer& peer) {
    if (peer.request()) peer.wait_for_end();
  };
  EXPECT_TRUE(begins(reason_of(hangs, ",\"timeout\":1"), over));
  EXPECT_TRUE(begins(reason_of(
                         [](Peer& peer) {
                           if (!peer.request()) return;
                           peer.send("HTTP/1.1 200 x\r\nContent-Length: 1000000\r\n\r\n");
                           peer.hold();
                         },
                         ",\"timeout\":1"),
                     over))
      << "also amid the body";
  // Without its own limit the task's time applies.
  Target target(hangs);
  const test::Task task = {.payload = job_for(target.origin()),
                           .time_left = std::chrono::milliseconds(200)};
  EXPECT_TRUE(begins(of_task(target, task).reason, over));
}

TEST_F(HttpJobTest, AStopIsNotAVerdict) {
  std::atomic<test::Handler*> stopped = nullptr;
  Target target([&stopped](Peer& peer) {
    if (!peer.request()) return;
    stopped.load()->request_stop();
    peer.wait_for_end();
  });
  test::Handler handler("fireworq.job", jobs(target.origin(), {{"stop_grace", "0s"}}));
  stopped = &handler;
  EXPECT_EQ(handler.run(job_for(target.origin())).outcome, release("it was asked to stop"));
  EXPECT_EQ(handler.run(job_for(target.origin())).outcome, release("it was asked to stop"));
  EXPECT_EQ(target.requests().size(), 1U);
}

// Its limit of failures is a header of the task.
TEST_F(HttpJobTest, AFailureIsRetriedAfterItsDelay) {
  Target target(Target::always(200, R"({"status":"failure","message":"m"})"));
  EXPECT_EQ(of_task(target, {.payload = job_for(target.origin(), ",\"retry_delay\":7")}),
            retry("failure 200: m", seconds(7)));
}

TEST_F(HttpJobTest, WithoutADelayItIsTriedAgainAtOnce) {
  EXPECT_EQ(outcome(Target(Target::always(200, "x")), ",\"max_retries\":4294967295").delay,
            std::chrono::milliseconds(0));
  EXPECT_EQ(
      outcome(Target(Target::always(200, "x")), ",\"max_retries\":1,\"retry_delay\":4294967295")
          .delay,
      seconds(4294967295));
}

TEST_F(HttpJobTest, AMessageIsCut) {
  const std::string long_one((std::size_t{70} << 10), 'x');
  const auto made = answered(200, "{\"status\":\"failure\",\"message\":\"" + long_one + "\"}");
  EXPECT_EQ(made.reason.size(), std::size_t{64} << 10);
  EXPECT_EQ(http_plugin::text_of({http_plugin::Word::kFailure, 200, long_one + "\xc3\xa9"}),
            made.reason);
  const std::string accents = http_plugin::text_of(
      {http_plugin::Word::kFailure, 200, std::string(65536 - 14, 'x') + "\xc3\xa9"});
  EXPECT_EQ(accents.size(), 65535U) << "no half of a character";
}

TEST_F(HttpJobTest, ATargetThatIsNotAllowedIsPermanent) {
  Target target(Target::always(200, R"({"status":"success"})"));
  const auto made = test::Handler("fireworq.job", jobs("http://127.0.0.2"))
                        .run(job_for(target.origin(), ",\"max_retries\":9"))
                        .outcome;
  EXPECT_EQ(made, fail("permanent-failure 0: Request failed: target " + target.origin() +
                       " is refused: no entry of allow names it"));
  EXPECT_EQ(target.connections(), 0U);
}

TEST_F(HttpJobTest, WithoutARequestItIsInternal) {
  Target target(Target::always(200, "x"));
  const auto said = [&](const std::string& payload) {
    return of_task(target, {.payload = payload}).reason;
  };
  const std::string cannot = "internal-failure 0: Cannot create http request: ";
  EXPECT_EQ(said(job_for("ftp://x")), cannot + "it must begin with https:// or http://");
  EXPECT_EQ(of_task(target, {.payload = job_for("ftp://x", ",\"max_retries\":1")}).kind,
            ALLOT_RETRY);
  for (const char* damaged : {"", "\n", "x", "[]\n", "{\"url\":1}\nx", "{\"timeout\":-1}\n",
                              "{\"timeout\":4294967296}\n", "{\"retry_delay\":1.5}\n"}) {
    EXPECT_TRUE(begins(said(damaged), cannot + "the job is damaged: ")) << damaged;
  }
}

TEST_F(HttpJobTest, RedirectsAreFollowed) {
  for (const int status : {301, 302, 303, 307, 308}) {
    Target target([status](Peer& peer) {
      const auto request = peer.request();
      if (!request) return;
      const bool second = request->head.find(" /two?x=1 ") != std::string::npos;
      if (second) {
        peer.answer(200, R"({"status":"success"})");
      } else {
        peer.answer(status, "moved", "Location: /two?x=1#y\r\n");
      }
    });
    EXPECT_EQ(outcome(target), success()) << status;
    ASSERT_EQ(target.requests().size(), 2U);
    const auto request = target.requests()[1];
    const bool posts = status > 303;
    EXPECT_TRUE(begins(request.head, posts ? "POST /two" : "GET /two")) << request.head;
    EXPECT_EQ(request.body, posts ? "{\"a\":1}" : "");
    EXPECT_EQ(request.field("Content-Length"), posts ? "7" : "");
  }
}

TEST_F(HttpJobTest, TenRedirectsAreFollowed) {
  std::atomic<int> left = 10;
  const auto script = [&left](Peer& peer) {
    if (!peer.request()) return;
    if (left-- > 0) return void(peer.answer(307, "", "Location: /again\r\n"));
    peer.answer(200, R"({"status":"success"})");
  };
  Target ten(script);
  EXPECT_EQ(outcome(ten), success());
  left = 11;
  Target eleven(script);
  EXPECT_EQ(outcome(eleven).reason,
            "internal-failure 0: Request failed: stopped after 10 redirects");
  EXPECT_EQ(eleven.requests().size(), 11U);
}

TEST_F(HttpJobTest, EachHopIsChecked) {
  Target other(Target::always(200, R"({"status":"success"})"));
  Target target(Target::always(307, "", "Location: " + other.origin() + "/x\r\n"));
  EXPECT_EQ(outcome(target, ",\"max_retries\":9"),
            fail("permanent-failure 0: Request failed: target " + other.origin() +
                 " is refused: no entry of allow names it"));
  EXPECT_EQ(other.connections(), 0U);
  test::Settings both = jobs(target.origin());
  both.emplace("allow", other.origin());
  EXPECT_EQ(test::Handler("fireworq.job", both).run(job_for(target.origin())).outcome, success());
  EXPECT_EQ(answered(302, R"({"status":"success"})"), success()) << "without a Location it is none";
  EXPECT_EQ(answered(304, "").kind, ALLOT_RETRY) << "no redirect, and no body";
}

TEST(HttpRedirect, ALocationMayBeRelative) {
  const auto to = [](const std::string& location) {
    const Hop from{http_plugin::parse_url("http://a.test:8080/b/c?d=/e"), true};
    const auto hop = next_hop(from, {.status = 307, .location = location});
    return text_of(hop.value().url.origin) + hop.value().url.path;
  };
  EXPECT_EQ(to("/x"), "http://a.test:8080/x");
  EXPECT_EQ(to("x"), "http://a.test:8080/b/x");
  EXPECT_EQ(to("x?u=http://y"), "http://a.test:8080/b/x?u=http://y");
  EXPECT_EQ(to("?f"), "http://a.test:8080/b/c?f");
  EXPECT_EQ(to("//z.test/y"), "http://z.test:80/y");
  EXPECT_EQ(to("HTTPS://z.test"), "https://z.test:443/");
  EXPECT_THROW(to("ftp://z.test"), http_plugin::Trouble);
  EXPECT_THROW(to("http://user@z.test"), http_plugin::Trouble);
}

TEST(HttpRedirect, OnceAGetAlwaysAGet) {
  const Hop from{http_plugin::parse_url("http://a.test/"), false};
  EXPECT_FALSE(next_hop(from, {.status = 308, .location = "/x"}).value().posts);
  EXPECT_FALSE(next_hop(from, {.status = 200, .location = "/x"}));
}

TEST(HttpJobSettings, JobsAreTakenOnlyWhereTheConfigurationSaysSo) {
  const auto trouble = [](const test::Settings& settings) {
    try {
      test::Handler handler("fireworq.job", settings);
      return std::string("none");
    } catch (const std::exception& error) {
      return std::string(error.what());
    }
  };
  const std::string where = "[plugins.http.fireworq] ";
  EXPECT_EQ(trouble({{"fireworq.enabled", "true"}}), "none");
  EXPECT_NE(trouble({{"fireworq.enabled", "false"}}), "none");
  EXPECT_EQ(trouble({{"fireworq.enabled", "yes"}}), where + "enabled must be true or false");
  EXPECT_EQ(
      trouble({{"fireworq.url", "x"}}).rfind(where + "unknown key 'url'; known: enabled, ", 0), 0U);
  EXPECT_EQ(trouble({{"fireworq.user_agent", "a\r\nX: y"}}),
            where + "user_agent must be a text such as \"Fireworq/1.5.1\"");
  EXPECT_EQ(trouble({{"types.fireworq.job.url", "http://x"}}).rfind("[plugins.http.types.", 0), 0U);
  EXPECT_EQ(trouble({{"types.\"fireworq.job\".url", "http://x"}}),
            "[plugins.http.types.\"fireworq.job\"] is the type of Fireworq's jobs; set enabled = "
            "true in [plugins.http.fireworq]");
}

}  // namespace
}  // namespace allot
