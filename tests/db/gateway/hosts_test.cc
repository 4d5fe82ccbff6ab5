// SPDX-License-Identifier: Apache-2.0
// Snapshots of hosts for viewers: a missing right costs freshness only, other errors are reported.
#include "db/gateway/site.h"
#include "queue/minutes/instances.h"

namespace allot::gateway::ui {
namespace {

class HostsTest : public SiteTest {
 protected:
  void TearDown() override {
    observer_.execute("SET GLOBAL read_only = 0");
    observer_.execute("DROP USER IF EXISTS viewer@localhost");
  }
  // The gateway with an account that has only this right.
  void use_account(const std::string& right) {
    observer_.execute("CREATE USER viewer@localhost");
    observer_.execute("GRANT " + right + " ON " + name_ + ".* TO viewer@localhost");
    api::Service service = this->service();
    service.database.user = "viewer";
    restart(service);
  }
};

TEST_F(HostsTest, AnAccountThatOnlyReadsSeesThem) {
  queue::put_snapshot(observer_, {7, 1, "host-a", "test", 12}, "{}");
  use_account("SELECT");
  const auto answered = get("/api/v1/workers");
  EXPECT_EQ(answered.status(), 200U) << answered;
  EXPECT_NE(answered.response.body.find("host-a"), std::string::npos) << answered;
  EXPECT_EQ(page("/ui/").response.body.find("The gateway cannot use"), std::string::npos);
}

TEST_F(HostsTest, AReadOnlyServerIsNamedOnTheOverview) {
  use_account("ALL");
  EXPECT_EQ(get("/api/v1/workers").status(), 200U);
  observer_.execute("SET GLOBAL read_only = 1");
  EXPECT_TRUE(support::eventually([&] { return get("/api/v1/workers").status() == 503U; }));
  const auto named = [&] {
    const std::string text = page("/ui/").response.body;
    return text.find("The gateway cannot use the database: the database is read-only") !=
           std::string::npos;
  };
  EXPECT_TRUE(support::eventually(named)) << page("/ui/");
}

}  // namespace
}  // namespace allot::gateway::ui
