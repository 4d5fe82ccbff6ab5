// SPDX-License-Identifier: Apache-2.0
// The gateway is a child next to the workers, which are not affected by it.
#include <gtest/gtest.h>

#include <csignal>
#include <string>

#include "support/eventually.h"
#include "unit/supervisor/allotd.h"

namespace allot::supervisor {
namespace {

using support::ExitStatus;

// One worker, and a ready gateway.
class AllotdGateway : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(daemon_.logged("gateway.ready")) << daemon_.story();
    ASSERT_TRUE(daemon_.logged("worker.ready")) << daemon_.story();
  }

  Allotd daemon_{"gateway=1"};
};

TEST_F(AllotdGateway, IsStartedAgainWhileWorkersStay) {
  daemon_.tell_gateway("exit 1");
  ASSERT_TRUE(daemon_.logged("gateway.ready", 2)) << daemon_.story();
  EXPECT_EQ(daemon_.logs("gateway.died"), 1U) << daemon_.story();
  support::send_signal(daemon_.pid_of("gateway pid="), SIGKILL);
  ASSERT_TRUE(daemon_.logged("gateway.ready", 3)) << daemon_.story();
  EXPECT_EQ(daemon_.logs("worker.start"), 1U) << daemon_.story();
  EXPECT_EQ(daemon_.stop(), (ExitStatus{0, 0})) << daemon_.story();
}

TEST_F(AllotdGateway, IsNotAStray) {
  // The death of a worker makes the supervisor search for strays.
  ASSERT_TRUE(daemon_.tell(0, "exit 0")) << daemon_.story();
  ASSERT_TRUE(daemon_.logged("worker.ready", 2)) << daemon_.story();
  EXPECT_EQ(daemon_.logs("stray.kill"), 0U) << daemon_.story();
  EXPECT_EQ(daemon_.seen("gateway pid="), 1U) << daemon_.story();
}

TEST_F(AllotdGateway, GetsSignals) {
  daemon_.signal(SIGUSR1);
  ASSERT_TRUE(daemon_.saw("gateway usr1")) << daemon_.story();
  daemon_.signal(SIGHUP);
  ASSERT_TRUE(daemon_.saw("gateway hup config")) << daemon_.story();
  EXPECT_EQ(daemon_.seen("gateway pid="), 1U) << daemon_.story();
}

TEST_F(AllotdGateway, AReloadThatFailsLeavesItAlone) {
  daemon_.set("check_config_exit", "78");
  daemon_.signal(SIGHUP);
  ASSERT_TRUE(daemon_.logged("reload.refused")) << daemon_.story();
  EXPECT_EQ(daemon_.seen("gateway hup"), 0U) << daemon_.story();
}

TEST_F(AllotdGateway, ComesAndGoesWithAReload) {
  daemon_.set("gateway", "0");
  daemon_.signal(SIGHUP);
  ASSERT_TRUE(daemon_.logged("gateway.stopped")) << daemon_.story();
  EXPECT_EQ(daemon_.seen("gateway_stopped"), 1U) << daemon_.story();
  daemon_.set("gateway", "1");
  daemon_.signal(SIGHUP);
  ASSERT_TRUE(daemon_.logged("gateway.ready", 2)) << daemon_.story();
  EXPECT_EQ(daemon_.logs("gateway.died"), 0U) << daemon_.story();
}

// Its accepted requests are in its database then, and its clients have closed connections.
TEST_F(AllotdGateway, IsEndedBeforeTheDaemonIs) {
  daemon_.set("gateway_stop_gate", "gone");
  daemon_.tell_gateway("exit 1");  // so that the next one knows the gate
  ASSERT_TRUE(daemon_.logged("gateway.ready", 2)) << daemon_.story();
  daemon_.signal(SIGTERM);
  ASSERT_TRUE(daemon_.saw("leave slot=0")) << daemon_.story();
  ASSERT_TRUE(daemon_.saw("gateway_stopped")) << daemon_.story();
  EXPECT_EQ(daemon_.logs("phase=stopping_database"), 0U) << daemon_.story();
  daemon_.open("gone");
  EXPECT_EQ(daemon_.process().wait(), (ExitStatus{0, 0})) << daemon_.story();
}

TEST_F(AllotdGateway, AStopNowDoesNotWaitForIt) {
  daemon_.tell_gateway("deaf");
  ASSERT_TRUE(daemon_.saw("gateway deaf")) << daemon_.story();
  const pid_t gateway = daemon_.pid_of("gateway deaf");
  EXPECT_EQ(daemon_.stop(SIGQUIT), (ExitStatus{0, 0})) << daemon_.story();
  EXPECT_TRUE(ends(gateway));
}

TEST_F(AllotdGateway, StaysOverAnUpgrade) {
  daemon_.signal(SIGUSR2);
  ASSERT_TRUE(daemon_.logged("supervisor.start ", 2)) << daemon_.story();
  daemon_.signal(SIGHUP);
  ASSERT_TRUE(daemon_.saw("gateway hup config")) << daemon_.story();
  EXPECT_EQ(daemon_.seen("gateway pid="), 1U) << daemon_.story();
  daemon_.tell_gateway("exit 1");
  ASSERT_TRUE(daemon_.logged("gateway.died")) << daemon_.story();
  ASSERT_TRUE(daemon_.logged("gateway.ready", 2)) << daemon_.story();
  EXPECT_EQ(daemon_.stop(), (ExitStatus{0, 0})) << daemon_.story();
}

TEST(AllotdGatewayStart, OneThatCannotStartDelaysNoOther) {
  Allotd daemon("gateway=1 gateway_exit=78");
  ASSERT_TRUE(daemon.logged("supervisor.ready")) << daemon.story();
  ASSERT_TRUE(daemon.logged("gateway.died", 2)) << daemon.story();
  EXPECT_EQ(daemon.stop(), (ExitStatus{0, 0})) << daemon.story();
}

TEST(AllotdGatewayStart, WithoutASectionThereIsNone) {
  Allotd daemon;
  ASSERT_TRUE(daemon.logged("supervisor.ready")) << daemon.story();
  EXPECT_EQ(daemon.logs("gateway."), 0U) << daemon.story();
}

}  // namespace
}  // namespace allot::supervisor
