// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "base/exit_codes.h"
#include "config/settings.h"
#include "gateway/access/access.h"
#include "support/process.h"
#include "support/temp_dir.h"

// allot gateway token: its output is a section of a configuration, and the token is accepted.
namespace allot::cli {
namespace {

using gateway::access::Access;
using gateway::access::Role;

support::Finished allot_gateway(std::vector<std::string> words) {
  words.insert(words.begin(), {ALLOT_PROGRAM, "gateway"});
  return support::run_program(std::move(words), {});
}

TEST(GatewayToken, ItsSectionLetsItIn) {
  const auto made = allot_gateway({"token", "ci", "--read", "*", "--submit", "mail,big.reports",
                                   "--submit", "news", "--expires", "90d"});
  ASSERT_EQ(made.status.code, kExitOk) << made.err;
  const std::string token = made.out.substr(0, made.out.find('\n'));
  EXPECT_EQ(std::count(made.out.begin(), made.out.end(), '_'),
            1 + std::count(token.begin() + 6, token.end(), '_'))
      << "the token is there once";
  const support::TempDir folder;
  const std::string file = folder.path() + "/allot.toml";
  std::ofstream(file) << "[gateway.database]\nuser = \"g\"\n"
                      << made.out.substr(made.out.find('\n'));
  config::LoadOptions load;
  load.file = file;
  const config::Settings settings = config::load(load);
  gateway::http::Head head{"GET", "/", ""};
  head.peer.address = "127.0.0.1";
  head.fields = {{"host", "localhost"}, {"authorization", "Bearer " + token}};
  const auto verdict = Access(settings.gateway.value()).authorize(head);
  ASSERT_TRUE(verdict.caller) << verdict.title;
  EXPECT_EQ(verdict.caller->name(), "token:ci");
  EXPECT_TRUE(verdict.caller->may_everywhere(Role::kRead));
  for (const char* queue : {"mail", "big.reports", "news"}) {
    EXPECT_TRUE(verdict.caller->may(Role::kSubmit, queue)) << queue;
  }
  EXPECT_FALSE(verdict.caller->may(Role::kOperate));
  const auto left = settings.gateway->tokens[0].expires_at.value() -
                    std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  EXPECT_GT(left, std::chrono::hours(24 * 90 - 1));
  EXPECT_LE(left, std::chrono::hours(24 * 90));
}

TEST(GatewayToken, AsJson) {
  const auto made =
      allot_gateway({"token", "a.b", "--operate", "mail", "--expires", "2999-12-31", "--json"});
  ASSERT_EQ(made.status.code, kExitOk) << made.err;
  const auto json = nlohmann::json::parse(made.out);
  EXPECT_EQ(json.at("name"), "a.b");
  const std::string hash = json.at("sha256");
  EXPECT_EQ(hash,
            gateway::access::hex_of(gateway::access::hash_of(json.at("token").get<std::string>())));
  EXPECT_EQ(json.at("section"), "[gateway.tokens.\"a.b\"]\nsha256 = \"" + hash +
                                    "\"\noperate = [\"mail\"]\nexpires = \"2999-12-31\"\n");
}

TEST(GatewayToken, InvalidTokenSectionIsRefused) {
  const auto refused = [](const std::vector<std::string>& words) {
    std::vector<std::string> all{"token"};
    all.insert(all.end(), words.begin(), words.end());
    const auto made = allot_gateway(all);
    EXPECT_EQ(made.status.code, kExitUsage);
    EXPECT_EQ(made.out, "") << "no token";
    return made.err;
  };
  EXPECT_EQ(refused({"a"}),
            "allot: [gateway.tokens.a] has no role; give it read, submit or operate, such as read "
            "= [\"*\"]\n");
  EXPECT_EQ(refused({"a b", "--read", "*"}),
            "allot: [gateway.tokens.a b]: a name has 1 to 63 letters, digits, '_', '-' and '.'\n");
  EXPECT_EQ(refused({"a\"]\n[x]", "--read", "*"}).find("[gateway.tokens.a"), 7U);
  EXPECT_EQ(refused({"a", "--read", "*,mail"}),
            "allot: [gateway.tokens.a] read: '*' is not a queue; write [\"mail\", \"reports\"], or "
            "[\"*\"] for all\n");
  EXPECT_EQ(
      refused({"a", "--read", "m", "--expires", "soon"}),
      "allot: --expires is 'soon'; write a duration, such as 90d, or a date, such as 2027-01-31\n");
  EXPECT_NE(refused({"a", "--read", "m", "--expires", "9999999d"}).find("--expires is"),
            std::string::npos);
}

}  // namespace
}  // namespace allot::cli
