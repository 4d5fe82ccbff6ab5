// SPDX-License-Identifier: Apache-2.0
// Limits of the storm and its operator: situations that a starting daemon cannot handle.
#include "fault/storm.h"

#include <gtest/gtest.h>

#include <csignal>
#include <memory>

#include "fault/operator.h"
#include "support/eventually.h"

namespace allot::fault {
namespace {

using std::chrono::milliseconds;
using support::eventually;

class StormTest : public testing::Test {
 protected:
  StormTest() {
    draw_.events.clear();
    draw_.actions.clear();
  }
  void begin(bool small_runtime) {
    ClusterOptions options;
    options.hosts = static_cast<unsigned>(draw_.hosts.size());
    options.server = &support::Database::shared();
    options.small_runtime = small_runtime;
    options.host_file = [this](unsigned host, const Place& place) {
      return host_file(draw_, host, 0, place);
    };
    cluster_ = std::make_unique<Cluster>(options);
    meter_ = std::make_unique<Meter>(*cluster_);
    storm_ = std::make_unique<Storm>(*cluster_, *meter_, false);
    operator_ = std::make_unique<Operator>(draw_, *cluster_, *storm_);
    cluster_->start();
  }
  [[nodiscard]] Host& first() { return *cluster_->hosts().front(); }
  [[nodiscard]] bool ready(std::size_t times) {
    return eventually([&] {
      storm_->look_after();
      return first().daemon().times_logged("supervisor.ready") == times;
    });
  }
  void stop() {
    for (const auto& host : cluster_->hosts()) {
      EXPECT_EQ(host->daemon().stop(), (support::ExitStatus{0, 0})) << host->daemon().log();
    }
  }

  Draw draw_ = make_draw(1);
  std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<Meter> meter_;
  std::unique_ptr<Storm> storm_;
  std::unique_ptr<Operator> operator_;
};

TEST_F(StormTest, NoDaemonStartsInAFullRuntimeFolder) {
  begin(true);
  if (!cluster_->small_runtime_trouble().empty()) GTEST_SKIP() << cluster_->small_runtime_trouble();
  Event full;
  full.kind = Kind::kFillRuntime;
  full.length = milliseconds(500);
  storm_->run({full}, milliseconds(1'000));
  storm_->calm();
  EXPECT_EQ(storm_->done().count("razed"), 0U) << storm_->first_death();
  EXPECT_EQ(storm_->done().count("fill_runtime"), 1U);
  EXPECT_TRUE(ready(1)) << first().daemon().log();
  stop();
}

TEST_F(StormTest, RestartedDaemonHasItsGoodFile) {
  Action bad;
  bad.act = Act::kReloadBad;
  draw_.actions = {bad};
  begin(false);
  ASSERT_TRUE(ready(1)) << first().daemon().process().err();
  operator_->begin();
  ASSERT_TRUE(eventually([&] {
    storm_->look_after();
    return first().daemon().logged("reload.refused");
  })) << first().daemon().log();
  first().daemon().process().signal(SIGKILL);
  EXPECT_TRUE(ready(2)) << first().daemon().process().err();
  EXPECT_EQ(storm_->done().at("razed"), 1U);
  EXPECT_EQ(storm_->first_death().rfind("signal 9\n", 0), 0U) << storm_->first_death();
  EXPECT_NE(storm_->first_death().find("reload.refused"), std::string::npos)
      << storm_->first_death();
  stop();
}

}  // namespace
}  // namespace allot::fault
