// SPDX-License-Identifier: Apache-2.0
// Rule: S92.
#include "gateway/access/login_code.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <string>

#include "base/error.h"
#include "gateway/access/access.h"
#include "support/temp_dir.h"

namespace allot::gateway::access {
namespace {

using namespace std::chrono_literals;

const std::chrono::sys_seconds kNow{std::chrono::seconds(1'790'000'000)};

TEST(LoginCode, IsTakenOnce) {
  const support::TempDir folder;
  const std::string code = make_login_code(folder.path(), "demo", kNow);
  EXPECT_EQ(code.size(), 32U);
  EXPECT_FALSE(take_login_code(folder.path(), "", kNow));
  EXPECT_FALSE(take_login_code(folder.path(), std::string(32, '0'), kNow));
  EXPECT_EQ(take_login_code(folder.path(), code, kNow + 59s), "demo") << "a wrong code takes none";
  EXPECT_FALSE(take_login_code(folder.path(), code, kNow + 59s));
}

TEST(LoginCode, LastsAMinute) {
  const support::TempDir folder;
  const std::string code = make_login_code(folder.path(), "demo", kNow);
  EXPECT_FALSE(take_login_code(folder.path(), code, kNow + 60s));
  EXPECT_FALSE(take_login_code(folder.path(), code, kNow - 1s)) << "the clock was set back";
  EXPECT_TRUE(take_login_code(folder.path(), code, kNow));
}

TEST(LoginCode, ReplacesTheOneBefore) {
  const support::TempDir folder;
  const std::string first = make_login_code(folder.path(), "demo", kNow);
  const std::string second = make_login_code(folder.path(), "other", kNow);
  EXPECT_FALSE(take_login_code(folder.path(), first, kNow));
  EXPECT_EQ(take_login_code(folder.path(), second, kNow), "other");
}

TEST(LoginCode, IsForTheAccountAloneAndNotInTheFile) {
  const support::TempDir folder;
  const std::string code = make_login_code(folder.path(), "demo", kNow);
  struct stat status {};
  ASSERT_EQ(::stat((folder / "login.code").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  EXPECT_EQ(support::read_file(folder / "login.code").find(code), std::string::npos);
  EXPECT_THROW((void)make_login_code(folder / "nowhere", "demo", kNow), Error);
  for (const char* text : {"", "x", "x 1 demo", "\n"}) {
    (void)folder.write("login.code", text);
    EXPECT_FALSE(take_login_code(folder.path(), code, kNow)) << text;
  }
}

http::Head from(const std::string& address, const std::string& host, const http::Field& more) {
  http::Head head{"POST", "/ui/login", ""};
  head.peer.address = address;
  head.fields = {{"host", host}, more};
  return head;
}

TEST(LoginCode, IsForABrowserOfThisHost) {
  config::Gateway settings;
  settings.trusted_proxies = {"127.0.0.9"};
  const Access access(settings);
  const http::Field none{"x", "y"};
  for (const char* host : {"localhost", "localhost:8080", "127.0.0.1:8080", "[::1]:8080"}) {
    EXPECT_TRUE(access.is_at_this_host(from("127.0.0.1", host, none))) << host;
  }
  EXPECT_TRUE(access.is_at_this_host(from("::1", "localhost", none)));
  EXPECT_FALSE(access.is_at_this_host(from("192.0.2.1", "localhost", none)));
  EXPECT_FALSE(access.is_at_this_host(from("", "localhost", none))) << "the unix socket";
  EXPECT_FALSE(access.is_at_this_host(from("127.0.0.1", "jobs.example.com", none)));
  EXPECT_FALSE(access.is_at_this_host(from("127.0.0.9", "localhost", none))) << "a proxy";
  for (const char* name :
       {"forwarded", "x-forwarded-for", "x-forwarded-proto", "via", "x-real-ip"}) {
    EXPECT_FALSE(access.is_at_this_host(from("127.0.0.1", "localhost", {name, "z"}))) << name;
  }
}

}  // namespace
}  // namespace allot::gateway::access
