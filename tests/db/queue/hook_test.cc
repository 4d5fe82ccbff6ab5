// SPDX-License-Identifier: Apache-2.0
// A death submits a task, in the transaction of its burial (C9).
#include "db/queue/fixture.h"
#include "queue/notices/stuck.h"
#include "queue/operate/dead_tasks.h"
#include "queue/operate/limits.h"
#include "queue/verbs/ending.h"

namespace allot::queue {
namespace {

class HookTest : public QueueTest {
 protected:
  HookTest() : ops_(make_queue("ops", 4)) {}

  std::uint64_t alerts() {
    return number("SELECT COUNT(*) FROM task WHERE queue_id = " + std::to_string(ops_.queue_id));
  }
  std::string alert(const std::string& field) {
    return value("SELECT JSON_VALUE(CONVERT(payload USING utf8mb4), '$." + field +
                 "') FROM task WHERE queue_id = " + std::to_string(ops_.queue_id));
  }
  Fenced bury(const Block& block, const Verdict& verdict = kFailure) {
    return worker_.tasks.bury(worker_.db, fence(block.lease, block.tasks.at(0)), 1, verdict,
                              Then::kKeepLease, hook_);
  }

  QueueInfo ops_;
  std::optional<OnDead> hook_ = OnDead{"q", "ops", "alert.dead"};
};

TEST_F(HookTest, ADeathTellsOfItselfOnce) {
  const TaskId id = put(1).front();
  const Block block = must_lease();
  ASSERT_EQ(bury(block, {"fail", "it said \"no\"\nand \\ö"}), Fenced::kWritten);
  EXPECT_EQ(alert("event"), "dead");
  EXPECT_EQ(alert("task"), id.text());
  EXPECT_EQ(alert("queue"), "q");
  EXPECT_EQ(alert("type"), "t");
  EXPECT_EQ(alert("attempts"), "1");
  EXPECT_EQ(alert("cause"), "fail");
  EXPECT_EQ(alert("error"), "it said \"no\"\nand \\ö");
  EXPECT_EQ(
      value("SELECT JSON_TYPE(JSON_EXTRACT(CONVERT(payload USING utf8mb4), '$.detail')) FROM task "
            "WHERE type = 'alert.dead'"),
      "NULL");
  EXPECT_EQ(alert("host"), worker_.leases.holder().host);
  EXPECT_EQ(alert("payload_size"), "1");
  EXPECT_EQ(value("SELECT type FROM task"), "alert.dead");
  // Repeated, because the reply was lost.
  ASSERT_EQ(bury(block, {"fail", "it said \"no\""}), Fenced::kWritten);
  EXPECT_EQ(alerts(), 1U);
}

TEST_F(HookTest, ItTellsAllOfTheError) {
  put(1);
  ASSERT_EQ(bury(must_lease(), {"retry",
                                "KeyError: 'ada'",
                                {},
                                "Traceback\nKeyError: 'ada'",
                                "KeyError in send (app/mail.py)"}),
            Fenced::kWritten);
  EXPECT_EQ(alert("error"), "KeyError: 'ada'");
  EXPECT_EQ(alert("detail"), "Traceback\nKeyError: 'ada'");
  EXPECT_EQ(alert("fault"), "KeyError in send (app/mail.py)");
}

TEST_F(HookTest, NoHookWithoutTheLease) {
  put(1);
  const Block late = must_lease();
  Worker other(connect());
  ASSERT_TRUE(other.steal(partition_));
  EXPECT_EQ(bury(late), Fenced::kLost);
  EXPECT_EQ(alerts(), 0U);
}

TEST_F(HookTest, ADetachedTaskToo) {
  const TaskId id = put(1).front();
  const Block block = must_lease();
  ASSERT_EQ(worker_.detached.detach(worker_.db, fence(block.lease, block.tasks[0]), 1, {}),
            Fenced::kWritten);
  const Fence mine = fence(block.lease, block.tasks[0]).once_detached();
  ASSERT_EQ(Verbs().bury(worker_.db, mine, 1, kFailure, Then::kKeepLease, hook_), Fenced::kWritten);
  EXPECT_EQ(alert("task"), id.text());
  EXPECT_EQ(alert("attempts"), "1");
  EXPECT_EQ(Verbs().bury(worker_.db, mine, 1, kFailure, Then::kKeepLease, hook_), Fenced::kLost);
  EXPECT_EQ(alerts(), 1U);
}

TEST_F(HookTest, DeadHookTaskTriggersNoHook) {
  put(1);
  ASSERT_EQ(bury(must_lease()), Fenced::kWritten);
  hook_->from_queue = "ops";
  const Partition where{ops_.queue_id,
                        static_cast<std::uint32_t>(number("SELECT partition_no FROM task"))};
  auto block = worker_.lease(where);
  ASSERT_TRUE(block && block->tasks.size() == 1);
  ASSERT_EQ(bury(*block), Fenced::kWritten);
  EXPECT_EQ(alerts(), 0U);
  EXPECT_EQ(number("SELECT COUNT(*) FROM task_dead"), 2U);
  // Nor does it after another life.
  const TaskId dead{
      where, 1,
      number("SELECT first_key FROM task_dead WHERE queue_id = " + std::to_string(ops_.queue_id))};
  EXPECT_EQ(retry_dead(worker_.db, {&dead, 1}), 1U);
  block->tasks = fetch(worker_.db, where, {});
  ASSERT_EQ(block->tasks.size(), 1U);
  ASSERT_EQ(bury(*block), Fenced::kWritten);
  EXPECT_EQ(alerts(), 0U);
}

// A burial does not fail because of its hook.
TEST_F(HookTest, AQueueThatIsMissingOrPlacesItsTasksGetsNone) {
  put(2);
  const Block block = must_lease();
  hook_->queue = "nowhere";
  ASSERT_EQ(bury(block), Fenced::kWritten);
  observer_.execute("UPDATE queue SET placement = 'ordered' WHERE name = 'ops'");
  hook_->queue = "ops";
  ASSERT_EQ(worker_.tasks.bury_spent(worker_.db, fence(block.lease, block.tasks[1]), block.tasks[1],
                                     kUnreported, hook_),
            Fenced::kWritten);
  EXPECT_EQ(alerts(), 0U);
  EXPECT_EQ(number("SELECT COUNT(*) FROM task_dead"), 2U);
}

TEST_F(HookTest, StuckTasksAreFound) {
  const auto hour = std::chrono::hours(1);
  EXPECT_FALSE(stuck_waiting(observer_, queue_.queue_id, hour));
  put(1);
  EXPECT_FALSE(stuck_waiting(observer_, queue_.queue_id, hour));
  put_row(partition_, {2, 77});
  put_row(partition_, {1, 99});
  const Headers headers{0, {"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", ""}};
  observer_.execute("UPDATE task SET headers = '" + headers.text() + "' WHERE queue_id > 0");
  auto stuck = stuck_waiting(observer_, queue_.queue_id, hour);
  ASSERT_TRUE(stuck);
  EXPECT_EQ(stuck->headers, headers);
  EXPECT_EQ(stuck->id, (TaskId{partition_, 2, 77})) << "of all classes the oldest";
  pause(observer_, queue_, "");
  EXPECT_FALSE(stuck_waiting(observer_, queue_.queue_id, hour)) << "it waits by intention";
  resume(observer_, queue_);
  const Block block = must_lease();
  ASSERT_EQ(worker_.detached.detach(worker_.db, fence(block.lease, block.tasks[0]), 1, {}),
            Fenced::kWritten);
  EXPECT_TRUE(stuck_running(observer_, queue_.queue_id, hour).empty());
  observer_.execute("UPDATE task_running SET detached_at = detached_at - INTERVAL 2 HOUR");
  const auto running = stuck_running(observer_, queue_.queue_id, hour);
  ASSERT_EQ(running.size(), 1U);
  EXPECT_EQ(running[0].headers, headers);
}

}  // namespace
}  // namespace allot::queue
