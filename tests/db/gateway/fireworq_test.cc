// SPDX-License-Identifier: Apache-2.0
// Fireworq's API, endpoint by endpoint: the server, the application and the database together.
#include "db/gateway/fireworq_fixture.h"
#include "support/document.h"

namespace allot::gateway::fireworq {
namespace {

TEST_F(FireworqTest, VersionAndOtherPaths) {
  for (const char* what : {"GET /", "GET /version", "POST /version", "PATCH /"}) {
    const Answer answer = send(what);
    EXPECT_EQ(answer.status, 200) << what;
    EXPECT_EQ(answer.fields.at("content-type"), "text/plain; charset=utf-8");
    EXPECT_TRUE(std::regex_match(
        answer.body, std::regex("Fireworq [0-9.]+(-[a-zA-Z0-9.-]+)?(\\+[a-zA-Z0-9.-]+)?\n")))
        << answer.body;
  }
  for (const char* what : {"GET /queues/", "GET /nothing", "PUT /queue/", "GET /queue/a%2fb"}) {
    const Answer answer = send(what);
    EXPECT_EQ(answer.status, 404) << what;
    EXPECT_EQ(answer.body, "404 page not found\n") << what;
  }
  const Answer moved = send("GET //queues?a=b");
  EXPECT_EQ(moved.status, 301);
  EXPECT_EQ(moved.fields.at("location"), "/queues?a=b");
  for (const char* what : {"POST /queues", "PATCH /queues", "DELETE /queues/stats"}) {
    EXPECT_EQ(send(what, "x").status, 200) << what << " is a GET";
  }
  const Answer json_one = send("GET /queues");
  EXPECT_EQ(json_one.fields.at("content-type"), "application/json");
  EXPECT_EQ(json_one.body, "[]") << "no line break at the end";
  HttpClient client = HttpClient::to_port(port_);
  client.send("HEAD /queues HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const auto head = client.answer(false);
  ASSERT_TRUE(head);
  EXPECT_EQ(head->status, 200);
  EXPECT_EQ(head->fields.at("content-length"), "2");
}

TEST_F(FireworqTest, AQueueFromItsMakingToItsDeletion) {
  EXPECT_EQ(error("GET /queue/q"), "404 Not Found");
  EXPECT_EQ(got("PUT /queue/q", R"({"name":"x"})"),
            json({{"name", "q"}, {"polling_interval", 200}, {"max_workers", 20}}));
  EXPECT_EQ(got("PUT /queue/q", "{}"), got("GET /queue/q"));
  EXPECT_EQ(got("PUT /queue/a", R"({"max_workers":3,"polling_interval":7})")["polling_interval"],
            7);
  EXPECT_EQ(got("GET /queues").at(0)["name"], "a");
  EXPECT_EQ(got("GET /queues").size(), 2U);
  EXPECT_EQ(error("PUT /queue/q", "[]").substr(0, 16), "400 Bad Request|");
  EXPECT_EQ(error("PUT /queue/q", R"({"max_dispatches_per_second":1})"),
            "400 Bad Request|Cannot configure MaxDispatchesPerSecond without MaxBurstSize");
  EXPECT_EQ(got("PUT /queue/q", R"({"max_dispatches_per_second":2.5,"max_burst_size":4})"),
            json({{"name", "q"},
                  {"polling_interval", 100},
                  {"max_workers", 20},
                  {"max_dispatches_per_second", 2.5},
                  {"max_burst_size", 4}}));
  EXPECT_EQ(got("DELETE /queue/q", "null")["max_burst_size"], 4);
  EXPECT_EQ(error("DELETE /queue/q"), "404 Not Found");
  EXPECT_EQ(error("GET /queue/q"), "404 Not Found");
  EXPECT_EQ(got("GET /queues").size(), 1U);
  EXPECT_EQ(error("PUT /queue/" + std::string(256, 'x'), "{}").substr(0, 3), "400");
  EXPECT_EQ(got("PUT /queue/%ff%20+" + std::string(252, 'x'), "{}")["name"],
            "\xef\xbf\xbd +" + std::string(252, 'x'));
  EXPECT_EQ(error("POST /queue/b"), "404 Not Found") << "a GET";
}

TEST_F(FireworqTest, WithoutADatabase) {
  set_up();
  observer_.execute("RENAME TABLE fireworq_queue TO fireworq_queue_gone");
  const auto refused = [&](const std::string& told) {
    return told.starts_with(
        "500 Internal Server Error|the database refused, or does not respond (gateway.refused, ");
  };
  EXPECT_TRUE(refused(error("GET /queues")));
  EXPECT_TRUE(refused(error("PUT /queue/r", "{}")));
  EXPECT_TRUE(refused(error("POST /job/c", R"({"url":"http://target.example/"})")));
  observer_.execute("RENAME TABLE fireworq_queue_gone TO fireworq_queue");
  stop();
  options_.socket += ".nobody";
  EXPECT_EQ(error("GET /queues"),
            "500 Internal Server Error|the gateway has no database connection, and nothing was "
            "changed; see gateway.no_connection in its log")
      << "neither its address nor the account";
  const Answer answer = send("GET /queues");
  EXPECT_EQ(answer.fields.at("x-content-type-options"), "nosniff");
  EXPECT_EQ(send("GET /version").status, 200);
}

TEST_F(FireworqTest, DeletionKeepsJobsAndRoutings) {
  set_up();
  const std::uint64_t id = push();
  got("DELETE /queue/q");
  EXPECT_EQ(got("GET /routing/c")["queue_name"], "q");
  EXPECT_EQ(error("POST /job/c", R"({"url":"http://target.example/"})"),
            "500 Internal Server Error|Undefined queue: q");
  EXPECT_EQ(error("GET /queue/q/job/1"), "404 Not Found");
  got("PUT /queue/q", R"({"max_workers":1})");
  EXPECT_EQ(got("GET /queue/q/job/" + std::to_string(id))["id"], id);
  EXPECT_EQ(value("SELECT COUNT(*) FROM queue_pause"), "0");
}

TEST_F(FireworqTest, Routings) {
  EXPECT_EQ(send("GET /routings").body, "[]");
  EXPECT_EQ(error("GET /routing/c"), "404 Not Found");
  EXPECT_EQ(error("PUT /routing/c", R"({"queue_name":"q"})"), "404 Not Found|No such queue: q");
  set_up();
  EXPECT_EQ(got("PUT /routing/My%3A%3AW%2Fx", R"({"queue_name":"q","job_category":"y"})"),
            json({{"queue_name", "q"}, {"job_category", "My::W/x"}}));
  EXPECT_EQ(got("GET /routing/My::W/x")["job_category"], "My::W/x");
  EXPECT_EQ(got("GET /routings").size(), 2U);
  EXPECT_EQ(error("PUT /routing/c", "x").substr(0, 16), "400 Bad Request|");
  EXPECT_EQ(got("DELETE /routing/c", "{}"), json({{"queue_name", "q"}, {"job_category", "c"}}));
  EXPECT_EQ(error("DELETE /routing/c"), "404 Not Found");
}

TEST_F(FireworqTest, ATokenSeesTheRoutingsOfItsQueuesOnly) {
  set_up();
  got("PUT /queue/r", "{}");
  got("PUT /routing/d", R"({"queue_name":"r"})");
  // From another host, so that a token is required.
  const std::string far = "X-Forwarded-For: 192.0.2.1\r\n";
  const std::string token = far + "Authorization: Bearer of_q\r\n";
  EXPECT_EQ(json::parse(send("GET /routings", "", token).body),
            json::parse(R"([{"queue_name":"q","job_category":"c"}])"));
  EXPECT_EQ(send("GET /routing/c", "", token).status, 200);
  EXPECT_EQ(send("GET /routing/d", "", token).status, 404);
  EXPECT_EQ(send("GET /routing/d", "", far + "Authorization: Bearer reader\r\n").status, 200);
}

TEST_F(FireworqTest, AChangeHereIsFollowedAtOnce) {
  set_up();
  got("PUT /queue/r", "{}");
  EXPECT_EQ(got("POST /job/c", R"({"url":"http://target.example/"})")["queue_name"], "q");
  got("PUT /routing/c", R"({"queue_name":"r"})");
  EXPECT_EQ(got("POST /job/c", R"({"url":"http://target.example/"})")["queue_name"], "r");
}

// As if changed by another gateway, which does not inform this one.
TEST_F(FireworqTest, AChangeElsewhereIsFollowedWithinASecond) {
  set_up();
  got("PUT /queue/r", "{}");
  const auto taker = [&] {
    return got("POST /job/c", R"({"url":"http://target.example/"})").value("queue_name", "");
  };
  EXPECT_EQ(taker(), "q");
  queue::put_routing(observer_, {"c", "r"});
  EXPECT_TRUE(support::eventually([&] { return taker() == "r"; }, std::chrono::seconds(5)));
  queue::hide_fireworq(observer_, *queue::find_fireworq(observer_, "r"));
  EXPECT_EQ(error("GET /queue/r"), "404 Not Found");
  EXPECT_TRUE(support::eventually(
      [&] { return send("POST /job/c", R"({"url":"http://target.example/"})").status == 500; },
      std::chrono::seconds(5)));
}

TEST_F(FireworqTest, PushedJobs) {
  set_up();
  EXPECT_EQ(
      got("POST /job/c", R"({"url":"http://target.example/x","payload":{"n": 1.50},"run_after":2,)"
                         R"("timeout":3,"retry_delay":4,"max_retries":5})"),
      json({{"id", 1},
            {"queue_name", "q"},
            {"category", "c"},
            {"url", "http://target.example/x"},
            {"payload", {{"n", 1.5}}},
            {"run_after", 2},
            {"timeout", 3},
            {"retry_delay", 4},
            {"max_retries", 5}}));
  EXPECT_EQ(value("SELECT payload FROM task"),
            R"({"url":"http://target.example/x","category":"c","run_after":2,"timeout":3,)"
            R"("retry_delay":4,"max_retries":5})"
            "\n{\"n\": 1.50}");
  EXPECT_EQ(value("SELECT CONCAT(type, ' ', headers) FROM task"),
            "fireworq.job label=c\nmax_attempts=6\nmax_losses=3");
  const json job = got("GET /queue/q/job/1");
  EXPECT_EQ(job["status"], "claimed");
  EXPECT_EQ(job["payload"]["n"], 1.5);
  EXPECT_EQ(job["fail_count"], 0);
  EXPECT_EQ(job["max_retries"], 5);
  EXPECT_LT(job["created_at"], job["next_try"]);
  EXPECT_TRUE(job["created_at"].get<std::string>().ends_with("Z"));
  EXPECT_EQ(got("GET /queue/q/deferred")["jobs"].size(), 1U);
  EXPECT_EQ(push("c", ",\"max_retries\":4294967295"), 2U) << "numbers begin at 1";
}

TEST_F(FireworqTest, RefusedJobs) {
  const std::string good = R"({"url":"http://target.example/"})";
  EXPECT_EQ(error("POST /job/none", good),
            "500 Internal Server Error|No routing of job category 'none' exists");
  set_up();
  for (const char* method : {"GET", "PUT", "DELETE", "PATCH"}) {
    EXPECT_EQ(error(method + std::string(" /job/c"), good), "405 Method Not Allowed");
  }
  EXPECT_EQ(error("POST /job/c"), "400 Bad Request|EOF");
  EXPECT_EQ(error("POST /job/c", "{}"), "400 Bad Request|Missing field: url");
  EXPECT_EQ(error("POST /job/c", R"({"url":"http://target.example/","run_after":-1})"),
            "400 Bad Request|run_after must be a whole number from 0 to 4294967295");
  EXPECT_EQ(error("POST /job/c", R"({"url":"http://other.example/"})").substr(0, 20),
            "400 Bad Request|url:");
  EXPECT_EQ(error("POST /job/" + std::string(256, 'c'), good).substr(0, 3), "400");
  EXPECT_EQ(value("SELECT COUNT(*) FROM task"), "0");
}

TEST_F(FireworqTest, ALargeOneIs413) {
  settings_.max_anonymous_body = 102'400;
  set_up();
  const std::string around = R"({"url":"http://target.example/","payload":")";
  EXPECT_EQ(error("POST /job/c", around + std::string((16U << 20U) - 1, 'x') + "\"}").substr(0, 29),
            "413 Request Entity Too Large|");
  const Answer far =
      asked("POST /job/c HTTP/1.1\r\nHost: localhost\r\nContent-Length: 999999999\r\n\r\n");
  EXPECT_EQ(far.status, 413);
  EXPECT_EQ(far.body.substr(0, 28), "413 Request Entity Too Large");
}

TEST_F(FireworqTest, TheDefaultQueue) {
  settings_.queue_default = "rest";
  settings_.queue_default_max_workers = 7;
  start();
  application_->turn();
  ASSERT_TRUE(support::eventually([&] { return send("GET /queue/rest").status == 200; }));
  EXPECT_EQ(got("GET /queue/rest")["max_workers"], 7);
  EXPECT_EQ(got("POST /job/any", R"({"url":"http://target.example/"})")["queue_name"], "rest");
  got("DELETE /queue/rest");
  EXPECT_EQ(got("POST /job/any", R"({"url":"http://target.example/"})")["queue_name"], "rest");
  EXPECT_EQ(got("GET /queue/rest")["name"], "rest") << "it comes back by itself";
}

TEST_F(FireworqTest, TheDefaultQueueIsTriedAgain) {
  settings_.queue_default = "rest";
  start();
  observer_.execute("RENAME TABLE q_lock_table TO q_lock_table_gone");
  EXPECT_EQ(send("POST /job/any", R"({"url":"http://target.example/"})").status, 500);
  observer_.execute("RENAME TABLE q_lock_table_gone TO q_lock_table");
  EXPECT_EQ(send("GET /queue/rest").status, 404);
  EXPECT_TRUE(support::eventually([&] {
    application_->turn();
    return send("GET /queue/rest").status == 200;
  }));
}

TEST_F(FireworqTest, ReaderCannotWrite) {
  settings_.queue_default = "rest";
  const auto rows = [&] {
    return value(
        "SELECT CONCAT((SELECT COUNT(*) FROM fireworq_queue), ' ', "
        "(SELECT COUNT(*) FROM queue_duty WHERE holder IS NOT NULL))");
  };
  const std::string before = rows();
  read_only_ = true;
  start();
  application_->turn();
  stop();  // after the started ones
  EXPECT_EQ(rows(), before);
}

TEST_F(FireworqTest, ListsAndTheirParameters) {
  set_up();
  EXPECT_EQ(send("GET /queue/q/waiting").body, R"({"jobs":[],"next_cursor":""})");
  EXPECT_EQ(send("GET /queue/q/failed").body, R"({"failed_jobs":[],"next_cursor":""})");
  for (const char* what : {"waiting", "grabbed", "deferred", "failed"}) {
    EXPECT_EQ(error("GET /queue/none/" + std::string(what)), "404 Not Found");
  }
  for (int i = 0; i < 5; ++i) push();
  const json head = got("GET /queue/q/waiting?order=asc&limit=1");
  ASSERT_EQ(head["jobs"].size(), 1U);
  EXPECT_EQ(head["jobs"][0]["id"], 1);
  std::vector<std::uint64_t> seen;
  for (std::string cursor;;) {
    const json page = got("GET /queue/q/waiting?limit=2&cursor=" + cursor);
    for (const json& job : page["jobs"]) seen.push_back(job["id"]);
    cursor = page["next_cursor"];
    if (cursor.empty()) break;
  }
  EXPECT_EQ(seen, (std::vector<std::uint64_t>{5, 4, 3, 2, 1}));
  EXPECT_NE(got("GET /queue/q/waiting?limit=0")["next_cursor"], "");
  EXPECT_EQ(got("GET /queue/q/waiting?limit=x&order=up&cursor=nonsense")["jobs"].size(), 5U);
}

TEST_F(FireworqTest, JobsByTheirNumber) {
  set_up();
  push();
  for (const char* what : {"job", "failed"}) {
    const std::string path = "/queue/q/" + std::string(what) + "/";
    EXPECT_EQ(error("GET " + path + "x"), "400 Bad Request");
    EXPECT_EQ(error("GET /queue/none/" + std::string(what) + "/x"), "400 Bad Request");
    EXPECT_EQ(error("GET " + path + "7"), "404 Not Found");
    EXPECT_EQ(error("DELETE " + path + "7"), "404 Not Found");
    EXPECT_EQ(error("GET /queue/none/" + std::string(what) + "/1"), "404 Not Found");
  }
  EXPECT_EQ(got("DELETE /queue/q/job/1", "null")["id"], 1);
  EXPECT_EQ(error("GET /queue/q/job/1"), "404 Not Found");
  EXPECT_EQ(error("GET /queue/q/failed/1"), "404 Not Found") << "it has not failed";
  EXPECT_EQ(value("SELECT COUNT(*) FROM task_dead"), "0");
}

TEST_F(FireworqTest, AJobThatRunsIsDeletedAndHasNotFailed) {
  set_up();
  push();
  observer_.execute("UPDATE q_lock_table SET state = 'LOCKED', block_size = 1");
  EXPECT_EQ(got("DELETE /queue/q/job/1")["status"], "grabbed");
  EXPECT_EQ(value("SELECT COUNT(*) FROM task"), "0") << "whatever its handler says then";
  EXPECT_EQ(error("GET /queue/q/job/1"), "404 Not Found");
  EXPECT_EQ(send("GET /queue/q/failed").body, R"({"failed_jobs":[],"next_cursor":""})");
}

TEST_F(FireworqTest, FailedJobs) {
  set_up();
  push();
  push();
  bury(1, "failure 500: it did not work");
  bury(2, "its worker died");
  const json list = got("GET /queue/q/failed?order=created");
  ASSERT_EQ(list["failed_jobs"].size(), 2U);
  EXPECT_EQ(list["failed_jobs"][0]["id"], 2);
  EXPECT_EQ(list["failed_jobs"][0]["result"],
            json({{"status", "internal-failure"}, {"code", 0}, {"message", "its worker died"}}));
  const json one = got("GET /queue/q/failed/1");
  EXPECT_EQ(one["result"],
            json({{"status", "failure"}, {"code", 500}, {"message", "it did not work"}}));
  EXPECT_EQ(one["job_id"], 1);
  EXPECT_EQ(one["fail_count"], 1);
  EXPECT_EQ(one["payload"], "");
  EXPECT_EQ(got("DELETE /queue/q/failed/1"), one);
  EXPECT_EQ(error("DELETE /queue/q/failed/1"), "404 Not Found");
  EXPECT_EQ(got("GET /queue/q/failed")["failed_jobs"].size(), 1U);
}

TEST_F(FireworqTest, StatsAndTheNode) {
  EXPECT_EQ(send("GET /queues/stats").body, "{}");
  EXPECT_EQ(error("GET /queue/q/stats"), "404 Not Found|No such queue: q");
  EXPECT_EQ(error("GET /queue/q/node"), "404 Not Found|No such queue: q");
  set_up(R"({"max_workers":5})");
  EXPECT_EQ(error("GET /queue/q/node"), "404 Not Found|No node is active for this queue");
  EXPECT_EQ(got("GET /queue/q/stats")["active_nodes"], 0);
  EXPECT_EQ(got("GET /queue/q/stats")["total_workers"], 0);
  application_->turn();
  ASSERT_TRUE(support::eventually([&] { return send("GET /queue/q/node").status == 200; }));
  const json node = got("GET /queue/q/node");
  EXPECT_TRUE(node["id"].is_string());
  EXPECT_EQ(node["host"].get<std::string>().find(':'), std::string::npos) << "no port";
  push();
  const json stats = got("GET /queues/stats")["q"];
  EXPECT_EQ(stats.size(), 13U);
  EXPECT_EQ(stats["total_pushes"], 1);
  EXPECT_EQ(stats["active_nodes"], 1);
  EXPECT_EQ(stats["total_workers"], 5);
  EXPECT_EQ(stats["idle_workers"], 5);
  observer_.execute("UPDATE q_lock_table SET state = 'LOCKED', block_size = 1");
  EXPECT_EQ(got("GET /queue/q/stats")["idle_workers"], 4);
  EXPECT_EQ(got("GET /queue/q/grabbed")["jobs"][0]["status"], "grabbed");
}

TEST_F(FireworqTest, PushesOfTheLastSecond) {
  set_up();
  for (int i = 0; i < 3; ++i) push();
  application_->turn();
  const auto pushes = [&] { return got("GET /queue/q/stats")["pushes_per_second"]; };
  EXPECT_TRUE(support::eventually([&] { return pushes() == 3; }));
  EXPECT_TRUE(support::eventually([&] {
    application_->turn();
    return pushes() == 0;
  }));
  EXPECT_EQ(got("GET /queue/q/stats")["total_pushes"], 3);
}

TEST_F(FireworqTest, OneNodeIsActiveAndTheNextOneFollows) {
  set_up();
  application_->turn();
  ASSERT_TRUE(support::eventually([&] { return send("GET /queue/q/node").status == 200; }));
  db::Connection db = connect();
  Node other;
  other.round(db);
  EXPECT_FALSE(other.is_active());
  EXPECT_EQ(got("GET /queue/q/stats")["active_nodes"], 1);
  stop();  // in order: at once
  other.round(db);
  EXPECT_TRUE(other.is_active());
  EXPECT_EQ(active_node(db)->id, std::to_string(db.id()));
  other.round(db);
  EXPECT_TRUE(other.is_active()) << "renewed";
}

TEST_F(FireworqTest, SettingsAndTheProcess) {
  EXPECT_EQ(got("GET /settings"), json({{"access_log", ""},
                                        {"access_log_tag", "fireworq.access"},
                                        {"bind", "127.0.0.1:8080"},
                                        {"config_refresh_interval", "1000"},
                                        {"dispatch_idle_conn_timeout", "0"},
                                        {"dispatch_keep_alive", "false"},
                                        {"dispatch_max_conns_per_host", "10"},
                                        {"dispatch_user_agent", "Mine"},
                                        {"driver", "mysql"},
                                        {"error_log", ""},
                                        {"error_log_level", "info"},
                                        {"keep_alive", "true"},
                                        {"mysql_dsn", ""},
                                        {"pid", ""},
                                        {"queue_default", ""},
                                        {"queue_default_max_workers", "20"},
                                        {"queue_default_polling_interval", "200"},
                                        {"queue_log", ""},
                                        {"queue_log_level", "info"},
                                        {"queue_log_tag", "fireworq.queue"},
                                        {"queue_mysql_dsn", ""},
                                        {"repository_mysql_dsn", ""},
                                        {"shutdown_timeout", "30"}}));
  EXPECT_EQ(got("GET /stats").size(), 27U);
  for (const char* pp : {"true", "1"}) {
    EXPECT_NE(send("GET /stats?pp=" + std::string(pp)).body.find('\n'), std::string::npos);
  }
  EXPECT_EQ(send("GET /stats").body.find('\n'), std::string::npos);
}

TEST_F(FireworqTest, KeepAlive) {
  settings_.keep_alive = false;
  const Answer closes = send("GET /version");
  EXPECT_EQ(closes.fields.at("connection"), "close");
  EXPECT_EQ(send("GET /nothing").fields.at("connection"), "close");
}

TEST_F(FireworqTest, TheAccountOfItsRoleSuffices) {
  observer_.execute("DROP USER IF EXISTS 'allot_fireworq'@'%'");
  for (const std::string& sql : support::grants("fireworq", name_)) observer_.execute(sql);
  options_.user = "allot_fireworq";
  options_.password = "change-me";
  start();
  set_up(R"({"max_workers":70,"max_dispatches_per_second":2,"max_burst_size":5})");
  got("PUT /queue/q", R"({"max_workers":200})");
  application_->turn();
  ASSERT_TRUE(support::eventually([&] { return send("GET /queue/q/node").status == 200; }));
  for (int i = 0; i < 3; ++i) push();
  bury(2, "failure 500: x");
  observer_.execute("UPDATE task SET flags = 64 WHERE queue_id > 0");
  got("GET /queue/q/waiting");
  got("GET /queue/q/grabbed");
  got("GET /queues/stats");
  got("DELETE /queue/q/job/1");
  got("DELETE /queue/q/failed/2");
  observer_.execute("UPDATE q_lock_table SET state = 'LOCKED', block_size = 100");
  got("DELETE /queue/q/job/3");
  got("DELETE /routing/c");
  got("DELETE /queue/q");
  got("PUT /queue/q", "{}");
  stop();
  observer_.execute("DROP USER 'allot_fireworq'@'%'");
}

}  // namespace
}  // namespace allot::gateway::fireworq
