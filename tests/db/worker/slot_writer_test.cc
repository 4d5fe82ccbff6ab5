// SPDX-License-Identifier: Apache-2.0
#include "process/slot_writer.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "db/worker/write_run.h"
#include "support/slot_runs.h"

namespace allot::worker {
namespace {

struct Written {
  std::unique_ptr<ipc::Slot> raw = std::make_unique<ipc::Slot>();
  process::SlotWriter slot{*raw, -1};
};

TEST(SlotWriter, ALongTypeIsCutAndStaysText) {
  Written written;
  queue::Task task;
  task.type = std::string(200, 'x');
  begin_run(written.slot, task, 1, 10, 0, 0);
  EXPECT_EQ(std::string(written.raw->runs[0].type), std::string(ipc::kTypeSize - 1, 'x'));
}

TEST(SlotWriter, TheIdOfATriedTaskIsItsFirstKey) {
  Written written;
  queue::Task task;
  task.key = {1, 500};
  task.first_key = 100;
  begin_run(written.slot, task, 2, 10, 0, 0);
  EXPECT_EQ(written.raw->runs[0].first_key, 100U);
  EXPECT_EQ(written.raw->runs[0].run_key, 500U);
  end_run(written.slot);
  EXPECT_EQ(support::runs_in(*written.raw), 0U);
}

// The time of a slow database after the handler does not count as the task's: the worker is not
// killed for it.
TEST(SlotWriter, OnceTheHandlerHasReturnedNothingIsToBeKilled) {
  Written written;
  written.slot.begin_lease({1, 2}, "q", true);
  EXPECT_EQ(written.raw->exclusive, 1U);
  begin_run(written.slot, {}, 1, 10, 5, 6, ipc::Limit::kProgress);
  written.slot.move_deadline(0, 7, ipc::Limit::kTime);
  EXPECT_EQ(written.slot.hard_deadline_ns(0), 7U);
  EXPECT_EQ(written.raw->runs[0].limited_by, static_cast<std::uint32_t>(ipc::Limit::kTime));
  EXPECT_TRUE(ipc::runs_under_lease(*written.raw));
  EXPECT_TRUE(written.slot.mark(0, process::RunEvent::kReturn));
  EXPECT_FALSE(ipc::in_handler(written.slot.state(0)));
  EXPECT_TRUE(ipc::at_work(written.slot.state(0))) << "a death is still the task's";
  EXPECT_FALSE(ipc::runs_under_lease(*written.raw));
  EXPECT_TRUE(written.slot.mark(0, process::RunEvent::kEnd));
  EXPECT_FALSE(ipc::at_work(written.slot.state(0)));
}

TEST(SlotWriter, UnknownTaskChangesNothing) {
  Written written;
  EXPECT_FALSE(written.slot.mark(0, process::RunEvent::kEnd));
  begin_run(written.slot, {}, 1, 10, 5, 6);
  EXPECT_FALSE(written.slot.mark(0, process::RunEvent::kFinish));
  EXPECT_EQ(written.slot.state(0), ipc::RunState::kRunning);
}

TEST(SlotWriter, TheRingOfFinishedTasksIsNeverOverrun) {
  Written written;
  for (std::uint64_t i = 0; i < ipc::kMaxFinished + 10; ++i) {
    written.slot.add_finished({{1, i}, std::nullopt});
  }
  EXPECT_EQ(written.raw->finished_count, ipc::kMaxFinished);
  written.slot.clear_finished();
  EXPECT_FALSE(ipc::needs_settling(*written.raw));
}

// Each has an entry of its own.
TEST(SlotWriter, SeveralRunAndEndInAnyOrder) {
  Written written;
  const auto begin = [&](std::size_t entry) {
    begin_run(written.slot, {}, 1, 10, 5, 6, ipc::Limit::kTime, entry);
  };
  const auto& raw = *written.raw;
  for (const std::size_t entry : {2U, 0U, 1U}) begin(entry);
  EXPECT_EQ(support::runs_in(raw), 3U);
  end_run(written.slot, 1);
  EXPECT_EQ(support::runs_in(raw), 2U);
  EXPECT_EQ(raw.run_states[1].load(), ipc::RunState::kFree);
  return_run(written.slot, process::RunEvent::kRefund, 2);
  EXPECT_EQ(raw.run_states[2].load(), ipc::RunState::kRefunding);
  EXPECT_EQ(static_cast<ipc::WorkerState>(raw.state.load()), ipc::WorkerState::kRunning);
  begin(1);
  for (const std::size_t entry : {0U, 1U, 2U}) end_run(written.slot, entry);
  EXPECT_EQ(support::runs_in(raw), 0U);
  EXPECT_EQ(static_cast<ipc::WorkerState>(raw.state.load()), ipc::WorkerState::kLeasing);
}

// A task that continues from another queue does not belong to a worker killed with the present
// lease.
TEST(SlotWriter, ADetachedTaskIsOfTheLeaseThatItLeft) {
  Written written;
  written.slot.begin_lease({1, 2}, "first", false);
  begin_run(written.slot, {}, 1, 10, 5, 6, ipc::Limit::kTime, 3);
  EXPECT_TRUE(written.slot.mark(3, process::RunEvent::kDetach));
  written.slot.begin_lease({4, 5}, "second", true);
  EXPECT_EQ(written.raw->runs[3].queue_id, 1U);
  EXPECT_EQ(written.raw->runs[3].partition_no, 2U);
  EXPECT_EQ(std::string(written.raw->runs[3].queue_name), "first");
  EXPECT_FALSE(ipc::runs_under_lease(*written.raw));
  EXPECT_TRUE(ipc::in_handler(written.slot.state(3)));
}

TEST(SlotWriter, FinishedTaskStaysInTheRing) {
  Written written;
  const auto task = [](std::uint64_t key) { return queue::Finished{{1, key}, std::nullopt}; };
  for (std::uint64_t key = 1; key <= 5; ++key) written.slot.add_finished(task(key));
  const std::vector<queue::Finished> acked{task(4), task(1), task(9)};
  written.slot.drop_finished(acked);
  ASSERT_EQ(written.raw->finished_count, 3U);
  EXPECT_EQ(written.raw->finished[0].run_key, 2U);
  EXPECT_EQ(written.raw->finished[1].run_key, 3U);
  EXPECT_EQ(written.raw->finished[2].run_key, 5U);
}

TEST(SlotWriter, GuardsNestAndBeatAtTheirEnd) {
  Written written;
  EXPECT_FALSE(written.slot.guarded());
  {
    const process::SlotWriter::Guard outer(written.slot);
    { const process::SlotWriter::Guard inner(written.slot); }
    EXPECT_TRUE(written.slot.guarded());
    written.raw->heartbeat_ns = 0;
  }
  EXPECT_FALSE(written.slot.guarded());
  EXPECT_GT(written.raw->heartbeat_ns, 0U);
}

TEST(SlotWriter, IsReadyOnceItIsIdle) {
  Written written;
  written.slot.set_state(ipc::WorkerState::kConnecting);
  EXPECT_EQ(written.raw->first_job_done, 0U);
  written.slot.set_state(ipc::WorkerState::kIdle);
  EXPECT_EQ(written.raw->first_job_done, 1U);
}

}  // namespace
}  // namespace allot::worker
