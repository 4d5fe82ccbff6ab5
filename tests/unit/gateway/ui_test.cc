// SPDX-License-Identifier: Apache-2.0
// The dashboard without a server: its writer, its sessions, and its pages.
// Rules: S86, S87.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "gateway/ui/html.h"
#include "gateway/ui/page.h"
#include "gateway/ui/page_functions.h"
#include "gateway/ui/session.h"
#include "gateway/ui/traffic.h"
#include "gateway/ui/words.h"
#include "support/temp_dir.h"
#include "unit/gateway/ui_parts.h"

namespace allot::gateway::ui {
namespace {

using access::Access;
using namespace std::chrono_literals;

const std::string kToken = "allot_reader-reader-reader-reader-reader-reader";
config::GatewayToken token(const std::string& name, const std::string& text) {
  config::GatewayToken token;
  token.name = name;
  token.sha256 = access::hex_of(access::hash_of(text));
  token.read = {"*"};
  return token;
}

config::Gateway with_token(const std::string& name, const std::string& text) {
  config::Gateway gateway;
  gateway.tokens = {token(name, text)};
  return gateway;
}

http::Head with_cookie(const std::string& cookie) {
  http::Head head{"GET", "/ui/", ""};
  head.fields = {{"cookie", cookie}};
  return head;
}

TEST(Html, TextAndAttributesAreEscaped) {
  Html html;
  html.leaf("p", {{"title", "\"><script>"}}, "<img src=x onerror='a'> & more");
  EXPECT_EQ(html.take(),
            "<!doctype html><p title=\"&quot;&gt;&lt;script&gt;\">&lt;img src=x "
            "onerror=&#39;a&#39;&gt; &amp; more</p>");
}

TEST(Html, ControlsMarksOfDirectionAndWhatIsNotUtf8AreReplaced) {
  const std::string replacement = "\xef\xbf\xbd";
  for (const std::string& bad :
       {std::string("\0", 1), std::string("\x1b"), std::string("\x7f"), std::string("\xff"),
        std::string("\xc0\x80"), std::string("\xe2\x80\xae"), std::string("\xe2\x81\xa6")}) {
    const std::string out = escaped_html("a" + bad + "b");
    EXPECT_TRUE(out.starts_with("a" + replacement)) << out;
    EXPECT_TRUE(out.ends_with("b")) << out;
    EXPECT_EQ(out.find(bad), std::string::npos) << out;
  }
  EXPECT_EQ(escaped_html("äöü שלום 漢字 🙂\n\t"), "äöü שלום 漢字 🙂\n\t");
}

TEST(Html, AnAddressIsAPathOfThisHost) {
  for (const char* elsewhere : {"javascript:alert(1)", "//evil.example", "https://evil.example",
                                "/\\evil.example", "data:text/html,x"}) {
    Html html;
    html.leaf("a", {{"href", elsewhere}}, "x");
    EXPECT_EQ(html.take(), "<!doctype html><a href=\"#\">x</a>") << elsewhere;
  }
}

TEST(Session, IsOfATokenThatIsThereNow) {
  const Access access(with_token("ann", kToken));
  const Signer signer("0123456789abcdef0123456789abcdef");
  const auto known = access.token_named("ann");
  ASSERT_TRUE(known);
  const std::string value = signer.session(*known, kNow + 12h);
  EXPECT_EQ(value.find(kToken), std::string::npos);
  const auto head = with_cookie("other=1; allot_session=" + value);
  const auto session = signer.session_of(head, access, kNow);
  ASSERT_TRUE(session);
  EXPECT_EQ(session->caller.name(), "token:ann");
  EXPECT_FALSE(signer.session_of(head, access, kNow + 12h)) << "it is over";
  EXPECT_FALSE(signer.session_of(head, Access(config::Gateway()), kNow)) << "it was revoked";
  const Access renamed(with_token("ann", "allot_another-another-another-another-another"));
  EXPECT_FALSE(signer.session_of(head, renamed, kNow)) << "another token has its name";
  EXPECT_FALSE(Signer("another key").session_of(head, access, kNow));
  EXPECT_FALSE(signer.session_of(with_cookie("allot_session=" + value + "; allot_session=" + value),
                                 access, kNow))
      << "which of the two?";
}

TEST(Session, ChangedOrTruncatedSessionIsInvalid) {
  const Access access(with_token("ann", kToken));
  const Signer signer("0123456789abcdef0123456789abcdef");
  const std::string value = signer.session(*access.token_named("ann"), kNow + 12h);
  for (std::size_t i = 0; i < value.size(); ++i) {
    std::string changed = value;
    changed[i] = changed[i] == '1' ? '2' : '1';
    EXPECT_FALSE(signer.session_of(with_cookie("allot_session=" + changed), access, kNow)) << i;
    EXPECT_FALSE(
        signer.session_of(with_cookie("allot_session=" + value.substr(0, i)), access, kNow));
  }
}

TEST(Session, AnExpiredTokenHasNone) {
  config::Gateway gateway = with_token("ann", kToken);
  gateway.tokens[0].expires_at = std::chrono::sys_days(std::chrono::year(2020) / 1 / 1);
  EXPECT_FALSE(Access(gateway).token_named("ann"));
}

TEST(FormToken, IsOfItsCallerSessionAndDay) {
  const Signer signer("0123456789abcdef0123456789abcdef");
  const std::string text = signer.form_token("token:ann", "1", kNow);
  EXPECT_TRUE(signer.is_form_token(text, "token:ann", "1", kNow));
  EXPECT_TRUE(signer.is_form_token(text, "token:ann", "1", kNow + 24h));
  EXPECT_FALSE(signer.is_form_token(text, "token:ann", "1", kNow + 48h));
  EXPECT_FALSE(signer.is_form_token(text, "token:bob", "1", kNow));
  EXPECT_FALSE(signer.is_form_token(text, "token:ann", "2", kNow));
  EXPECT_FALSE(signer.is_form_token("", "token:ann", "1", kNow));
}

TEST(CookieKey, IsMadeOnceAndForThisAccountAlone) {
  const support::TempDir folder;
  std::string why;
  const std::string key = cookie_key("", folder.path(), why);
  EXPECT_EQ(key.size(), 32U) << why;
  EXPECT_EQ(cookie_key("", folder.path(), why), key);
  struct stat status {};
  ASSERT_EQ(::stat((folder / "cookie.key").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  EXPECT_EQ(cookie_key(folder.write("short", "abc"), folder.path(), why), "");
  EXPECT_NE(why, "");
}

TEST(Next, IsAPathBelowUi) {
  EXPECT_EQ(next_of("/a/ui/tasks/1?x=2", "/a"), "/a/ui/tasks/1?x=2");
  for (const char* elsewhere :
       {"", "//evil.example/ui/", "https://evil.example", "/a/api/v1/queues", "/a/ui", "/ui/x",
        "/a/ui/../api", "/a/ui/%2e%2e/api", "/a/ui//evil", "/a/ui/\\evil",
        "/a/ui/x\r\nSet-Cookie: a", "/a/ui/\xc3\xa4"}) {
    EXPECT_EQ(next_of(elsewhere, "/a"), "/a/ui/") << elsewhere;
  }
}

TEST(Words, AreForPeople) {
  EXPECT_EQ(number(0), "0");
  EXPECT_EQ(number(1'234'567), "1,234,567");
  EXPECT_EQ(count_text(json{{"at_least", 10'000}}), "10,000+");
  EXPECT_EQ(span(90s), "1 min");
  EXPECT_EQ(runtime(1'500), "1.5 ms");
  EXPECT_EQ(shell_word("mail"), "mail");
  EXPECT_EQ(shell_word("a'; rm -rf ~"), R"('a'\''; rm -rf ~')");
  EXPECT_EQ(moment("2026-11-28T15:42:23.123456Z"), moment("2026-11-28T15:42:23Z"));
  EXPECT_FALSE(moment("yesterday"));
}

TEST(Traffic, SaysHowLongAQueueTakes) {
  json items = json::array();
  for (int ago = 2; ago < 60; ago += 2) {
    items.push_back(minute(kNow - std::chrono::minutes(ago), 20, 0, 100 + ago));
  }
  const Document minutes = document({{"items", items}});
  const Traffic traffic = traffic_of(&minutes, kNow).at("mail");
  EXPECT_DOUBLE_EQ(traffic.recent_out, 10);
  EXPECT_DOUBLE_EQ(traffic.recent_in, 20);
  EXPECT_EQ(traffic.backlog, 102U);
  EXPECT_TRUE(traffic.estimated);
  EXPECT_EQ(traffic.time_to_empty(), "grows");
  EXPECT_EQ(traffic.error_rate(), 0.0);
}

// The same for schedules, locks and routes.
void add_of_others(json& task, const std::string& text) {
  for (const char* name :
       {"in_words", "expression", "zone", "late", "overlap", "last_run", "next_run", "from", "to",
        "set_at", "unique_key_free_at", "started_at", "worker", "ended_at"}) {
    task[name] = text;
  }
  task["last_ticks"] =
      json::array({{{"tick", text}, {"at", text}, {"task", text}, {"reason", text}}});
  const json holder{{"slot", 1}, {"host", text}, {"pid", 7}, {"held_ms", 5}, {"remaining_ms", 5}};
  task["held"] = json::array({holder});
  task["waiting"] = json::array({{{"host", text}, {"pid", 7}, {"waiting_ms", 1}, {"live", true}}});
}

constexpr const char* kTextFields =
    "task queue type error detail fault cause due_at died_at unique_key running_on traceparent "
    "payload name group at newest_task newest_died_at subject since requested_by actor source "
    "action "
    "reason to_queue check text fix level checked_at host previous_version previous_configuration "
    "instance version configuration taken_at";

// Each text of a document is hostile; the resulting page has only its own elements.
json hostile(const std::string& text) {
  const json attempt{{"attempt", 1},    {"retries_since", 0}, {"ended_at", text}, {"cause", text},
                     {"error", text},   {"detail", text},     {"fault", text},    {"worker", text},
                     {"runtime_us", 5}, {"cpu_us", nullptr},  {"max_rss_kib", 9}};
  json task{{"state", "dead"},
            {"payload_truncated", false},
            {"payload_size", 1},
            {"attempts_charged", 1},
            {"retried", 3},
            {"dead", 1},
            {"tasks", 3},
            {"tasks_at_least", true},
            {"kind", "dead"},
            {"paused", {{"since", text}, {"reason", text}}},
            {"cancel_requested", {{"at", text}, {"reason", text}}},
            {"reasons", json::array({{{"text", text}}})},
            {"steps", json::array({attempt})},
            {"pools", json::array({{{"name", text}, {"queues", json::array({text})}}})},
            {"workers", json::array({{{"pool", text},
                                      {"state", text},
                                      {"queue", text},
                                      {"running", json::array({{{"task", text},
                                                                {"type", text},
                                                                {"queue", text},
                                                                {"progress", 5U},
                                                                {"progress_text", text}}})}}})},
            {"attempts", json::array({attempt, attempt})}};
  std::istringstream fields(kTextFields);
  for (std::string field; fields >> field;) task[field] = text;
  add_of_others(task, text);
  task["items"] = json::array({task});
  return task;
}

std::vector<std::string> elements_of(const std::string& html) {
  std::vector<std::string> elements;
  for (std::size_t at = 0; (at = html.find('<', at)) != std::string::npos; ++at) {
    elements.push_back(html.substr(at, html.find_first_of(" >", at) - at));
  }
  return elements;
}

TEST(Pages, HostileTextsBecomeNothingButText) {
  const std::string attack =
      "\"'><script>alert(1)</script><img src=x onerror=alert(1)>\xe2\x80\xae" +
      std::string("\0", 1) + "</pre></section>" + std::string(64 << 10, 'x');
  for (const Page& page : pages()) {
    View plain{visit()};
    View view{visit()};
    for (const char* name : {"queue", "id", "action", "schedule", "lock"}) {
      plain.visit.path[name] = "x";
      view.visit.path[name] = attack;
    }
    for (const char* name :
         {"queue", "type", "note", "refresh", "group", "since", "until", "cursor"}) {
      view.visit.query[name] = attack;
      plain.visit.query[name] = "x";
    }
    for (int i = 0; i < 7; ++i) {
      json harmless = hostile("x");
      harmless["payload"] = "\x01";  // not offered for editing either
      plain.documents.push_back(document(harmless));
      view.documents.push_back(document(hostile(attack)));
    }
    const auto text_of_page = [&](const View& from) {
      return framed(from.visit, page.section, page.title(from.visit),
                    [&](Html& html) { page.render(from, html); });
    };
    const std::string html = text_of_page(view);
    EXPECT_EQ(elements_of(html), elements_of(text_of_page(plain))) << page.path;
    EXPECT_EQ(html.find("<script>"), std::string::npos) << page.path;
    EXPECT_EQ(html.find("onerror=alert(1)>"), std::string::npos) << page.path;
    EXPECT_EQ(html.find('\0'), std::string::npos) << page.path;
    EXPECT_EQ(html.find(" style="), std::string::npos) << page.path;
    for (const char* address : {"href=\"//", "href=\"java", "src=\"//"}) {
      EXPECT_EQ(html.find(address), std::string::npos) << page.path;
    }
  }
}

// A failing schedule, and a search result for a unique key.
TEST(Pages, HostileTextsOfFewPagesAreTextToo) {
  const std::string attack = "\"><script>alert(1)</script>";
  for (const Page& page : pages()) {
    if (page.path != "search" && page.path != "schedules/{schedule}") continue;
    View view{visit()};
    view.visit.path["schedule"] = attack;
    view.visit.query = {{"queue", attack}, {"key", attack}};
    json body = hostile(attack);
    body["error"] = {{"since", attack}, {"text", attack}};
    for (int i = 0; i < 2; ++i) view.documents.push_back(document(body));
    Html html;
    page.render(view, html);
    const std::string text = html.take();
    EXPECT_NE(text.find("&lt;script&gt;"), std::string::npos) << page.path;
    EXPECT_EQ(text.find("<script>"), std::string::npos) << page.path;
  }
}

TEST(Pages, HostileTextsOfAFormAreTextToo) {
  const std::string attack = "\"'></textarea><script>alert(1)</script>";
  for (const Action& action : actions()) {
    View view{visit()};
    for (const char* name : {"queue", "id", "action", "schedule", "lock"}) {
      view.visit.path[name] = attack;
    }
    view.visit.target = attack;
    view.documents = {document(hostile(attack)), Document(200, json(), attack)};
    Html html;
    render_confirmation(action, view, html);
    const std::string text = html.take();
    EXPECT_EQ(text.find("<script>"), std::string::npos) << action.path;
    EXPECT_EQ(text.find("'></textarea>"), std::string::npos) << action.path;
  }
}

TEST(Pages, AReaderIsOfferedNoAction) {
  access::Reach all{true, {}};
  for (const Page& page : pages()) {
    View view{visit()};
    view.visit.caller = access::Caller("token:reader", {all, access::Reach(), access::Reach()});
    for (int i = 0; i < 6; ++i) view.documents.push_back(document(hostile("x")));
    Html html;
    page.render(view, html);
    const std::string text = html.take();
    EXPECT_EQ(text.find("method=\"post\""), std::string::npos) << page.path;
    EXPECT_EQ(text.find("danger"), std::string::npos) << page.path;
  }
}

TEST(Pages, DocumentsOfAnotherShapeAreNoDefect) {
  for (const Page& page : pages()) {
    for (const json& body : {json(), json::array(), json::object(), json("x"), json{{"items", "x"}},
                             json{{"items", json::array({1, "x", json()})}}}) {
      View view{visit()};
      for (int i = 0; i < 7; ++i) view.documents.push_back(document(body));
      EXPECT_NO_THROW({
        (void)framed(view.visit, page.section, page.title(view.visit),
                     [&](Html& html) { page.render(view, html); });
        if (page.further != nullptr) (void)page.further(view);
      }) << page.path
         << " " << body;
    }
  }
}

TEST(Types, ChartsHaveTheStepsOfTheirTime) {
  const auto times = [](std::uint64_t p50, const json& p99) {
    return json{{"count", 1}, {"p50_us", p50}, {"p99_us", p99}};
  };
  const auto step = [&](Seconds at, std::uint64_t p50) {
    return json{{"at", minute_at(at)}, {"runtime", times(p50, 2'000'000)}, {"wait", json()}};
  };
  json type{{"queue", "mail"},
            {"type", "mail.send"},
            {"done", 9},
            {"retried", 1},
            {"dead", 0},
            {"runtime", times(1'000'000, 2'000'000)},
            {"wait", times(0, json())}};
  type["steps"] = json::array({step(kNow - 200h, 1), step(kNow, 1'000'000), step(kNow - 1h, 0)});
  View view{visit()};
  view.documents.push_back(document({{"items", json::array({type})}, {"omitted", 3}}));
  const auto deployed = [](Seconds at, const json& former) {
    return json{{"host", "host-a"},
                {"since", minute_at(at)},
                {"version", "2"},
                {"previous_version", former}};
  };
  view.documents.push_back(
      document({{"items", json::array({deployed(kNow, "1"), deployed(kNow - 1h, json()),
                                       deployed(kNow - 99h, "1")})}}));
  Html html;
  render_types(view, html);
  const std::string text = html.take();
  EXPECT_NE(text.find("<polyline class=\"in\" points=\"114.8,23.0 120.0,12.0\">"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("<polyline class=\"in\" points=\"\">"), std::string::npos) << "no waits";
  EXPECT_NE(text.find(">10 %<"), std::string::npos);
  EXPECT_NE(text.find(">2.0 s<"), std::string::npos);
  EXPECT_NE(text.find("3 types with fewer"), std::string::npos);
  EXPECT_NE(text.find("<line class=\"mark\" x1=\"120.0\" y1=\"0\" x2=\"120.0\" y2=\"24\">"
                      "<title>host-a: version 2, before 1, "),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("before 1", text.find("before 1") + 1), text.rfind("before 1"))
      << "one mark on each of the two charts";
  view.visit.query["hours"] = "192";
  EXPECT_EQ(types_requests(view.visit)[0].target, "/api/v1/types?limit=100&hours=192&step=8");
  view.visit.query["hours"] = "9999&x=1";
  EXPECT_EQ(types_requests(view.visit)[0].target, "/api/v1/types?limit=100&hours=24&step=1");
}

json running_host(const std::string& host, bool silent, std::uint64_t running_ms) {
  const json task{{"task", "id-of-" + host},  {"type", "mail.send"},
                  {"queue", "mail"},          {"attempt", 1},
                  {"running_ms", running_ms}, {"detached", false},
                  {"progress", 40U},          {"progress_text", "importing"}};
  const json worker{{"slot", 3},
                    {"pid", 47},
                    {"pool", "default"},
                    {"state", "running"},
                    {"queue", "mail"},
                    {"partition", 7},
                    {"database_unreachable", false},
                    {"stale_configuration", true},
                    {"running", json::array({task})}};
  return {{"host", host},
          {"instance", "default"},
          {"age_ms", 1'500},
          {"silent", silent},
          {"version", "0.1.0"},
          {"configuration", "0123456789abcdef"},
          {"omitted", 0},
          {"workers", json::array({worker})},
          {"pools", json::array({{{"name", "default"}, {"workers", 4}, {"queues", {"mail"}}}})}};
}

TEST(Running, LongRunningTasksComeFirst) {
  View view{visit()};
  view.documents.push_back(document(
      {{"items", json::array({running_host("short", false, 100), running_host("long", false, 9'000),
                              running_host("gone", true, 9'000)})}}));
  view.documents.push_back(document(
      {{"items", json::array({{{"queue", "mail"},
                               {"type", "mail.send"},
                               {"runtime",
                                {{"count", 20}, {"p50_us", 400'000}, {"p99_us", 2'000'000}}}}})}}));
  Html html;
  render_running_now(view, html);
  const std::string text = html.take();
  const std::size_t first = text.find(">id-of-long<");
  const std::size_t second = text.find(">id-of-short<");
  EXPECT_LT(first, second);
  EXPECT_NE(second, std::string::npos);
  EXPECT_EQ(text.find("id-of-gone"), std::string::npos) << "its running tasks are unknown";
  EXPECT_NE(text.find("10.5 s"), std::string::npos) << "with its age: " << text;
  EXPECT_NE(text.find("state bad"), std::string::npos);
  EXPECT_EQ(text.find("state bad"), text.rfind("state bad")) << "only one is out of the usual";
  EXPECT_NE(text.find("have not written for 150 s: 1"), std::string::npos);
}

TEST(Workers, AHostThatIsSilentShowsNoWorkers) {
  View view{visit()};
  view.documents.push_back(document(
      {{"items", json::array({running_host("here", false, 1), running_host("gone", true, 1)})}}));
  Html html;
  render_workers(view, html);
  const std::string text = html.take();
  EXPECT_NE(text.find(">id-of-here<"), std::string::npos);
  EXPECT_NE(text.find("former configuration"), std::string::npos);
  EXPECT_EQ(text.find(">id-of-gone<"), std::string::npos);
  EXPECT_NE(text.find("silent"), std::string::npos);
}

TEST(Pages, APathIsFoundByItsParts) {
  api::Values values;
  EXPECT_TRUE(matches("queues/{queue}/dead", "queues/a%2Fb/dead", values));
  EXPECT_EQ(values.at("queue"), "a/b");
  EXPECT_FALSE(matches("queues/{queue}", "queues/", values));
  EXPECT_FALSE(matches("queues/{queue}", "queues/a/b", values));
}

}  // namespace
}  // namespace allot::gateway::ui
