// SPDX-License-Identifier: Apache-2.0
// The dashboard of a real gateway with a real database, requested like a browser does.
// Rules: S86, S87, S92.
#include <gtest/gtest.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "e2e/gateway.h"
#include "support/http_client.h"
#include "support/reserved_port.h"

namespace allot::e2e::ui_test {
namespace {

using namespace std::string_literals;
using support::Answer;
using support::eventually;
using support::HttpClient;

// Header fields that a browser sends with a form of this host.
const std::string kSameOrigin = "Origin: http://localhost\r\nSec-Fetch-Site: same-origin\r\n";

std::string encoded(const std::string& text) {
  std::string out;
  char part[4];
  for (const char c : text) {
    std::snprintf(part, sizeof part, "%%%02X", static_cast<unsigned char>(c));
    out += part;
  }
  return out;
}

class Ui : public testing::Test {
 protected:
  void start(const std::string& keys = {}, bool daemon = true) {
    DaemonOptions options;
    options.start = false;
    options.queue_keys = "max_attempts = 1\n";
    options.more = gateway_section("listen = [\"" + port_.address() + "\"]\n" + keys);
    daemon_ = std::make_unique<Daemon>(options);
    all_ = add_token("all", {"--read", "*", "--operate", "*"});
    reader_ = add_token("reader", {"--read", "*"});
    other_ = add_token("other", {"--read", "other", "--operate", "other"});
    if (daemon) {
      daemon_->start();
    } else {
      gateway_ = start_gateway(*daemon_);
    }
    ASSERT_TRUE(eventually([&] { return daemon_->logged("gateway.listening"); })) << daemon_->log();
  }

  // The token; its section is added to the configuration.
  std::string add_token(const std::string& name, const std::vector<std::string>& roles) {
    std::vector<std::string> words{"gateway", "token", name};
    words.insert(words.end(), roles.begin(), roles.end());
    const std::string made = daemon_->allot(words).out;
    daemon_->configure("[gateway]", made.substr(made.find("[gateway")) + "\n[gateway]");
    return made.substr(0, made.find('\n'));
  }

  [[nodiscard]] Answer ask(const std::string& what, const std::string& fields = {},
                           const std::string& body = {}) const {
    const std::string type =
        body.empty() ? "" : "Content-Type: application/x-www-form-urlencoded\r\n";
    const auto answer =
        HttpClient::to_port(port_.number())
            .ask(what + " HTTP/1.1\r\nHost: localhost\r\n" + fields + type +
                 "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
    return answer.value_or(Answer());
  }
  [[nodiscard]] Answer page(const std::string& path, const std::string& cookie) const {
    return ask("GET " + path, cookie);
  }
  // The field with the cookie of a new session.
  [[nodiscard]] std::string login(const std::string& token) const {
    const Answer answer = ask("POST /ui/login", kSameOrigin, "token=" + token);
    EXPECT_EQ(answer.status, 303) << answer.body;
    const auto at = answer.fields.find("set-cookie");
    if (at == answer.fields.end()) return {};
    return "Cookie: " + at->second.substr(0, at->second.find(';')) + "\r\n";
  }
  // Token of the first form of a page.
  [[nodiscard]] std::string form_token(const std::string& path, const std::string& cookie) const {
    const std::string html = page(path, cookie).body;
    const std::string before = "name=\"form\" value=\"";
    const std::size_t at = html.find(before);
    return at == std::string::npos ? "" : html.substr(at + before.size(), 64);
  }
  [[nodiscard]] std::string dead_task(const std::string& error) const {
    const std::string id = daemon_->submit("test.fail", error);
    EXPECT_TRUE(eventually([&] { return daemon_->task(id)["state"] == "dead"; }));
    return id;
  }

  support::ReservedPort port_;
  std::unique_ptr<Daemon> daemon_;
  std::unique_ptr<support::Process> gateway_;
  std::string all_;
  std::string reader_;
  std::string other_;
};

bool has(const Answer& answer, const std::string& text) {
  return answer.body.find(text) != std::string::npos;
}

TEST_F(Ui, ATokenLogsInAndItsSessionCountsForPagesOnly) {
  ASSERT_NO_FATAL_FAILURE(start({}, false));
  const Answer first = ask("GET /ui/");
  EXPECT_EQ(first.status, 303);
  EXPECT_EQ(first.fields.at("location"), "/ui/login");
  EXPECT_EQ(ask("GET /ui/queues?x=1").fields.at("location"),
            "/ui/login?next=%2Fui%2Fqueues%3Fx%3D1");
  const Answer form = ask("GET /ui/login?next=%2Fui%2Fqueues");
  EXPECT_EQ(form.status, 200);
  EXPECT_TRUE(has(form, "value=\"/ui/queues\"")) << form.body;
  EXPECT_EQ(ask("POST /ui/login", kSameOrigin, "token=allot_wrong").status, 401);
  const Answer in = ask("POST /ui/login", kSameOrigin, "token=" + all_ + "&next=%2Fui%2Fqueues");
  EXPECT_EQ(in.status, 303);
  EXPECT_EQ(in.fields.at("location"), "/ui/queues");
  const std::string& set = in.fields.at("set-cookie");
  for (const char* word : {"HttpOnly", "SameSite=Strict", "Path=/ui/", "Max-Age=43200"}) {
    EXPECT_NE(set.find(word), std::string::npos) << set;
  }
  EXPECT_EQ(set.find("Secure"), std::string::npos) << "the connection is plain";
  EXPECT_EQ(set.find(all_), std::string::npos);
  const std::string cookie = login(all_);
  const Answer overview = page("/ui/", cookie);
  EXPECT_EQ(overview.status, 200) << overview.body;
  EXPECT_TRUE(has(overview, "token:all"));
  EXPECT_EQ(overview.fields.at("cache-control"), "no-store");
  EXPECT_NE(overview.fields.at("content-security-policy").find("default-src 'self'"),
            std::string::npos);
  EXPECT_EQ(page("/api/v1/queues", cookie).status, 401) << "the session is for pages only";
  EXPECT_EQ(ask("POST /ui/logout", cookie + kSameOrigin, "form=" + form_token("/ui/", cookie))
                .fields.at("set-cookie")
                .substr(0, 15),
            "allot_session=;");
}

TEST_F(Ui, ASessionEndsWithItsToken) {
  ASSERT_NO_FATAL_FAILURE(start({}, false));
  const std::string cookie = login(reader_);
  EXPECT_EQ(page("/ui/", cookie).status, 200);
  daemon_->configure("[gateway.tokens.reader]", "[gateway.tokens.another]");
  gateway_->signal(SIGHUP);
  ASSERT_TRUE(eventually([&] { return daemon_->times_logged("gateway.listening") == 2; }));
  EXPECT_EQ(page("/ui/", cookie).status, 303);
  EXPECT_EQ(page("/ui/", login(all_)).status, 200) << "the key outlives a reload";
}

TEST_F(Ui, APageOfAnotherSiteMayLinkHereAndNoMore) {
  ASSERT_NO_FATAL_FAILURE(start({}, false));
  const std::string foreign = "Sec-Fetch-Site: cross-site\r\n";
  const Answer link = ask("GET /ui/queues", foreign + "Sec-Fetch-Mode: navigate\r\n");
  EXPECT_EQ(link.status, 200);
  EXPECT_TRUE(has(link, "http-equiv=\"refresh\" content=\"0\"")) << link.body;
  EXPECT_EQ(ask("GET /ui/queues", foreign + "Sec-Fetch-Mode: no-cors\r\n").status, 403);
  EXPECT_EQ(ask("POST /ui/login", foreign, "token=" + all_).status, 403);
  EXPECT_EQ(ask("POST /ui/login", "Origin: null\r\n", "token=" + all_).status, 403);
  EXPECT_EQ(ask("POST /ui/login", "", "token=" + all_).status, 403) << "without an Origin";
  EXPECT_EQ(ask("GET /ui/queues",
                "Sec-Fetch-Mode: navigate\r\n" + foreign + "Origin: http://evil.example\r\n")
                .status,
            403);
}

TEST_F(Ui, AssetsAreKeptAndPagesHaveTags) {
  ASSERT_NO_FATAL_FAILURE(start({}, false));
  const std::string cookie = login(all_);
  const Answer overview = page("/ui/queues", cookie);
  const std::size_t at = overview.body.find("/ui/assets/");
  ASSERT_NE(at, std::string::npos);
  const std::string style = overview.body.substr(at, overview.body.find('"', at) - at);
  const Answer asset = ask("GET " + style);
  EXPECT_EQ(asset.status, 200);
  EXPECT_EQ(asset.fields.at("content-type"), "text/css; charset=utf-8");
  EXPECT_EQ(asset.fields.at("cache-control"), "public, max-age=31536000, immutable");
  EXPECT_EQ(ask("GET " + style, "If-None-Match: " + asset.fields.at("etag") + "\r\n").status, 304);
  EXPECT_EQ(ask("GET /ui/assets/0000/style.css").status, 404);
  const auto rebound = HttpClient::to_port(port_.number())
                           .ask("GET " + style + " HTTP/1.1\r\nHost: evil.example\r\n\r\n");
  EXPECT_EQ(support::status_of(rebound), 421);
  EXPECT_EQ(ask("GET /ui/queues", cookie + "If-None-Match: " + overview.fields.at("etag") + "\r\n")
                .status,
            304);
}

TEST_F(Ui, AFailureIsFoundReadAndRetried) {
  ASSERT_NO_FATAL_FAILURE(start());
  const std::string id = dead_task("<script>alert(1)</script>\nsecond line");
  const std::string cookie = login(all_);
  const Answer task = page("/ui/tasks/" + id, cookie);
  ASSERT_EQ(task.status, 200) << task.body;
  EXPECT_TRUE(has(task, "&lt;script&gt;alert(1)&lt;/script&gt;")) << task.body;
  EXPECT_FALSE(has(task, "<script>alert"));
  EXPECT_TRUE(has(page("/ui/queues/default/dead", cookie), id));
  EXPECT_TRUE(has(page("/ui/queues/default", cookie), "Queue default"));
  const Answer failures = page("/ui/failures?queue=default", cookie);
  EXPECT_TRUE(has(failures, "/ui/tasks/" + id)) << "an example: " << failures.body;
  const std::string token = form_token("/ui/tasks/" + id, cookie);
  ASSERT_EQ(token.size(), 64U);
  const std::string retry = "POST /ui/tasks/" + id + "/retry";
  EXPECT_EQ(ask(retry, cookie + kSameOrigin, "form=" + std::string(64, '0')).status, 403);
  EXPECT_EQ(ask(retry, cookie + kSameOrigin, "x=1").status, 403);
  EXPECT_EQ(ask(retry, cookie + "Origin: http://evil.example\r\n", "form=" + token).status, 403);
  EXPECT_EQ(ask(retry, cookie, "form=" + token).status, 403) << "without an Origin";
  EXPECT_EQ(ask(retry, kSameOrigin, "form=" + token).status, 303) << "to the login";
  EXPECT_EQ(ask(retry, login(reader_) + kSameOrigin, "form=" + token).status, 403)
      << "the token of another session";
  EXPECT_EQ(daemon_->task(id)["attempts"].size(), 1U);
  const Answer done = ask(retry, cookie + kSameOrigin, "form=" + token);
  EXPECT_EQ(done.status, 303) << done.body;
  EXPECT_EQ(done.fields.at("location"), "/ui/tasks/" + id + "?note=retried");
  EXPECT_TRUE(eventually([&] { return daemon_->task(id)["attempts"].size() == 2; }));
  EXPECT_TRUE(daemon_->logged("actor=token:all action=retry subject=" + id)) << daemon_->log();
}

TEST_F(Ui, ActionsAreConfirmedAndNeedTheirRole) {
  ASSERT_NO_FATAL_FAILURE(start());
  const std::string id = dead_task("x");
  const std::string cookie = login(all_);
  const std::string discard = "/ui/tasks/" + id + "/discard";
  EXPECT_TRUE(has(page(discard, cookie), "allot dead discard " + id));
  const std::string reader = login(reader_);
  EXPECT_EQ(page(discard, reader).status, 403);
  EXPECT_FALSE(has(page("/ui/tasks/" + id, reader), discard));
  EXPECT_EQ(
      ask("POST " + discard, reader + kSameOrigin, "form=" + form_token("/ui/", reader)).status,
      403);
  EXPECT_EQ(daemon_->task(id)["state"], "dead");
  const std::string group = "/ui/queues/default/dead/retry";
  const Answer count = page(group, cookie);
  EXPECT_TRUE(has(count, "<strong>1</strong> dead tasks")) << count.body;
  EXPECT_EQ(ask("POST " + group, cookie + kSameOrigin, "form=" + form_token("/ui/", cookie)).status,
            400)
      << "not counted";
  const std::string before = "name=\"token\" value=\"";
  const std::size_t at = count.body.find(before);
  ASSERT_NE(at, std::string::npos) << count.body;
  const std::size_t begin = at + before.size();
  const std::string token = count.body.substr(begin, count.body.find('"', begin) - begin);
  const Answer begun =
      ask("POST " + group, cookie + kSameOrigin,
          "form=" + form_token(group, cookie) + "&rate=50&token=" + encoded(token));
  ASSERT_EQ(begun.status, 303) << begun.body;
  const std::string bulk = begun.fields.at("location");
  EXPECT_TRUE(has(page(bulk, cookie), "of 1 tasks.")) << page(bulk, cookie).body;
  EXPECT_TRUE(eventually([&] { return daemon_->task(id)["attempts"].size() == 2; }));
  const std::string pause = "/ui/queues/default/pause";
  EXPECT_EQ(ask("POST " + pause, cookie + kSameOrigin,
                "form=" + form_token(pause, cookie) + "&reason=" + encoded("<b>moving</b>"))
                .status,
            303);
  const Answer overview = page("/ui/", cookie);
  EXPECT_TRUE(has(overview, "Queue default has been paused for ")) << overview.body;
  EXPECT_TRUE(has(overview, "&lt;b&gt;moving&lt;/b&gt;"));
}

TEST_F(Ui, ATokenForAQueueSeesNoOther) {
  ASSERT_NO_FATAL_FAILURE(start());
  const std::string id = dead_task("secret error");
  const std::string cookie = login(other_);
  for (const std::string& path : {"/ui/"s, "/ui/queues"s, "/ui/failures"s}) {
    const Answer answer = page(path, cookie);
    EXPECT_EQ(answer.status, 200) << path;
    EXPECT_FALSE(has(answer, "/queues/default")) << answer.body;
    EXPECT_FALSE(has(answer, "secret error"));
  }
  for (const std::string& path :
       {"/ui/tasks/" + id, "/ui/tasks/" + id + "/payload", "/ui/queues/default"s,
        "/ui/queues/default/dead"s, "/ui/queues/default/dead/retry"s,
        "/ui/failures?queue=default"s}) {
    const Answer answer = page(path, cookie);
    EXPECT_EQ(answer.status, 404) << path;
    EXPECT_FALSE(has(answer, "secret error")) << path;
  }
}

// The steward writes the running tasks every 2 s while there is a viewer, and once a minute
// otherwise.
TEST_F(Ui, RunningTasksAreShownUntilTheirHostEnds) {
  ASSERT_NO_FATAL_FAILURE(start());
  const std::string cookie = login(reader_);
  ASSERT_TRUE(eventually([&] { return has(page("/ui/workers", cookie), "alive"); }))
      << page("/ui/workers", cookie).body;
  const std::string id = daemon_->submit("test.sleep", "60000");
  ASSERT_TRUE(eventually([&] { return has(page("/ui/running", cookie), ">" + id + "<"); },
                         std::chrono::seconds(15)))
      << "a minute would be too late: " << page("/ui/running", cookie).body;
  EXPECT_TRUE(has(page("/ui/workers", cookie), ">" + id + "<"));
  const Answer of_another = page("/ui/running", login(other_));
  EXPECT_EQ(of_another.status, 200);
  EXPECT_FALSE(has(of_another, id)) << "S91";
  ASSERT_EQ(daemon_->number("SELECT COUNT(*) FROM host_snapshot"), 1U);
  daemon_->stop();
  EXPECT_EQ(daemon_->number("SELECT COUNT(*) FROM host_snapshot"), 0U);
}

TEST_F(Ui, ReadOnlyStillLogsInAndChangesNothing) {
  ASSERT_NO_FATAL_FAILURE(start("read_only = true\n", false));
  const std::string cookie = login(all_);
  EXPECT_EQ(page("/ui/", cookie).status, 200);
  EXPECT_EQ(page("/ui/queues/default/pause", cookie).status, 403);
  EXPECT_EQ(ask("POST /ui/queues/default/pause", cookie + kSameOrigin,
                "form=" + form_token("/ui/", cookie))
                .status,
            403);
  const Answer missing = page("/ui/tasks/0000000000000000", cookie);
  EXPECT_EQ(missing.status, 404);
  EXPECT_EQ(page("/ui/nothing", cookie).status, 404);
  EXPECT_EQ(ask("GET /ui", cookie).fields.at("location"), "/ui/");
}

TEST_F(Ui, ACodeOfTheCommandLogsInOnce) {
  ASSERT_NO_FATAL_FAILURE(start());
  const support::Finished made = daemon_->allot({"gateway", "code", "reader"});
  ASSERT_EQ(made.status.code, 0) << made.err;
  const std::string before = "http://localhost:" + std::to_string(port_.number());
  ASSERT_TRUE(made.out.starts_with(before + "/ui/login?code=")) << made.out;
  const std::string path = made.out.substr(before.size(), made.out.size() - before.size() - 1);
  const std::string code = path.substr(path.find('=') + 1);
  for (int i = 0; i < 2; ++i) {
    const Answer form = ask("GET " + path);
    EXPECT_TRUE(has(form, "name=\"code\" value=\"" + code + "\"")) << "to look uses up nothing";
  }
  EXPECT_EQ(ask("POST /ui/login", kSameOrigin, "code=" + std::string(32, '0')).status, 401);
  EXPECT_EQ(
      ask("POST /ui/login", kSameOrigin + "X-Forwarded-For: 192.0.2.1\r\n", "code=" + code).status,
      401)
      << "a proxy asks for a browser elsewhere";
  EXPECT_EQ(ask("POST /ui/login", "Origin: http://evil.example\r\n", "code=" + code).status, 403);
  const Answer in = ask("POST /ui/login", kSameOrigin, "code=" + code);
  ASSERT_EQ(in.status, 303) << in.body;
  const std::string& set = in.fields.at("set-cookie");
  const std::string cookie = "Cookie: " + set.substr(0, set.find(';')) + "\r\n";
  EXPECT_TRUE(has(page("/ui/", cookie), "token:reader"));
  const Answer again = ask("POST /ui/login", kSameOrigin, "code=" + code);
  EXPECT_EQ(again.status, 401);
  EXPECT_TRUE(has(again, "allot gateway code")) << again.body;
  EXPECT_EQ(daemon_->allot({"gateway", "code", "nobody"}).status.code, 65);
}

TEST_F(Ui, FinishedTasksSchedulesAndTheSearchHavePages) {
  ASSERT_NO_FATAL_FAILURE(start());
  const std::string id = dead_task("KeyError: 'address'");
  const std::string cookie = login(all_);
  ASSERT_EQ(daemon_->allot({"schedule", "add", "nightly", "0 3 * * MON-FRI", "default", "test.ok"})
                .status.code,
            0);
  EXPECT_TRUE(has(page("/ui/schedules", cookie), "Monday to Friday at 03:00"));
  const std::string run = "/ui/schedules/nightly/run-now";
  EXPECT_EQ(ask("POST " + run, cookie + kSameOrigin, "form=" + form_token(run, cookie))
                .fields.at("location"),
            "/ui/schedules/nightly?note=ran");
  EXPECT_TRUE(has(page("/ui/schedules/nightly", cookie), "run now"));
  const std::string search = "/ui/search?queue=default&state=dead";
  EXPECT_TRUE(has(page(search + "&type=test.fail", cookie), "/ui/tasks/" + id));
  EXPECT_TRUE(has(page(search + "&type=other", cookie), "No task matches."));
  EXPECT_TRUE(has(page(search + "&since=2026-01-01T00:00", cookie), "/ui/tasks/" + id));
  EXPECT_TRUE(has(page(search + "&until=2026-01-01T00:00", cookie), "No task matches."));
  const Answer wrong = page(search + "&since=yesterday", cookie);
  EXPECT_TRUE(has(wrong, "since")) << wrong.body;
  EXPECT_EQ(wrong.status, 200);
  EXPECT_TRUE(has(page("/ui/search?queue=default&key=none", cookie), "no task of queue default"));
  const std::string other = login(other_);
  EXPECT_FALSE(has(page("/ui/schedules", other), "nightly"));
  EXPECT_EQ(page("/ui/schedules/nightly", other).status, 404);
  EXPECT_FALSE(has(page(search, other), id));
  EXPECT_EQ(page("/ui/locks", other).status, 403);
  EXPECT_FALSE(has(page("/ui/", other), "/ui/locks"));
}

// Properties that only a browser shows: the cookie, the Origin of forms under the policies of the
// pages, the module, the layout at 375 px, and that the policy refuses nothing and no request goes
// elsewhere.
TEST_F(Ui, ABrowserLogsInRetriesAndLogsOut) {
  if (!std::filesystem::exists("/usr/bin/chromium")) GTEST_SKIP() << "needs Debian's chromium";
  ASSERT_NO_FATAL_FAILURE(start());
  const std::string id =
      dead_task("KeyError: <b>\n" + std::string(64 << 10, 'x') + "\xe2\x80\xae</pre>");
  const support::Finished finished =
      support::run_program({"python3", std::string(ALLOT_SOURCE_DIR) + "/tests/e2e/browser.py",
                            "http://" + port_.address(), all_, id});
  EXPECT_EQ(finished.status, (support::ExitStatus{0, 0})) << finished.out << finished.err;
}

TEST_F(Ui, IsSwitchedOff) {
  ASSERT_NO_FATAL_FAILURE(start("ui = false\n", false));
  EXPECT_EQ(ask("GET /ui/", "Authorization: Bearer " + all_ + "\r\n").status, 404);
}

TEST_F(Ui, IsServedBelowABasePathAndToTheSocketWithoutALogin) {
  ASSERT_NO_FATAL_FAILURE(start("base_path = \"/jobs\"\n", false));
  const auto answer = HttpClient::to_socket(gateway_socket(*daemon_)).ask(get("/jobs/ui/"));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 200) << answer->body;
  EXPECT_TRUE(has(*answer, "href=\"/jobs/ui/failures\"")) << answer->body;
  EXPECT_EQ(answer->body.find("\"/ui/"), std::string::npos);
  EXPECT_EQ(ask("GET /ui/").status, 401) << "not below the base path";
}

}  // namespace
}  // namespace allot::e2e::ui_test
