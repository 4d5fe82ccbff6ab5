// SPDX-License-Identifier: Apache-2.0
// The database's clock is a day or a year ahead for some seconds, and then correct again: tasks
// started by then are not repeated, and everything continues (S57, S58, S60).
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "e2e/daemon.h"
#include "support/stepped_clock.h"

namespace allot::e2e::clock_jump_test {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using support::eventually;

class ClockJump : public testing::Test {
 protected:
  ClockJump() {
    DaemonOptions options{.workers = 3,
                          .queue_keys = "detach_after = \"300ms\"",
                          .more = "[queues.rated]\npartitions = 2\n",
                          .log_level = "info",
                          .start = false};
    options.server = &server_;
    daemon_ = std::make_unique<Daemon>(options);
    daemon_->start();
    wait_ready(*daemon_, 3);
  }
  std::uint64_t ticks() const { return daemon_->number("SELECT submitted FROM schedule"); }
  bool unique_existed() const {
    const auto made = nlohmann::json::parse(daemon_->must(
        {"submit", "default", "test.ok", "", "--unique-key", "k", "--unique-for", "3s", "--json"}));
    return made.at("existed");
  }
  void run_with_lock() const {
    EXPECT_EQ(
        daemon_->allot({"lock", "run", "one", "--wait", "30s", "--", "/bin/true"}).status.code, 0);
  }

  void is_over_when_the_clock_is_right(int days);

  support::SteppedClock clock_;
  support::Database server_{{}, support::Network::kNone, clock_.environment()};
  std::unique_ptr<Daemon> daemon_;
};

void ClockJump::is_over_when_the_clock_is_right(int days) {
  daemon_->must({"queue", "rate", "rated", "--per-second", "50"});
  daemon_->must({"schedule", "add", "s", "@every 1s", "default", "test.ok"});
  const std::string long_one = daemon_->submit("test.gate", "ok " + daemon_->gate());
  ASSERT_TRUE(detached(*daemon_)) << daemon_->log();
  ASSERT_TRUE(eventually([&] { return ticks() > 1; })) << daemon_->log();
  clock_.step_to(hours(24 * days));
  EXPECT_FALSE(unique_existed());
  ASSERT_TRUE(eventually([&] {
    return daemon_->number("SELECT COUNT(*) FROM task_unique WHERE free_at IS NOT NULL") == 1;
  })) << daemon_->log();
  run_with_lock();
  ASSERT_TRUE(eventually([&] {
    return daemon_->number("SELECT TIMESTAMPDIFF(HOUR, created_at, next_run) > 20 FROM schedule") ==
           1;
  })) << daemon_->log();
  clock_.step_to(seconds(0));

  EXPECT_TRUE(unique_existed()) << "its own time begins now";
  run_with_lock();
  const std::uint64_t ahead = ticks();
  EXPECT_TRUE(eventually([&] { return !unique_existed(); }, seconds(30))) << daemon_->log();
  EXPECT_TRUE(eventually([&] { return ticks() > ahead + 2; }, seconds(90))) << daemon_->log();
  EXPECT_TRUE(daemon_->logged("schedule.reset schedule=s"));
  for (int i = 0; i < 20; ++i) daemon_->must({"submit", "rated", "test.ok"});
  EXPECT_TRUE(eventually([&] {
    return daemon_->number(
               "SELECT COUNT(*) FROM task WHERE queue_id ="
               " (SELECT queue_id FROM queue WHERE name = 'rated')") == 0;
  })) << daemon_->log();
  EXPECT_TRUE(detached(*daemon_)) << "the long one runs still, once";
  daemon_->must({"schedule", "pause", "s"});
  daemon_->open_gate();
  // Tasks submitted while the clock was ahead are due then.
  EXPECT_TRUE(eventually([&] {
    return daemon_->count("task_running") == 0 &&
           daemon_->number(
               "SELECT COUNT(*) FROM task WHERE run_key >> 12 < TIMESTAMPDIFF(MICROSECOND,"
               " '2025-01-01', UTC_TIMESTAMP(6) + INTERVAL 1 HOUR)") == 0;
  })) << daemon_->log();
  EXPECT_EQ(daemon_->count("task_attempt") + daemon_->count("task_dead"), 0U) << daemon_->log();
}

TEST_F(ClockJump, JumpOfADayHeals) {
  is_over_when_the_clock_is_right(1);
}

TEST_F(ClockJump, JumpOfAYearHeals) {
  is_over_when_the_clock_is_right(365);
}

}  // namespace
}  // namespace allot::e2e::clock_jump_test
