// SPDX-License-Identifier: Apache-2.0
#include "gateway/access/access.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace allot::gateway::access {
namespace {

// Tokens of clients; a configuration has their hashes.
const std::string kReader = "allot_reader-reader-reader-reader-reader-reader";
const std::string kMailer = "allot_mailer-mailer-mailer-mailer-mailer-mailer";
const std::string kExpired = "allot_expired-expired-expired-expired-expired-e";

config::GatewayToken token(const std::string& name, const std::string& text) {
  config::GatewayToken token;
  token.name = name;
  token.sha256 = hex_of(hash_of(text));
  return token;
}

config::Gateway settings() {
  config::Gateway out;
  out.hosts = {"jobs.example.com"};
  out.tokens = {token("reader", kReader), token("mailer", kMailer), token("old", kExpired)};
  out.tokens[0].read = {"*"};
  out.tokens[1].submit = {"mail", "news"};
  out.tokens[2].read = {"*"};
  out.tokens[2].expires_at = std::chrono::sys_days(std::chrono::year(2020) / 1 / 1);
  return out;
}

// Configuration for a proxy that asks users for a password.
config::Gateway behind_proxy() {
  config::Gateway out = settings();
  out.grant = "none";
  out.trusted_proxies = {"10.0.0.0/8", "unix"};
  out.user_header = "x-user";
  auto& anna = out.users.emplace_back();
  anna.name = "anna@example.com";
  anna.operate = {"mail"};
  return out;
}

http::Head through_tcp(std::vector<http::Field> fields = {},
                       const std::string& from = "127.0.0.1") {
  http::Head head{"GET", "/api/v1/queues", ""};
  head.peer.address = from;
  head.fields = std::move(fields);
  head.fields.push_back({"host", "localhost:8080"});
  return head;
}

http::Head through_socket(std::vector<http::Field> fields = {}) {
  http::Head head = through_tcp(std::move(fields), "");
  head.peer.uid = 1000;
  return head;
}

http::Field bearer(const std::string& text) {
  return {"authorization", "Bearer " + text};
}

// "token:reader r=* s= o=", or "401".
std::string judged(const config::Gateway& gateway, const http::Head& head) {
  const Access::Verdict verdict = Access(gateway).authorize(head);
  if (!verdict.caller) {
    EXPECT_FALSE(verdict.title.empty());
    return std::to_string(verdict.status);
  }
  EXPECT_EQ(verdict.title, "");
  std::string text = verdict.caller->name();
  for (const Role role : {Role::kRead, Role::kSubmit, Role::kOperate}) {
    const Reach& reach = verdict.caller->reach(role);
    text.append(" ").append(name_of(role), 0, 1).append(reach.all ? "=*" : "=");
    for (const std::string& queue : reach.queues) text.append(queue).append(",");
  }
  return text;
}

struct Case {
  std::string_view what;
  http::Head head;
  std::string_view expected;
};

void expect(const config::Gateway& gateway, const std::vector<Case>& cases) {
  for (const Case& one : cases) EXPECT_EQ(judged(gateway, one.head), one.expected) << one.what;
}

TEST(AccessTest, ATokenSaysWhoAndWhat) {
  expect(settings(),
         {{"one of several", through_tcp({bearer(kReader)}), "token:reader r=* s= o="},
          {"another", through_tcp({bearer(kMailer)}), "token:mailer r= s=mail,news, o="},
          {"any case of the scheme", through_tcp({{"authorization", "bEARER " + kReader}}),
           "token:reader r=* s= o="},
          {"from afar", through_tcp({bearer(kReader)}, "192.0.2.1"), "token:reader r=* s= o="},
          {"none", through_tcp(), "401"},
          {"unknown", through_tcp({bearer("allot_x")}), "401"},
          {"empty", through_tcp({bearer("")}), "401"},
          {"its hash", through_tcp({bearer(settings().tokens[0].sha256)}), "401"},
          {"with a space", through_tcp({bearer(" " + kReader)}), "401"},
          {"expired", through_tcp({bearer(kExpired)}), "401"},
          {"another scheme", through_tcp({{"authorization", "Basic " + kReader}}), "401"},
          {"no scheme", through_tcp({{"authorization", kReader}}), "401"},
          {"as a cookie", through_tcp({{"cookie", "token=" + kReader}}), "401"}});
}

TEST(AccessTest, NoTitleHasASecret) {
  http::Head in_url = through_tcp();
  in_url.query = "access_token=" + kExpired;
  for (const auto& head : {through_tcp({bearer(kExpired)}), through_tcp({bearer("allot_secret")}),
                           through_tcp({{"authorization", "Basic secret"}}), in_url}) {
    const std::string title = Access(settings()).authorize(head).title;
    EXPECT_EQ(title.find("secret"), std::string::npos) << title;
    EXPECT_EQ(title.find(kExpired), std::string::npos) << title;
  }
}

TEST(AccessTest, ATokenInAUrlIsRefused) {
  const std::string real = make_token();
  for (const std::string& query :
       std::vector<std::string>{"access_token=x", "a=b&access%5ftoken=x", "q=1&t=" + real,
                                "a=%61llot_" + real.substr(6)}) {
    http::Head head = through_tcp({bearer(kReader)});
    head.query = query;
    EXPECT_EQ(judged(settings(), head), "400") << query;
  }
  for (const char* query : {"", "&&=", "a=%", "a=%4", "confirm=allot_1", "access_token_of"}) {
    http::Head head = through_tcp({bearer(kReader)});
    head.query = query;
    EXPECT_EQ(judged(settings(), head), "token:reader r=* s= o=") << query;
  }
}

TEST(AccessTest, TheHealthNeedsNothingButAKnownHost) {
  http::Head head = through_tcp({}, "192.0.2.1");
  head.path = "/health/live";
  head.fields = {{"host", "rebound.example"}};
  EXPECT_EQ(judged(settings(), head), "421");
  head.fields = {{"host", "192.0.2.9:8080"}};  // like the probe of a pod
  for (const auto& [path, expected] : {std::pair{"/health/live", "anonymous r= s= o="},
                                       {"/health/ready", "anonymous r= s= o="},
                                       {"/health", "401"},
                                       {"/healthy/", "401"},
                                       {"/api/v1/health/live", "401"}}) {
    head.path = path;
    EXPECT_EQ(judged(settings(), head), expected) << path;
  }
  config::Gateway below = settings();
  below.base_path = "/allot";
  head.path = "/allot/health/live";
  EXPECT_EQ(judged(below, head), "anonymous r= s= o=");
}

TEST(AccessTest, TheUnixSocketGrantsWhatItsKeySays) {
  const auto granted = [](const char* word, bool read_only) {
    config::Gateway out = settings();
    out.grant = word;
    out.read_only = read_only;
    return judged(out, through_socket());
  };
  EXPECT_EQ(granted("operate", false), "uid:1000 r=* s=* o=*");
  EXPECT_EQ(granted("submit", false), "uid:1000 r=* s=* o=");
  EXPECT_EQ(granted("read", false), "uid:1000 r=* s= o=");
  EXPECT_EQ(granted("none", false), "401");
  EXPECT_EQ(granted("operate", true), "uid:1000 r=* s= o=");
  EXPECT_EQ(judged(settings(), through_socket({bearer(kMailer)})),
            "token:mailer r= s=mail,news, o=")
      << "who shows a token has what it has";
  EXPECT_EQ(judged(settings(), through_socket({bearer("allot_x")})), "401");
  http::Head unknown = through_socket();
  unknown.peer.uid.reset();
  EXPECT_EQ(judged(settings(), unknown), "401");
}

TEST(AccessTest, AProxyDoesNotPassOnWhatASocketGrants) {
  for (const char* field : {"forwarded", "x-forwarded-for", "x-forwarded-proto"}) {
    EXPECT_EQ(judged(settings(), through_socket({{field, "x"}})), "403") << field;
    EXPECT_EQ(judged(settings(), through_socket({{field, "x"}, bearer(kReader)})), "403") << field;
    config::Gateway none = settings();
    none.grant = "none";
    EXPECT_EQ(judged(none, through_socket({{field, "x"}, bearer(kReader)})),
              "token:reader r=* s= o=");
    EXPECT_EQ(judged(settings(), through_tcp({{field, "x"}, bearer(kReader)})),
              "token:reader r=* s= o=");
  }
}

TEST(AccessTest, OnlyATrustedProxySaysWhichUserAsks) {
  const http::Field anna{"x-user", "anna@example.com"};
  const std::string is_anna = "user:anna@example.com r= s= o=mail,";
  expect(behind_proxy(),
         {{"trusted", through_tcp({anna}, "10.1.2.3"), is_anna},
          {"mapped", through_tcp({anna}, "::ffff:10.1.2.3"), is_anna},
          {"through the socket", through_socket({anna}), is_anna},
          {"not trusted", through_tcp({anna}, "192.0.2.1"), "403"},
          {"this host is not, either", through_tcp({anna}), "403"},
          {"with a token besides", through_tcp({anna, bearer(kReader)}, "192.0.2.1"), "403"},
          {"no such user", through_tcp({{"x-user", "bert"}}, "10.1.2.3"), "403"},
          {"nobody", through_tcp({{"x-user", ""}}, "10.1.2.3"), "403"},
          {"two", through_tcp({anna, {"x-user", "bert"}}, "10.1.2.3"), "400"},
          {"the proxy without a user", through_tcp({}, "10.1.2.3"), "401"},
          {"its own password is not a token",
           through_tcp({anna, {"authorization", "Basic eA=="}}, "10.1.2.3"), is_anna},
          {"a token is more than a user", through_tcp({anna, bearer(kReader)}, "10.1.2.3"),
           "token:reader r=* s= o="},
          {"a wrong one, too", through_tcp({anna, bearer("allot_x")}, "10.1.2.3"), "401"}});
  config::Gateway gateway = behind_proxy();
  gateway.trusted_proxies = {"10.0.0.0/8"};
  EXPECT_EQ(judged(gateway, through_socket({anna})), "403");
  gateway.users.emplace_back().name = "*";
  gateway.users.back().read = {"*"};
  EXPECT_EQ(judged(gateway, through_tcp({{"x-user", "bert"}}, "10.1.2.3")), "user:bert r=* s= o=");
  EXPECT_EQ(judged(gateway, through_tcp({anna}, "10.1.2.3")), is_anna);
  EXPECT_EQ(judged(settings(), through_tcp({anna, bearer(kReader)})), "token:reader r=* s= o=")
      << "without user_header it is a field like any other";
}

TEST(AccessTest, OnlyKnownHostsAreAnswered) {
  for (const auto& [host, expected] : {std::pair{"localhost", "token:reader r=* s= o="},
                                       {"LOCALHOST.:99", "token:reader r=* s= o="},
                                       {"127.0.0.1:8080", "token:reader r=* s= o="},
                                       {"[::1]:8080", "token:reader r=* s= o="},
                                       {"192.0.2.9", "token:reader r=* s= o="},
                                       {"Jobs.Example.com:443", "token:reader r=* s= o="},
                                       {"evil.example", "421"},
                                       {"jobs.example.com.evil.example", "421"},
                                       {"localhost.evil.example", "421"},
                                       {"127.0.0.1.evil.example", "421"},
                                       {"[evil]", "421"},
                                       {"", "421"}}) {
    http::Head head = through_tcp({bearer(kReader)});
    head.fields.back().value = host;
    EXPECT_EQ(judged(settings(), head), expected) << host;
  }
}

TEST(AccessTest, APageOfAnotherSiteIsRefused) {
  const auto with = [](const char* field, const char* value, const char* host) {
    http::Head head = through_socket({{field, value}});
    head.fields.back().value = host;
    return judged(settings(), head);
  };
  const std::string fine = "uid:1000 r=* s=* o=*";
  EXPECT_EQ(with("sec-fetch-site", "same-origin", "localhost"), fine);
  EXPECT_EQ(with("sec-fetch-site", "none", "localhost"), fine) << "typed by a person";
  EXPECT_EQ(with("sec-fetch-site", "same-site", "localhost"), "403");
  EXPECT_EQ(with("sec-fetch-site", "cross-site", "localhost"), "403");
  EXPECT_EQ(with("sec-fetch-site", "", "localhost"), "403");
  EXPECT_EQ(with("origin", "http://localhost:8080", "localhost:8080"), fine);
  EXPECT_EQ(with("origin", "https://jobs.example.com", "Jobs.example.com"), fine);
  EXPECT_EQ(with("origin", "https://jobs.example.com", "jobs.example.com:443"), fine);
  EXPECT_EQ(with("origin", "http://jobs.example.com:80", "jobs.example.com"), fine);
  EXPECT_EQ(with("origin", "https://jobs.example.com:80", "jobs.example.com"), "403");
  EXPECT_EQ(with("origin", "http://localhost:8081", "localhost:8080"), "403");
  EXPECT_EQ(with("origin", "null", "localhost"), "403");
  EXPECT_EQ(with("origin", "https://evil.example", "localhost"), "403");
}

TEST(AccessTest, ReadOnlyLeavesReading) {
  config::Gateway gateway = behind_proxy();
  gateway.read_only = true;
  gateway.users[0].read = {"mail"};
  EXPECT_EQ(judged(gateway, through_tcp({{"x-user", "anna@example.com"}}, "10.0.0.1")),
            "user:anna@example.com r=mail, s= o=");
  EXPECT_EQ(judged(gateway, through_tcp({bearer(kMailer)})), "token:mailer r= s= o=");
}

TEST(AccessTest, ACallerKnowsItsReach) {
  const Caller caller("x", {Reach{true, {}}, Reach{false, {"mail"}}, Reach{}});
  EXPECT_TRUE(caller.may(Role::kRead, "anything"));
  EXPECT_TRUE(caller.may_everywhere(Role::kRead));
  EXPECT_TRUE(caller.may(Role::kSubmit));
  EXPECT_TRUE(caller.may(Role::kSubmit, "mail"));
  EXPECT_FALSE(caller.may(Role::kSubmit, "mails"));
  EXPECT_FALSE(caller.may_everywhere(Role::kSubmit));
  EXPECT_FALSE(caller.may(Role::kOperate));
}

}  // namespace
}  // namespace allot::gateway::access
