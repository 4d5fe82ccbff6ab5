// SPDX-License-Identifier: Apache-2.0
// The record of an instance's programs is written when it changes, and only then.
#include "db/queue/fixture.h"
#include "queue/minutes/instances.h"
#include "queue/minutes/minute_store.h"

namespace allot::queue {
namespace {

class DeploymentTest : public QueueTest {
 protected:
  void runs(const std::string& version, const std::string& configuration,
            const std::string& host = "host-a") {
    put_deployment(observer_, {1, 2, host, "default", 3}, version, configuration);
  }
  std::vector<Deployment> listed() { return list_deployments(observer_, 24); }
};

TEST_F(DeploymentTest, EachChangeIsOneRow) {
  runs("1", "a");
  runs("1", "a");
  runs("1", "b");
  runs("2", "b");
  runs("2", "b");
  runs("1", "a", "host-b");
  runs("2", "a");
  std::string all;
  for (const Deployment& one : listed()) {
    all += one.host + " " + one.previous_version.value_or("-") +
           one.previous_configuration.value_or("-") + " " + one.version + one.configuration + "\n";
  }
  EXPECT_EQ(all,
            "host-a 2b 2a\n"
            "host-b -- 1a\n"
            "host-a 1b 2b\n"
            "host-a 1a 1b\n"
            "host-a -- 1a\n");
}

TEST_F(DeploymentTest, AreKeptForThirtyDays) {
  runs("1", "a");
  observer_.execute("UPDATE deployment SET since = since - INTERVAL 29 DAY WHERE host = 'host-a'");
  purge_minutes(observer_);
  EXPECT_TRUE(listed().empty());
  EXPECT_EQ(list_deployments(observer_, kDeploymentsKept).size(), 1U);
  observer_.execute("UPDATE deployment SET since = since - INTERVAL 2 DAY WHERE host = 'host-a'");
  purge_minutes(observer_);
  EXPECT_EQ(number("SELECT COUNT(*) FROM deployment"), 0U);
  runs("2", "a");
  ASSERT_EQ(listed().size(), 1U);
  EXPECT_FALSE(listed()[0].previous_version) << "its former version is unknown";
}

}  // namespace
}  // namespace allot::queue
