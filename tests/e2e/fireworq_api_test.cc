// SPDX-License-Identifier: Apache-2.0
// Fireworq's API and the workers behind it, together: a job goes in, is POSTed, and is gone or
// failed.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "e2e/daemon.h"
#include "support/http_client.h"
#include "support/http_target.h"
#include "support/reserved_port.h"

namespace allot::e2e::fireworq_api_test {
namespace {

using nlohmann::json;
using support::eventually;
using support::HttpClient;
using support::HttpTarget;
using Peer = HttpTarget::Peer;

class FireworqApi : public testing::Test {
 protected:
  FireworqApi() { std::filesystem::copy_file(ALLOT_HTTP_PLUGIN, plugins_ / "http.so"); }

  [[nodiscard]] DaemonOptions options(const HttpTarget& target) const {
    return {.workers = 0,
            .more = "[plugins.http]\nallow = [\"" + target.origin() +
                    "\"]\n[plugins.http.fireworq]\nenabled = true\n"
                    "[pools.fireworq]\nsize = 2\nconcurrency = 8\nfireworq = true\n"
                    "[gateway]\n[gateway.database]\nuser = \"root\"\n"
                    "[gateway.fireworq]\nanonymous = true\nlisten = \"127.0.0.1:" +
                    std::to_string(port_.number()) + "\"\n",
            .plugins = plugins_.path()};
  }
  // null without an answer, or for another status than 200.
  json asked(const std::string& what, const std::string& body = {}) const {
    try {
      auto client = HttpClient::to_port(port_.number());
      const auto answer = client.ask(what + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: " +
                                     std::to_string(body.size()) + "\r\n\r\n" + body);
      if (!answer || answer->status != 200) return nullptr;
      return json::parse(answer->body, nullptr, false);
    } catch (const std::exception&) {
      return nullptr;
    }
  }

  support::TempDir plugins_;
  support::ReservedPort port_;
};

TEST_F(FireworqApi, AJobIsPostedAndGoneOrFailed) {
  HttpTarget target([](Peer& peer) {
    while (const auto request = peer.request()) {
      const bool again = request->body == "later" && request->field("X-Allot-Attempt") != "1";
      const std::string word = again || request->body == "good" ? "success"
                               : request->body == "later"       ? "failure"
                                                                : "permanent-failure";
      peer.answer(200, R"({"status":")" + word + R"(","message":"because"})");
    }
  });
  Daemon daemon(options(target));
  ASSERT_TRUE(eventually([&] { return asked("GET /settings").is_object(); })) << daemon.log();
  EXPECT_EQ(asked("PUT /queue/q", R"({"max_workers":2})")["max_workers"], 2);
  EXPECT_EQ(asked("PUT /routing/c", R"({"queue_name":"q"})")["queue_name"], "q");
  for (const char* payload : {"good", "later", "bad"}) {
    EXPECT_GT(asked("POST /job/c", R"({"url":")" + target.origin() +
                                       R"(/run","max_retries":2,"payload":")" + payload + "\"}")
                  .value("id", 0),
              0);
  }
  ASSERT_TRUE(eventually([&] { return daemon.count("task") == 0; })) << daemon.log();
  ASSERT_TRUE(eventually([&] { return asked("GET /queue/q/failed")["failed_jobs"].size() == 1; }))
      << daemon.log();
  const json failed = asked("GET /queue/q/failed")["failed_jobs"][0];
  EXPECT_EQ(failed["result"],
            json({{"status", "permanent-failure"}, {"code", 200}, {"message", "because"}}));
  EXPECT_EQ(failed["fail_count"], 1);
  EXPECT_EQ(failed["payload"], "bad");
  ASSERT_TRUE(eventually([&] { return asked("GET /queue/q/stats")["total_completes"] == 3; }))
      << asked("GET /queue/q/stats");
  const json stats = asked("GET /queue/q/stats");
  EXPECT_EQ(stats["total_pushes"], 3);
  EXPECT_EQ(stats["total_pops"], 4);
  EXPECT_EQ(stats["total_successes"], 2);
  EXPECT_EQ(stats["total_failures"], 2);
  EXPECT_EQ(stats["total_permanent_failures"], 1);
  for (const auto& request : target.requests()) {
    EXPECT_EQ(request.head.substr(0, request.head.find("\r\n")), "POST /run HTTP/1.1");
    EXPECT_EQ(request.field("Content-Type"), "application/json");
    EXPECT_EQ(request.field("User-Agent"), "Fireworq/1.5.1");
  }
}

// A worker runs eight at a time, and has the twenty of the queue in its block.
TEST_F(FireworqApi, StatsTellWhatIsInHandAndHasNotBegun) {
  std::atomic<bool> answers = false;
  HttpTarget target([&](Peer& peer) {
    while (peer.request()) {
      EXPECT_TRUE(eventually([&] { return answers.load(); }, std::chrono::seconds(60)));
      peer.answer(200, R"({"status":"success"})");
    }
  });
  const Daemon daemon(options(target));
  ASSERT_TRUE(eventually([&] { return asked("GET /settings").is_object(); })) << daemon.log();
  ASSERT_TRUE(asked("PUT /queue/q", R"({"max_workers":20})").is_object());
  ASSERT_TRUE(asked("PUT /routing/c", R"({"queue_name":"q"})").is_object());
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(asked("POST /job/c", R"({"url":")" + target.origin() + "\"}").is_object());
  }
  const auto told = [&](int outstanding, int idle) {
    const json stats = asked("GET /queue/q/stats");
    return stats.is_object() && stats["outstanding_jobs"] == outstanding &&
           stats["idle_workers"] == idle && stats["total_workers"] == 20 &&
           stats["active_nodes"] == 1;
  };
  EXPECT_TRUE(eventually([&] { return told(12, 0); })) << asked("GET /queue/q/stats");
  EXPECT_TRUE(eventually([&] { return target.requests().size() == 8; }));
  answers = true;
  EXPECT_TRUE(eventually([&] { return told(0, 20); })) << asked("GET /queue/q/stats");
  EXPECT_EQ(target.requests().size(), 20U);
}

}  // namespace
}  // namespace allot::e2e::fireworq_api_test
