// SPDX-License-Identifier: Apache-2.0
// Conditions that need attention are found, and each change of state has one task (C9).
#include "queue/notices/notice.h"

#include <optional>
#include <string>
#include <vector>

#include "db/queue/fixture.h"
#include "queue/operate/limits.h"
#include "support/commit_stop.h"

namespace allot::queue {
namespace {

using std::chrono::minutes;

class NoticeTest : public QueueTest {
 protected:
  NoticeTest() : ops_(make_queue("ops", 4)) {}

  [[nodiscard]] std::optional<Submission> about(const std::string& payload) const {
    return Submission{ops_, "notice", payload, {}};
  }
  std::uint64_t told() {
    return number("SELECT COUNT(*) FROM task WHERE queue_id = " + std::to_string(ops_.queue_id));
  }
  // A task of this queue that has been due for this time.
  void wait_for(const std::string& interval) {
    observer_.execute(
        "INSERT INTO task (queue_id, partition_no, prio, run_key, type, payload) VALUES (" +
        std::to_string(queue_.queue_id) +
        ", 0, 2, TIMESTAMPDIFF(MICROSECOND, '2025-01-01', UTC_TIMESTAMP(6) - INTERVAL " + interval +
        ") << 12, 't', 'x')");
  }
  // The queue has not been leased for an hour.
  void let_alone() {
    observer_.execute("UPDATE q_lock_table SET expire_at = UTC_TIMESTAMP(6) - INTERVAL 1 HOUR");
  }

  QueueInfo ops_;
  const Notice notice_{NoticeKind::kDead, "q", "at least 1 dead"};
};

TEST_F(NoticeTest, AStateIsRaisedAndClearedOnce) {
  EXPECT_TRUE(list_notices(observer_).empty());
  EXPECT_TRUE(raise_notice(observer_, notice_, about("raised")));
  EXPECT_FALSE(raise_notice(observer_, notice_, about("raised again")));
  const auto raised = list_notices(observer_);
  ASSERT_EQ(raised.size(), 1U);
  EXPECT_EQ(raised.front().notice.kind, NoticeKind::kDead);
  EXPECT_EQ(raised.front().notice.subject, "q");
  EXPECT_EQ(raised.front().notice.detail, "at least 1 dead");
  EXPECT_EQ(told(), 1U);
  EXPECT_TRUE(clear_notice(observer_, notice_, about("cleared")));
  EXPECT_FALSE(clear_notice(observer_, notice_, about("cleared again")));
  EXPECT_TRUE(list_notices(observer_).empty());
  EXPECT_EQ(told(), 2U);
}

TEST_F(NoticeTest, WithoutATaskOnlyTheStateChanges) {
  EXPECT_TRUE(raise_notice(observer_, notice_, std::nullopt));
  EXPECT_TRUE(clear_notice(observer_, notice_, std::nullopt));
  EXPECT_EQ(told(), 0U);
}

// A text that is too long for its column is shortened.
TEST_F(NoticeTest, ALongDetailIsCut) {
  Notice wordy = notice_;
  wordy.detail = std::string(1000, 'x') + "\xff";
  EXPECT_TRUE(raise_notice(observer_, wordy, std::nullopt));
  EXPECT_EQ(list_notices(observer_).front().notice.detail, std::string(255, 'x'));
}

// It is unknown whether the server continued without the sender. Sending it again still results in
// one change of state and one task.
TEST_F(NoticeTest, ALostReplyRepeatsNothing) {
  for (const bool raise : {true, false}) {
    const auto change = [&](db::Connection& db) {
      return raise ? raise_notice(db, notice_, about("raised"))
                   : clear_notice(db, notice_, about("cleared"));
    };
    db::ConnectOptions options = support::Database::shared().options(name_);
    options.call_timeout = std::chrono::seconds(1);
    db::Connection impatient(options);
    {
      const support::CommitStop stop(observer_);
      EXPECT_THROW((void)change(impatient), db::DbError) << raise;
    }
    EXPECT_TRUE(support::eventually([&] {
      return number("SELECT COUNT(*) FROM information_schema.processlist WHERE id = " +
                    std::to_string(impatient.id())) == 0;
    }));
    (void)change(observer_);
    EXPECT_FALSE(change(observer_));
    EXPECT_EQ(list_notices(observer_).size(), raise ? 1U : 0U);
    EXPECT_EQ(told(), raise ? 1U : 2U) << raise;
  }
}

TEST_F(NoticeTest, AQueueWhoseTasksWait) {
  wait_for("9 MINUTE");
  let_alone();
  EXPECT_TRUE(waiting_queues(observer_, minutes(10)).empty());
  wait_for("11 MINUTE");
  auto found = waiting_queues(observer_, minutes(10));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.front().kind, NoticeKind::kUnserved);
  EXPECT_EQ(found.front().subject, "q");
  EXPECT_EQ(found.front().detail.substr(0, 26), "a task has been due for 66")
      << found.front().detail;
  // A worker processes the queue, or did so a moment ago.
  ASSERT_TRUE(worker_.lease(partition_));
  EXPECT_EQ(waiting_queues(observer_, minutes(10)).at(0).kind, NoticeKind::kWaiting);
  pause(observer_, queue_, "repair");
  EXPECT_TRUE(waiting_queues(observer_, minutes(10)).empty());
  resume(observer_, queue_);
  observer_.execute("UPDATE task SET run_key = run_key + (3600000000 << 12)");
  EXPECT_TRUE(waiting_queues(observer_, minutes(10)).empty()) << "it is not due yet";
}

TEST_F(NoticeTest, AQueueWithDeadTasks) {
  EXPECT_TRUE(dead_queues(observer_, 1).empty());
  put(2);
  const Block block = must_lease();
  for (const Task& task : block.tasks) {
    ASSERT_EQ(worker_.tasks.bury(worker_.db, fence(block.lease, task), 1, kFailure,
                                 Then::kKeepLease, std::nullopt),
              Fenced::kWritten);
  }
  ASSERT_EQ(dead_queues(observer_, 2).size(), 1U);
  EXPECT_EQ(dead_queues(observer_, 2).front().subject, "q");
  EXPECT_TRUE(dead_queues(observer_, 3).empty());
}

TEST_F(NoticeTest, AScheduleThatFailsOrDropsTicks) {
  const std::string columns =
      "INSERT INTO schedule (name, version, expression, zone, queue, type, payload, ticks,"
      " paused_at, error, created_at, changed_at) VALUES ";
  const auto row = [](const std::string& name, int ticks, const std::string& paused,
                      const std::string& error) {
    return "('" + name + "', 1, '@hourly', 'UTC', 'q', 't', '', " + std::to_string(ticks) + ", " +
           paused + ", " + error + ", UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))";
  };
  observer_.execute(columns + row("sound", 2, "NULL", "NULL") + "," +
                    row("fails", 0, "NULL", "'no queue'") + "," + row("drops", 2, "NULL", "NULL") +
                    "," + row("paused", 0, "UTC_TIMESTAMP(6)", "'no queue'"));
  const auto tick = [&](const std::string& name, int number, const std::string& task,
                        const std::string& reason) {
    observer_.execute(
        "INSERT INTO schedule_tick (schedule_id, tick_no, tick, at, first_key, reason)"
        " SELECT schedule_id, " +
        std::to_string(number) + ", UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), " + task + ", " + reason +
        " FROM schedule WHERE name = '" + name + "'");
  };
  tick("sound", 1, "NULL", "'3 ticks in a pause'");
  tick("sound", 2, "NULL", "'the task of an earlier tick is not finished'");
  tick("drops", 1, "NULL", "'2 ticks late'");
  tick("drops", 2, "NULL", "'at least 2000 ticks late'");
  tick("drops", 3, "7", "NULL");
  const auto found = failing_schedules(observer_);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].subject, "drops");
  EXPECT_EQ(found[0].detail, "at least 2000 ticks late");
  EXPECT_EQ(found[1].subject, "fails");
  EXPECT_EQ(found[1].detail, "no queue");
  observer_.execute("UPDATE schedule_tick SET at = at - INTERVAL 1 HOUR");
  EXPECT_EQ(failing_schedules(observer_).size(), 1U);
}

}  // namespace
}  // namespace allot::queue
