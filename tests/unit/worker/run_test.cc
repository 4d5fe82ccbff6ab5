// SPDX-License-Identifier: Apache-2.0
#include "worker/run/run.h"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>

#include "base/clock.h"

namespace allot::worker {
namespace {

class OneRun : public testing::Test {
 protected:
  std::unique_ptr<worker::Run> make() {
    return std::make_unique<worker::Run>(
        slot_, lease_, served_, task_,
        worker::Run::Plan{
            .handler = &loaded_, .most = 10, .entry = 3, .time_limit = std::chrono::hours(1)});
  }
  [[nodiscard]] ipc::RunState state() const { return slot_.state(3); }

  std::unique_ptr<ipc::Slot> raw_ = std::make_unique<ipc::Slot>();
  process::SlotWriter slot_{*raw_, -1};
  queue::Lease lease_;
  config::Queue config_;
  ServedQueue served_{{}, &config_};
  queue::Task task_;
  allot_handler handler_{};
  plugin_host::LoadedHandler loaded_{&handler_};
};

TEST_F(OneRun, IsInTheSlotFromItsBeginToItsEnd) {
  {
    const auto run = make();
    EXPECT_EQ(state(), ipc::RunState::kFree);
    run->end();  // nothing to end: the entry may belong to another run
    run->begin(boot_ns());
    EXPECT_EQ(state(), ipc::RunState::kRunning);
    EXPECT_FALSE(run->over_time(boot_ns()));
    EXPECT_TRUE(run->over_time(boot_ns() + 3'601 * kSecond));
    run->returned(true);
    EXPECT_FALSE(run->over_time(boot_ns() + 3'601 * kSecond))
        << "the worker is not killed for it now";
  }
  EXPECT_EQ(state(), ipc::RunState::kFree);
}

// The worker gives up its database connection. An attempt known to the database must be undone by
// the settler; a plain task only runs again.
TEST_F(OneRun, AnExceptionLeavesAWrittenAttemptToBeRefunded) {
  const auto thrown_in = [&](bool announced, bool detached) {
    try {
      const auto run = make();
      if (announced) run->announce();
      run->begin(boot_ns());
      if (detached) run->detach();
      run->returned(true);
      throw std::runtime_error("gave up");
    } catch (const std::runtime_error&) {
    }
    const ipc::RunState left = state();
    slot_.mark(3, process::RunEvent::kEnd);
    return left;
  };
  EXPECT_EQ(thrown_in(false, false), ipc::RunState::kFree);
  EXPECT_EQ(thrown_in(true, false), ipc::RunState::kRefunding);
  EXPECT_EQ(thrown_in(false, true), ipc::RunState::kRefundingDetached);
  EXPECT_EQ(thrown_in(true, true), ipc::RunState::kRefundingDetached);
}

// B3
TEST_F(OneRun, ProgressMovesItsDeadline) {
  handler_.progress_every_ms = 1'000;
  const auto run = make();
  const Nanos now = boot_ns();
  run->begin(now);
  EXPECT_EQ(slot_.hard_deadline_ns(3), now + kSecond);
  run->progress(now + kSecond / 2);
  EXPECT_EQ(slot_.hard_deadline_ns(3), now + kSecond + kSecond / 2);
  EXPECT_EQ(raw_->runs[3].limited_by, static_cast<std::uint32_t>(ipc::Limit::kProgress));
}

}  // namespace
}  // namespace allot::worker
