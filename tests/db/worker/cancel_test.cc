// SPDX-License-Identifier: Apache-2.0
// A real handler with a real database, whose task is cancelled.
#include "queue/operate/cancel.h"

#include <fstream>
#include <future>

#include "base/clock.h"
#include "db/worker/run_fixture.h"
#include "support/eventually.h"
#include "support/slot_runs.h"
#include "support/temp_dir.h"
#include "worker/settle/recovery.h"

namespace allot::worker {
namespace {

using support::eventually;
using Result = TaskEnd::Result;

class CancelTest : public RunTest {
 protected:
  CancelTest() : RunTest(ALLOT_PROBE_FOLDER, "probe") {
    config_.cancel_grace = std::chrono::seconds(20);
  }

  [[nodiscard]] Nanos hard_deadline() const { return support::hard_deadline(*raw_slot_); }
  // Runs a task that waits for the file `gate`, requests its end, and lets it finish with `verdict`
  // as soon as the keeper has seen the request.
  Result run_and_cancel(const std::string& verdict, const std::string& gate) {
    const auto id = put_task("test.gate", verdict + " " + gate);
    auto block = lease();
    keeper_.keep(block.lease, boot_ns());
    auto result = std::async(std::launch::async, [&] { return run(block, false); });
    EXPECT_TRUE(eventually([&] { return value("SELECT flags & 64 FROM task") == "64"; }));
    EXPECT_TRUE(queue::cancel_task(db_, id, "the user left").requested);
    EXPECT_TRUE(eventually([&] { return hard_deadline() < boot_ns() + 30 * kSecond; }))
        << "a deadline, and its time limit is an hour";
    std::ofstream(gate) << "continue\n";
    const Result what = result.get();
    EXPECT_EQ((block.tasks.at(0).flags & queue::kCancelWatchedFlag) != 0, true);
    if (what == Result::kFinished) {
      const auto done = queue::finished(block.tasks.at(0));
      queue::ack(db_, block.lease.partition, {&done, 1});
    }
    keeper_.drop();
    leases_.release(db_, block.lease);
    return what;
  }
  std::string dead() { return value("SELECT GROUP_CONCAT(cause, ' ', error) FROM task_dead"); }
  std::string left() {
    return value("SELECT (SELECT COUNT(*) FROM task) + COUNT(*) FROM task_cancel");
  }

  support::TempDir folder_;
};

TEST_F(CancelTest, WhateverItsHandlerSaysButSuccess) {
  for (const std::string verdict : {"retry", "fail", "snooze", "release", "throw"}) {
    SCOPED_TRACE(verdict);
    EXPECT_EQ(run_and_cancel(verdict, folder_ / verdict), Result::kWritten);
    EXPECT_EQ(dead(), "cancelled the user left");
    EXPECT_EQ(left(), "0");
    db_.execute(
        "SET SESSION sql_safe_updates = 0; DELETE FROM task_dead; DELETE FROM task_attempt");
  }
}

TEST_F(CancelTest, SuccessIsSuccess) {
  EXPECT_EQ(run_and_cancel("success", folder_ / "success"), Result::kFinished);
  EXPECT_EQ(value("SELECT COUNT(*) FROM task_dead"), "0");
  EXPECT_EQ(left(), "0");
}

// Its handler's writes are undone, too.
TEST_F(CancelTest, SoItIsWithATransaction) {
  EXPECT_EQ(run_and_cancel("replace", folder_ / "replace"), Result::kWritten);
  EXPECT_EQ(value("SELECT COUNT(*) FROM task_dead"), "0");
  EXPECT_EQ(value("SELECT type FROM task"), "unknown.type");
  EXPECT_EQ(value("SELECT COUNT(*) FROM task_cancel"), "0");
}

TEST_F(CancelTest, ItIsNotStartedAgain) {
  put_task("test.spin");
  db_.execute(
      "UPDATE task SET flags = 64, attempt = 1;"
      "INSERT INTO task_cancel SELECT queue_id, partition_no, prio, run_key, 'the user left',"
      " UTC_TIMESTAMP(6), 0 FROM task");
  for (const bool careful : {true, false}) {
    auto block = lease();
    keeper_.keep(block.lease, boot_ns());
    if (careful) db_.execute("CREATE TABLE kept AS SELECT * FROM task_cancel");
    EXPECT_EQ(run(block, careful), Result::kWritten);
    EXPECT_EQ(dead(), "cancelled the user left");
    EXPECT_EQ(left(), "0");
    keeper_.drop();
    leases_.release(db_, block.lease);
    if (!careful) return;
    db_.execute("SET SESSION sql_safe_updates = 0; DELETE FROM task_dead");
    put_task("test.spin");
    db_.execute("UPDATE task SET flags = 64; INSERT INTO task_cancel SELECT * FROM kept");
  }
}

TEST_F(CancelTest, NorIsADetachedOneThatIsRecovered) {
  const auto id = put_task("test.spin");
  const auto block = lease();
  ASSERT_EQ(detached_.detach(db_, queue::fence(block.lease, block.tasks.at(0)), 1, {}),
            queue::Fenced::kWritten);
  ASSERT_TRUE(queue::cancel_task(db_, id, "the user left").requested);
  const auto held = detached_.held(db_, id);
  ASSERT_TRUE(held);
  const Facts facts = facts_of_crash(db_, settings_, {id, "q", "test.spin", 1});
  EXPECT_EQ(queue::write(db_, detached_.holder(), *held, *decide(facts).ending),
            queue::Fenced::kWritten);
  EXPECT_EQ(dead(), "cancelled the user left");
  EXPECT_EQ(left(), "0");
}

}  // namespace
}  // namespace allot::worker
