// SPDX-License-Identifier: Apache-2.0
// Requests of programs written for Fireworq, byte by byte, and the parts of the answers that they
// use.
#include "db/gateway/fireworq_fixture.h"

namespace allot::gateway::fireworq {
namespace {

TEST_F(FireworqTest, CurlWithAForm) {
  set_up();
  const std::string form = R"({"url":"http://target.example/","payload":"foo","timeout":3})";
  const Answer answer = asked(
      "POST /job/c HTTP/1.1\r\nHost: localhost:8080\r\nUser-Agent: curl/7.88.1\r\nAccept: */*\r\n"
      "Content-Length: " +
      std::to_string(form.size()) + "\r\nContent-Type: application/x-www-form-urlencoded\r\n\r\n" +
      form);
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(json::parse(answer.body)["payload"], "foo");
}

TEST_F(FireworqTest, CurlWithALargeBodyWaitsForAWord) {
  set_up();
  const std::string body =
      R"({"url":"http://target.example/","payload":")" + std::string(2'000'000, 'x') + "\"}";
  const std::string head =
      "POST /job/c HTTP/1.1\r\nHost: localhost:8080\r\nUser-Agent: curl/7.88.1\r\nAccept: */*\r\n"
      "Content-Length: " +
      std::to_string(body.size()) +
      "\r\nContent-Type: application/x-www-form-urlencoded\r\nExpect: 100-continue\r\n\r\n";
  auto client = HttpClient::to_port(port_);  // it runs since set_up()
  client.send(head);
  const auto word = client.head();
  ASSERT_TRUE(word);
  EXPECT_EQ(word->status, 100);
  const auto answer = client.ask(body);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 200);
  auto refused = HttpClient::to_port(port_);
  refused.send(
      "POST /job/c HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 9\r\nExpect: "
      "100-continue\r\n\r\n");
  EXPECT_EQ(refused.head()->status, 403) << "a body that is refused is not requested";
}

TEST_F(FireworqTest, CurlWithANameAsItWasTyped) {
  set_up();
  const std::string fields = " HTTP/1.1\r\nHost: localhost:8080\r\n";
  const Answer made =
      asked("PUT /queue/\xe4\xbb\x95\xe4\xba\x8b" + fields + "Content-Length: 2\r\n\r\n{}");
  EXPECT_EQ(made.status, 200) << made.body;
  EXPECT_EQ(json::parse(made.body)["name"], "\xe4\xbb\x95\xe4\xba\x8b");
  EXPECT_EQ(asked("GET /queue/%e4%bb%95%e4%ba%8b" + fields + "\r\n").status, 200);
}

TEST_F(FireworqTest, GoMakesWhatIsMissing) {
  const std::string fields =
      " HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nUser-Agent: Go-http-client/1.1\r\n";
  const auto ask = [&](const std::string& what, const std::string& body = {}) {
    return asked(what + fields +
                 (body.empty() ? "" : "Content-Length: " + std::to_string(body.size()) + "\r\n") +
                 "Accept-Encoding: gzip\r\n\r\n" + body);
  };
  EXPECT_EQ(ask("GET /queue/bench").status, 404);
  EXPECT_EQ(ask("PUT /queue/bench", R"({"polling_interval":100,"max_workers":50})").status, 200);
  EXPECT_EQ(ask("GET /routing/bench").status, 404);
  EXPECT_EQ(ask("PUT /routing/bench", R"({"queue_name":"bench"})").status, 200);
  const Answer pushed =
      ask("POST /job/bench", R"({"url":"http://target.example/","payload":{"n":1}})");
  EXPECT_EQ(pushed.status, 200);
  EXPECT_FALSE(pushed.fields.contains("content-encoding"));
  EXPECT_EQ(json::parse(pushed.body)["queue_name"], "bench");
}

TEST_F(FireworqTest, TheConsolesProxyPassesTheOriginOn) {
  settings_.allow_origins = {"http://console.example:8888"};
  settings_.allow_from = {"127.0.0.0/8", "192.0.2.0/24"};
  set_up();
  const std::string fields =
      "X-Forwarded-For: 192.0.2.9\r\nOrigin: http://console.example:8888\r\nAccept-Encoding: "
      "gzip\r\n";
  for (const char* what :
       {"GET /version", "GET /settings", "GET /queues/stats", "GET /queue/q/stats",
        "GET /queue/q/waiting?order=asc&limit=1", "GET /queue/q/grabbed?order=asc&limit=1"}) {
    EXPECT_EQ(send(what, {}, fields).status, 200) << what;
  }
  EXPECT_EQ(send("DELETE /routing/c", {}, fields).status, 200);
  EXPECT_EQ(send("DELETE /queue/q", {}, fields).status, 200);
  EXPECT_EQ(send("GET /queues", {}, "Origin: http://evil.example\r\n").status, 403);
  EXPECT_EQ(send("GET /queues", {}, "X-Forwarded-For: 198.51.100.1\r\n").status, 401);
}

TEST_F(FireworqTest, JavaAsksForH2c) {
  set_up();
  const auto ask = [&](const std::string& what, const std::string& body = {}) {
    return asked(what + " HTTP/1.1\r\nConnection: Upgrade, HTTP2-Settings\r\nContent-Length: " +
                 std::to_string(body.size()) +
                 "\r\nHost: localhost:8080\r\nHTTP2-Settings: "
                 "AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA\r\nUpgrade: h2c\r\nUser-Agent: "
                 "Java-http-client/11.0.2\r\n\r\n" +
                 body);
  };
  const Answer pushed = ask("POST /job/c", R"({"url":"http://target.example/"})");
  ASSERT_EQ(pushed.status, 200) << pushed.body;
  const json job = json::parse(pushed.body);
  for (const char* field : {"id", "queue_name", "category", "url", "payload", "run_after",
                            "max_retries", "retry_delay", "timeout"}) {
    EXPECT_TRUE(job.contains(field)) << field;
  }
  const Answer stats = ask("GET /queue/q/stats");
  ASSERT_EQ(stats.status, 200);
  const json figures = json::parse(stats.body);
  for (const auto& [name, value] : figures.items()) {
    EXPECT_LE(value.get<std::int64_t>(), 2'147'483'647) << name;
  }
  EXPECT_EQ(ask("PUT /queue/q", R"({"max_workers":2})").status, 200);
}

TEST_F(FireworqTest, FurlPushesTheSchwartzJobs) {
  set_up();
  got("PUT /routing/My::Worker", R"({"queue_name":"q"})");
  const std::string body =
      R"({"url":"http://target.example/w","payload":{"funcname":"My::Worker","arg":{"a":1},)"
      R"("run_after":0},"run_after":0,"max_retries":3,"retry_delay":60})";
  const Answer answer = asked(
      "POST /job/My%3A%3AWorker HTTP/1.1\r\nConnection: keep-alive\r\nUser-Agent: "
      "Furl::HTTP/3.14\r\nContent-Type: application/json\r\nContent-Length: " +
      std::to_string(body.size()) + "\r\nHost: localhost:8080\r\n\r\n" + body);
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(json::parse(answer.body)["id"], 1);
  EXPECT_EQ(json::parse(answer.body)["category"], "My::Worker");
}

TEST_F(FireworqTest, DexadorSendsBodiesAndNulls) {
  set_up();
  settings_.anonymous = false;
  stop();
  const auto ask = [&](const std::string& what, const std::string& body) {
    return send(what, body,
                "User-Agent: Dexador/0.9.14 (SBCL 2.0.2); Linux; 5.4\r\nAccept: */*\r\n"
                "Content-Type: application/json\r\nAuthorization: Basic YWRhOnJlYWRlcg==\r\n");
  };
  EXPECT_EQ(ask("GET /queues", "null").status, 200);
  EXPECT_EQ(ask("GET /queue/q", "{}").status, 200);
  EXPECT_EQ(ask("DELETE /queue/q", "null").status, 403) << "that token may only read";
  EXPECT_EQ(send("GET /queues").status, 401);
  settings_.anonymous = true;
  stop();
  EXPECT_EQ(ask("POST /job/c", R"({"url":"http://target.example/","payload":null,"run_after":null,)"
                               R"("timeout":null,"retry_delay":null,"max_retries":null})")
                .status,
            200);
}

TEST_F(FireworqTest, WhoseQueueACategoryHasIsNotTold) {
  set_up();
  got("PUT /queue/others", "{}");
  got("PUT /routing/theirs", R"({"queue_name":"others"})");
  got("PUT /queue/deleted", "{}");
  got("PUT /routing/gone", R"({"queue_name":"deleted"})");
  got("DELETE /queue/deleted");
  settings_.anonymous = false;
  stop();
  const std::string job = R"({"url":"http://target.example/"})";
  const std::string token = "Authorization: Bearer submits_q\r\n";
  EXPECT_EQ(send("POST /job/c", job, token).status, 200);
  const Answer theirs = send("POST /job/theirs", job, token);
  EXPECT_EQ(theirs.status, 403);
  for (const char* category : {"none", "gone"}) {
    const Answer none = send(std::string("POST /job/") + category, job, token);
    EXPECT_EQ(none.status, theirs.status) << category;
    EXPECT_EQ(none.body, theirs.body) << category;
  }
}

// An anonymous client has a lower limit than one with a token.
TEST_F(FireworqTest, AnAnonymousBodyIsBoundedLower) {
  settings_.max_anonymous_body = 2;
  set_up();
  const std::string job = R"({"url":"http://target.example/","payload":")";
  const std::string small = job + std::string(1'000, 'x') + "\"}";
  const std::string large = job + std::string(2'048, 'x') + "\"}";
  EXPECT_EQ(send("POST /job/c", small).status, 200);
  EXPECT_EQ(send("POST /job/c", large).status, 413);
  EXPECT_EQ(send("PUT /queue/q", large).status, 413);
  const std::string token = "Authorization: Bearer reader\r\n";
  settings_.anonymous = false;
  stop();
  EXPECT_EQ(send("GET /queues", large, token).status, 200);
}

TEST_F(FireworqTest, ManyConnectionsShareTransactions) {
  set_up(R"({"max_workers":50,"polling_interval":100})");
  const std::uint64_t before = support::server_counter(observer_, "Com_commit");
  std::vector<std::thread> clients;
  for (int i = 0; i < 16; ++i) {
    clients.emplace_back([this] {
      auto client = HttpClient::to_port(port_);
      const std::string body = R"({"url":"http://target.example/","payload":{"n":1}})";
      for (int n = 0; n < 20; ++n) {
        const auto answer =
            client.ask("POST /job/c HTTP/1.1\r\nHost: localhost\r\nContent-Length: " +
                       std::to_string(body.size()) + "\r\n\r\n" + body);
        EXPECT_TRUE(answer && answer->status == 200);
      }
    });
  }
  for (std::thread& each : clients) each.join();
  EXPECT_EQ(
      value("SELECT COUNT(*) FROM task JOIN fireworq_job USING (queue_id, partition_no, prio) "
            "WHERE run_key = fireworq_job.first_key"),
      "320");
  EXPECT_EQ(value("SELECT MAX(job_id) FROM fireworq_job"), "320");
  EXPECT_LT(support::server_counter(observer_, "Com_commit") - before, 320U);
  EXPECT_EQ(got("GET /queue/q/stats")["total_pushes"], 320);
}

}  // namespace
}  // namespace allot::gateway::fireworq
