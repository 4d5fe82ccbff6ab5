// SPDX-License-Identifier: Apache-2.0
// Requests to a target, and the effect of each possible answer, or of none.
// Rule: S80.
#include <poll.h>

#include <atomic>
#include <cstdlib>

#include "request_head.h"
#include "support/eventually.h"
#include "support/reserved_port.h"
#include "support/temp_dir.h"
#include "unit/plugins/http_fixture.h"

namespace allot {
namespace {

using std::chrono::milliseconds;

TEST_F(HttpTest, TheRequestHasTheTask) {
  Target target(Target::always(200, "done"));
  const auto ran = run(target, {},
                       {.payload = std::string("a\0b", 3),
                        .id = "id-1",
                        .queue = "q",
                        .attempt = 2,
                        .max_attempts = 3});
  EXPECT_EQ(ran.outcome, success());
  EXPECT_EQ(ran.log, "debug done\n");
  ASSERT_EQ(target.requests().size(), 1U);
  EXPECT_EQ(target.requests()[0].head,
            "POST /x HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(target.port()) +
                "\r\nUser-Agent: Allot\r\n"
                "Connection: keep-alive\r\n"
                "Content-Type: application/json\r\n"
                "Content-Length: 3\r\n"
                "X-Allot-Task: id-1\r\n"
                "X-Allot-Type: t\r\n"
                "X-Allot-Queue: q\r\n"
                "X-Allot-Attempt: 2\r\n"
                "X-Allot-Max-Attempts: 3\r\n\r\n");
  EXPECT_EQ(target.requests()[0].body, std::string("a\0b", 3));
}

TEST_F(HttpTest, ATypeGoesByItsExactSectionThenByTheLongestPrefix) {
  Target target(Target::always(200, ""));
  const test::Settings all = {{"allow", target.origin()},
                              {"types.\"a.*\".url", target.origin() + "/any"},
                              {"types.\"a.b\".url", target.origin() + "/exact"}};
  for (const char* type : {"a.x", "a.b"}) {
    EXPECT_EQ(test::Handler(type, all).run("").outcome, success()) << type;
  }
  const auto requests = target.requests();
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_TRUE(begins(requests[0].head, "POST /any HTTP/1.1\r\n")) << requests[0].head;
  EXPECT_TRUE(begins(requests[1].head, "POST /exact HTTP/1.1\r\n")) << requests[1].head;
}

TEST_F(HttpTest, TheTraceOfTheTaskContinues) {
  const std::string parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  Target target(Target::always(200, ""));
  EXPECT_EQ(run(target, {}, {.traceparent = parent, .tracestate = "rojo=1"}).outcome, success());
  EXPECT_EQ(target.requests().at(0).field("traceparent"), parent);
  EXPECT_EQ(target.requests().at(0).field("tracestate"), "rojo=1");
}

TEST_F(HttpTest, APayloadOfSixteenMebibytesArrives) {
  Target target(Target::always(200, ""));
  const std::string payload((std::size_t{16} << 20) - 1, 'x');
  EXPECT_EQ(run(target, {}, {.payload = payload}).outcome, success());
  EXPECT_EQ(target.requests().at(0).body, payload);
}

// An observer of one request cannot reuse the signature for another path, task, type or attempt.
TEST_F(HttpTest, ASecretSignsWhatIsAskedFor) {
  support::TempDir folder;
  const std::string secret = "it is a secret of the test";
  Target target(Target::always(200, ""));
  EXPECT_EQ(
      run(target, {{"secret_file", folder.write("secret", secret + "\n")}}, {.payload = "the body"})
          .outcome,
      success());
  const auto request = target.requests().at(0);
  const std::string path = request.head.substr(5, request.head.find(" HTTP/1.1") - 5);
  EXPECT_EQ(request.field("X-Allot-Signature"),
            "sha256=" + http_plugin::signature_of(secret,
                                                  request.field("X-Allot-Time") + "\nPOST\n" +
                                                      path + "\n" + request.field("X-Allot-Task") +
                                                      "\n" + request.field("X-Allot-Type") + "\n" +
                                                      request.field("X-Allot-Attempt") + "\n",
                                                  "the body"));
}

TEST_F(HttpTest, TheStatusDecides) {
  const auto of = [](int status, const std::string& body, const std::string& fields = {}) {
    Target target(Target::always(status, body, fields));
    return run(target, {{"retry_after_max", "10s"}}).outcome;
  };
  EXPECT_EQ(of(204, ""), success());
  EXPECT_EQ(of(404, "no such thing"), (Outcome{ALLOT_FAIL, {}, "status 404", "no such thing"}));
  EXPECT_EQ(of(400, ""), fail("status 400"));
  EXPECT_EQ(of(500, "oh"), (Outcome{ALLOT_RETRY, {}, "status 500", "oh"}));
  EXPECT_EQ(of(429, "", "Retry-After: 7\r\n"), not_started("status 429", milliseconds(7000)));
  EXPECT_EQ(of(503, "", "Retry-After: 70\r\n"), retry("status 503", milliseconds(10'000)));
}

TEST_F(HttpTest, TheBodyDecidesWhereItIsToWhateverTheStatus) {
  const auto of = [](int status, const std::string& body) {
    Target target(Target::always(status, body));
    return run(target, {{"verdict", "body"}}).outcome;
  };
  EXPECT_EQ(of(500, R"({"status":"success"})"), success());
  EXPECT_EQ(of(200, R"({"status":"failure","message":"m"})"),
            (Outcome{ALLOT_RETRY, {}, "status 200", "m"}));
  EXPECT_EQ(of(200, R"({"status":"permanent-failure"})"), fail("status 200"));
  EXPECT_EQ(of(200, "ok").kind, ALLOT_RETRY);
  EXPECT_EQ(of(404, "").kind, ALLOT_RETRY);
}

TEST_F(HttpTest, InterimAnswersArePassedOver) {
  Target target([](Peer& peer) {
    while (peer.request()) {
      peer.send("HTTP/1.1 100 Continue\r\n\r\n");
      peer.send("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n");
      peer.send("HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 202 x\r\nContent-Length: 2\r\n\r\nok");
    }
  });
  EXPECT_EQ(run(target).log, "debug ok\n");
  Target switches([](Peer& peer) {
    if (peer.request()) peer.send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n");
  });
  EXPECT_EQ(run(switches).outcome, retry("the target answers 101, which was not requested"));
}

TEST_F(HttpTest, ARedirectIsNotFollowed) {
  Target other(Target::always(200, ""));
  for (const int status : {301, 302, 303, 307, 308}) {
    Target target(Target::always(status, "", "Location: " + other.origin() + "/x\r\n"));
    test::Settings both = settings(target.origin());
    both.emplace("allow", other.origin());
    EXPECT_EQ(test::Handler("t", both).run("x").outcome, retry("status " + std::to_string(status)));
  }
  EXPECT_EQ(other.connections(), 0U);
}

TEST_F(HttpTest, AnAnswerMayComeInChunksOrEndWithItsConnection) {
  Target chunked([](Peer& peer) {
    while (peer.request()) {
      peer.send("HTTP/1.1 200 x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{\"");
      peer.send("\r\n12\r\nstatus\":\"success\"}\r\n0\r\n\r\n");
    }
  });
  test::Handler handler("t", settings(chunked.origin(), {{"verdict", "body"}}));
  EXPECT_EQ(handler.run("x").outcome, success());
  EXPECT_EQ(handler.run("x").outcome, success());
  EXPECT_EQ(chunked.connections(), 1U);
  Target old([](Peer& peer) {
    if (peer.request()) peer.send("HTTP/1.0 200 x\r\n\r\n{\"status\":\"success\"}");
  });
  EXPECT_EQ(run(old, {{"verdict", "body"}}).outcome, success());
}

TEST_F(HttpTest, AnAnswerThatBreaksOffIsNone) {
  for (const char* answer :
       {"HTTP/1.1 200 x\r\nContent-Length: 3\r\n\r\nab",
        "HTTP/1.1 200 x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
        "HTTP/1.1 200 x\r\nContent-Length: 3\r\n", "HTTP/1.1 200 x\r\n", "HTTP/1.1 200 x\r\nX: y",
        "HTTP/1.1 100 x\r\n\r\n", "HTTP/1.1 2", "HTTP", "\r\n\r\n", "hello\r\n",
        "HTTP/1.1 200 x\r\nContent-Length: -3\r\n\r\nabc",
        "HTTP/1.1 200 x\r\nContent-Length: x\r\n\r\nabc",
        "HTTP/1.1 200 x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"}) {
    Target target([answer](Peer& peer) {
      if (peer.request()) peer.send(answer);
    });
    EXPECT_EQ(run(target).outcome.kind, ALLOT_RETRY) << answer;
    EXPECT_EQ(target.requests().size(), 1U) << answer;
  }
}

TEST_F(HttpTest, AHeadHasItsBounds) {
  for (const std::string part : {"X: y\r\n", "x", "X: y\r\n z\r\n"}) {
    Target target([part](Peer& peer) {
      if (!peer.request()) return;
      peer.send("HTTP/1.1 200 x\r\n");
      std::string many;
      while (many.size() < 65536) many += part;
      while (peer.send(many)) {
      }
    });
    EXPECT_EQ(run(target).outcome.kind, ALLOT_RETRY) << part;
  }
}

// Endless in any case: the rest is not read.
TEST_F(HttpTest, OneMebibyteOfAnAnswerIsRead) {
  for (const char* head : {"Content-Length: 1073741824\r\n\r\n", "\r\n",
                           "Transfer-Encoding: chunked\r\n\r\n40000000\r\n"}) {
    Target target([head](Peer& peer) {
      if (!peer.request()) return;
      peer.send("HTTP/1.1 200 x\r\n" + std::string(head));
      while (peer.send(std::string(65536, 'x'))) {
      }
    });
    EXPECT_EQ(run(target).outcome, success()) << head;
    EXPECT_EQ(run(target, {{"verdict", "body"}}).outcome,
              retry("status 200: the answer is longer than 1 MiB"))
        << head;
  }
}

TEST_F(HttpTest, HangingTargetTimesOut) {
  const test::Settings limit = {{"timeout", "200ms"}};
  const std::string over = "its timeout of 200 ms was over: ";
  Target hangs([](Peer& peer) {
    if (peer.request()) peer.wait_for_end();
  });
  EXPECT_EQ(run(hangs, limit).outcome,
            retry(over + "the target ended the connection without an answer"));
  // Poco's own time limits apply to each read: such a head never reaches them.
  for (const char* part : {"X", "HTTP/1.1 100 x\r\n\r\n"}) {
    Target drips([part](Peer& peer) {
      if (!peer.request()) return;
      peer.send("HTTP/1.1 200 x\r\nX: ");
      while (peer.send(part)) ::poll(nullptr, 0, 1);
    });
    const std::string reason = run(drips, limit).outcome.reason;
    EXPECT_TRUE(begins(reason, over)) << part << ": " << reason;
  }
  Target body([](Peer& peer) {
    if (!peer.request()) return;
    peer.send("HTTP/1.1 200 x\r\nContent-Length: 1000000\r\n\r\n");
    while (peer.send("x")) ::poll(nullptr, 0, 1);
  });
  EXPECT_TRUE(begins(run(body, limit).outcome.reason, over));
  Target endless([](Peer& peer) {
    if (!peer.request()) return;
    peer.send("HTTP/1.1 200 x\r\n\r\n");
    peer.hold();
  });
  EXPECT_TRUE(begins(run(endless, limit).outcome.reason, over))
      << "our own end is not the end of it";
  Target deaf([](Peer& peer) {
    if (peer.head()) peer.hold();
  });
  const std::string payload(std::size_t{16} << 20, 'x');
  EXPECT_TRUE(begins(run(deaf, limit, {.payload = payload}).outcome.reason, over));
}

TEST_F(HttpTest, AStopClosesTheRequest) {
  std::atomic<test::Handler*> stopped = nullptr;
  Target target([&stopped](Peer& peer) {
    if (!peer.request()) return;
    stopped.load()->request_stop();
    peer.wait_for_end();
  });
  test::Handler handler("t", settings(target.origin(), {{"stop_grace", "0s"}}));
  stopped = &handler;
  const auto ran = handler.run("x");
  EXPECT_TRUE(begins(ran.outcome.reason, "it was asked to stop: ")) << ran.outcome.reason;
  EXPECT_EQ(ran.outcome.delay, milliseconds(0));
  EXPECT_EQ(handler.run("x").outcome, retry("it was asked to stop", milliseconds(0)));
  EXPECT_EQ(target.requests().size(), 1U);
}

TEST_F(HttpTest, AtTheEndOfTheTasksTimeNothingIsWaitedFor) {
  Target target([](Peer& peer) {
    if (peer.request()) peer.wait_for_end();
  });
  const auto ran = run(target, {{"stop_grace", "1h"}}, {.time_left = milliseconds(300)});
  EXPECT_TRUE(begins(ran.outcome.reason, "it was asked to stop: ")) << ran.outcome.reason;
  EXPECT_EQ(ran.outcome.delay, std::nullopt);
}

TEST_F(HttpTest, AnswerWithinTheGraceCounts) {
  std::atomic<test::Handler*> stopped = nullptr;
  Target target([&stopped](Peer& peer) {
    if (!peer.request()) return;
    stopped.load()->request_stop();
    // The watchdog asks a few times in this wait; if it does not, less is tested, but nothing
    // fails.
    ::poll(nullptr, 0, 300);
    peer.answer(200, "");
  });
  test::Handler handler("t", settings(target.origin(), {{"stop_grace", "1m"}}));
  stopped = &handler;
  EXPECT_EQ(handler.run("x").outcome, success());
}

TEST_F(HttpTest, AResetIsARetry) {
  Target target([](Peer& peer) {
    if (peer.request()) peer.reset();
  });
  const auto ran = run(target);
  EXPECT_EQ(ran.outcome.kind, ALLOT_RETRY);
  EXPECT_TRUE(begins(ran.outcome.reason, "no answer: ")) << ran.outcome.reason;
  EXPECT_EQ(target.requests().size(), 1U) << "nothing is sent twice over a new connection";
}

TEST_F(HttpTest, UnreachableTargetIsARetry) {
  const support::ReservedPort port;
  const std::string origin = "http://127.0.0.1:" + std::to_string(port.number());
  EXPECT_EQ(test::Handler("t", settings(origin)).run("x").outcome,
            retry("no connection to " + origin + ": 127.0.0.1: Connection refused"));
}

TEST_F(HttpTest, AConnectionIsKept) {
  Target target(Target::always(200, "x"));
  test::Handler handler("t", settings(target.origin()));
  for (int i = 0; i < 5; ++i) EXPECT_EQ(handler.run("x").outcome, success());
  EXPECT_EQ(target.connections(), 1U);
  EXPECT_EQ(target.requests().size(), 5U);
}

TEST_F(HttpTest, AConnectionIsNotKeptWhereOneSideDoesNotWantIt) {
  Target target(Target::always(200, "x"));
  test::Handler handler("t", settings(target.origin(), {{"keep_alive", "0s"}}));
  for (int i = 0; i < 2; ++i) EXPECT_EQ(handler.run("x").outcome, success());
  EXPECT_EQ(target.connections(), 2U);
  EXPECT_EQ(target.requests().at(0).field("Connection"), "close");

  Target other(Target::always(200, "x", "Connection: close\r\n"));
  test::Handler polite("t", settings(other.origin()));
  for (int i = 0; i < 2; ++i) EXPECT_EQ(polite.run("x").outcome, success());
  EXPECT_EQ(other.connections(), 2U);
}

// Data that arrives without a request is not an answer to the next one.
TEST_F(HttpTest, AConnectionOverWhichMoreCameIsNotUsedAgain) {
  Target target([](Peer& peer) {
    while (peer.request()) {
      peer.send("HTTP/1.1 200 x\r\nContent-Length: 0\r\n\r\nHTTP/1.1 404 x\r\n\r\n");
    }
  });
  test::Handler handler("t", settings(target.origin()));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(handler.run("x").outcome, success());
  EXPECT_EQ(target.connections(), 3U);
}

// Like servers that close an idle connection.
TEST_F(HttpTest, UnsolicitedBytesAreNotAnAnswer) {
  std::atomic<bool> waits{false};
  std::atomic<bool> told{false};
  Target target([&waits, &told](Peer& peer) {
    if (!peer.request()) return;
    peer.answer(200, "");
    if (peer.number() == 1 && support::eventually([&waits] { return waits.load(); })) {
      peer.send("HTTP/1.1 408 x\r\nContent-Length: 0\r\n\r\n");
      told = true;
    }
    peer.wait_for_end();
  });
  test::Handler handler("t", settings(target.origin()));
  EXPECT_EQ(handler.run("x").outcome, success());
  waits = true;
  ASSERT_TRUE(support::eventually([&told] { return told.load(); }));
  EXPECT_EQ(handler.run("y").outcome, success());
  EXPECT_EQ(target.connections(), 2U);
}

TEST_F(HttpTest, AKeptConnectionThatEndsAmidARequestCostsNothing) {
  Target target([](Peer& peer) {
    if (!peer.request()) return;
    peer.answer(200, "");
    if (peer.number() == 1 && peer.request()) return;  // ends without an answer
    while (peer.request()) peer.answer(200, "");
  });
  test::Handler handler("t", settings(target.origin()));
  EXPECT_EQ(handler.run("x").outcome, success());
  EXPECT_EQ(handler.run("y").outcome, success());
  EXPECT_EQ(target.connections(), 2U);
  EXPECT_EQ(target.requests().size(), 3U);
}

TEST_F(HttpTest, AKeptConnectionThatBreaksOffAmidAnAnswerIsARetry) {
  Target target([](Peer& peer) {
    if (!peer.request()) return;
    peer.answer(200, "");
    if (peer.number() == 1 && peer.request()) {
      peer.send("HTTP/1.1 200 x\r\nContent-Length: 9\r\n\r\nx");
    }
  });
  test::Handler handler("t", settings(target.origin()));
  EXPECT_EQ(handler.run("x").outcome, success());
  EXPECT_EQ(handler.run("y").outcome, retry("the answer broke off"));
  EXPECT_EQ(target.requests().size(), 2U) << "the target has begun with it";
}

TEST_F(HttpTest, OnlyOnceMore) {
  Target target([](Peer& peer) {
    const auto request = peer.request();
    if (!request || request->body == "bad") return;
    peer.answer(200, "");
    (void)peer.request();
  });
  test::Handler handler("t", settings(target.origin()));
  EXPECT_EQ(handler.run("good").outcome, success());
  EXPECT_EQ(handler.run("bad").outcome, retry("the target ended the connection without an answer"));
  EXPECT_EQ(target.requests().size(), 3U);
}

TEST_F(HttpTest, ANameNeedsAnEntryForAnAddressThatIsNotGlobal) {
  Target target(Target::always(200, ""));
  const std::string port = std::to_string(target.port());
  test::Settings all = settings("http://localhost:" + port);
  const auto refused = test::Handler("t", all).run("x").outcome;
  EXPECT_EQ(refused.kind, ALLOT_FAIL) << refused.reason;
  EXPECT_TRUE(begins(refused.reason, "target http://localhost:" + port + " is refused: "))
      << refused.reason;
  EXPECT_NE(refused.reason.find("127.0.0.1 is not globally reachable (loopback)"),
            std::string::npos);
  EXPECT_EQ(target.connections(), 0U);
  all.emplace("allow", target.origin());
  EXPECT_EQ(test::Handler("t", all).run("x").outcome, success());
}

TEST_F(HttpTest, NoProxyIsTakenFromTheEnvironment) {
  Target proxy(Target::always(200, "proxy"));
  for (const char* name : {"http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"}) {
    ::setenv(name, proxy.origin().c_str(), 1);
  }
  Target target(Target::always(200, "target"));
  EXPECT_EQ(run(target).log, "debug target\n");
  for (const char* name : {"http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"}) ::unsetenv(name);
  EXPECT_EQ(proxy.connections(), 0U);
}

}  // namespace
}  // namespace allot
