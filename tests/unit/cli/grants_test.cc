// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "base/exit_codes.h"
#include "support/process.h"

namespace allot::cli {
namespace {

using support::Finished;

Finished grants(std::vector<std::string> words) {
  words.insert(words.begin(), {ALLOT_PROGRAM, "grants"});
  return support::run_program(std::move(words));
}

TEST(Grants, AreThoseOfTheRoleForTheAccountAndDatabase) {
  const Finished done =
      grants({"reader", "--user", "jobs.ro", "--host", "10.0.%", "--database", "shop_jobs"});
  ASSERT_EQ(done.status.code, kExitOk) << done.err;
  EXPECT_NE(done.out.find("CREATE USER 'jobs.ro'@'10.0.%' IDENTIFIED BY 'change-me';\n"
                          "GRANT SELECT ON shop_jobs.* TO 'jobs.ro'@'10.0.%';\n"),
            std::string::npos)
      << done.out;
  const Finished json = grants({"reader", "--json"});
  EXPECT_NE(json.out.find(R"("user": "allot_reader")"), std::string::npos) << json.out;
  for (const char* role :
       {"worker", "submit", "fair", "lock", "reader", "operator", "fireworq", "wake", "migrate"}) {
    const Finished other = grants({role, "--user", "x", "--database", "d"});
    EXPECT_EQ(other.status.code, kExitOk) << role;
    EXPECT_EQ(other.out.find("allot_migrate"), std::string::npos) << role;
    EXPECT_EQ(other.out.find(" allot."), std::string::npos) << role;
    EXPECT_NE(other.out.find("GRANT "), std::string::npos) << role;
  }
}

TEST(Grants, AreRefusedForAnUnknownRoleAndForNamesThatNeedQuotes) {
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"admin"}, "unknown role 'admin' (worker, submit, fair, lock, reader, operator"},
      {{"reader", "--user", "a'b"}, "--user 'a'b' (letters, digits"},
      {{"reader", "--user", ""}, "--user '' (letters"},
      {{"reader", "--host", "%' --"}, "--host '%' --' (letters"},
      {{"reader", "--database", "a`b"}, "--database 'a`b' (letters, digits, '_', at most 64)"},
      {{"reader", "--database", std::string(65, 'd')}, "--database 'ddd"}};
  for (const auto& [words, message] : cases) {
    const Finished done = grants(words);
    EXPECT_EQ(done.status.code, kExitUsage) << message;
    EXPECT_NE(done.err.find(message), std::string::npos) << done.err;
    EXPECT_EQ(done.out, "");
  }
}

}  // namespace
}  // namespace allot::cli
