// SPDX-License-Identifier: Apache-2.0
// Requests to cancel running tasks: who creates one, and that it never outlives its task.
#include "queue/operate/cancel.h"

#include "db/queue/fixture.h"
#include "queue/model/task_facts.h"
#include "queue/operate/dead_tasks.h"
#include "queue/operate/move.h"
#include "queue/verbs/cancel_request.h"
#include "queue/verbs/fenced_ack.h"

namespace allot::queue {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

class CancelRequestTest : public QueueTest {
 protected:
  // A task in a leased partition that has run for some time.
  TaskId run() {
    const TaskId id = put(1).front();
    block_ = must_lease();
    EXPECT_TRUE(watch_cancel(worker_.db, block_.lease, task()));
    task().flags |= kCancelWatchedFlag;  // as its worker knows
    return id;
  }
  Fence detach() {
    EXPECT_EQ(worker_.detached.detach(worker_.db, fence(block_.lease, task()), 1, {}),
              Fenced::kWritten);
    return fence(block_.lease, task()).once_detached();
  }
  Task& task() { return block_.tasks.at(0); }
  void ask(const TaskId& id, const std::string& reason = "why") {
    const Cancelled asked = cancel_task(observer_, id, reason);
    EXPECT_TRUE(asked.requested && !asked.done);
    EXPECT_EQ(asked.holder,
              worker_.leases.holder().host + "/" + std::to_string(worker_.leases.holder().pid));
  }
  std::uint64_t requests() { return number("SELECT COUNT(*) FROM task_cancel"); }

  Block block_;
};

TEST_F(CancelRequestTest, FirstRequestStaysInEffect) {
  const TaskId id = run();
  ask(id, "the user left");
  ask(id, "again");
  EXPECT_EQ(requests(), 1U);
  EXPECT_EQ(find_cancel(observer_, id)->reason, "the user left");
  EXPECT_EQ(find_cancel(observer_, id)->requested_at.substr(0, 2), "20");
  const CancelCheck look = check_cancel(worker_.db, block_.lease, task());
  EXPECT_TRUE(look.there && look.request);
  EXPECT_FALSE(show(observer_, id)->dead);
}

TEST_F(CancelRequestTest, OneThatIsNotWatchedIsTakenOut) {
  const TaskId id = put(1).front();
  block_ = must_lease();
  EXPECT_TRUE(cancel_task(observer_, id, "why").done);
  EXPECT_FALSE(watch_cancel(worker_.db, block_.lease, task()));
  EXPECT_FALSE(check_cancel(worker_.db, block_.lease, task()).there);
  EXPECT_EQ(requests(), 0U);
}

TEST_F(CancelRequestTest, OnlyTheHolderWatches) {
  put(1);
  block_ = must_lease();
  Lease other = block_.lease;
  ++other.epoch;
  EXPECT_FALSE(watch_cancel(worker_.db, other, task()));
  EXPECT_EQ(number("SELECT flags FROM task"), 0U);
}

// A task in a free partition waits, whatever happened before, even until a later due time.
TEST_F(CancelRequestTest, AWatchedOneThatWaitsIsTakenOut) {
  const TaskId id = run();
  EXPECT_TRUE(worker_.leases.release(worker_.db, block_.lease));
  EXPECT_TRUE(cancel_task(observer_, id, "why").done);
  EXPECT_EQ(retry_dead(observer_, {{id}}), 1U);

  const TaskId later = put(1).front();
  block_ = must_lease();
  Task& second = block_.tasks.at(1);
  EXPECT_TRUE(watch_cancel(worker_.db, block_.lease, second));
  EXPECT_EQ(worker_.tasks.retry(worker_.db, fence(block_.lease, second), 1, hours(1), kFailure),
            Fenced::kWritten);
  EXPECT_TRUE(cancel_task(observer_, later, "why").done);
  EXPECT_EQ(requests(), 0U);
}

TEST_F(CancelRequestTest, ItGoesWithATaskThatEndsInItsPartition) {
  for (const std::string end : {"ack", "release", "bury", "spent", "replace", "cancel"}) {
    SCOPED_TRACE(end);
    const TaskId id = run();
    ask(id);
    if (end == "ack") ack(worker_.db, partition_, {{finished(task())}});
    if (end == "release") {
      EXPECT_TRUE(ack_and_release(worker_.db, block_.lease, {{finished(task())}}));
    }
    if (end == "bury") {
      EXPECT_EQ(worker_.tasks.bury(worker_.db, fence(block_.lease, task()), 1, kFailure),
                Fenced::kWritten);
    }
    if (end == "spent") {
      EXPECT_EQ(worker_.tasks.bury_spent(worker_.db, fence(block_.lease, task()), task(), kFailure),
                Fenced::kWritten);
    }
    if (end == "replace") {
      EXPECT_EQ(FencedAck(fence(block_.lease, task()), task()).replace(worker_.db, {}),
                Fenced::kWritten);
    }
    if (end == "cancel") {
      EXPECT_TRUE(cancel(observer_, id, task().key.run_key, "why"));
    }
    EXPECT_EQ(requests(), 0U);
    EXPECT_EQ(number("SELECT COUNT(*) FROM task"), 0U);
    if (end != "release") {
      EXPECT_TRUE(worker_.leases.release(worker_.db, block_.lease));
    }
  }
}

TEST_F(CancelRequestTest, ItGoesWithADetachedTaskThatEnds) {
  for (const std::string end : {"ack", "bury", "replace"}) {
    SCOPED_TRACE(end);
    const TaskId id = run();
    const Fence detached = detach();
    ask(id);
    if (end == "ack") {
      EXPECT_EQ(Verbs().ack(worker_.db, detached), Fenced::kWritten);
    }
    if (end == "bury") {
      EXPECT_EQ(Verbs().bury(worker_.db, detached, 1, kFailure), Fenced::kWritten);
    }
    if (end == "replace") {
      EXPECT_EQ(FencedAck(detached, task()).replace(worker_.db, {}), Fenced::kWritten);
    }
    EXPECT_EQ(requests(), 0U);
    EXPECT_EQ(number("SELECT COUNT(*) FROM task_running"), 0U);
  }
}

// A worker that runs it again checks first, so the request and the mark stay with it.
TEST_F(CancelRequestTest, ItStaysWithATaskThatComesBack) {
  const std::string marked = "SELECT COUNT(*) FROM task WHERE flags & 64 <> 0";
  const TaskId id = run();
  ask(id);
  EXPECT_EQ(worker_.tasks.retry(worker_.db, fence(block_.lease, task()), 1, milliseconds(0),
                                kFailure, Then::kRelease),
            Fenced::kWritten);
  EXPECT_EQ(requests(), 1U);
  EXPECT_EQ(number(marked), 1U);
  block_ = must_lease();
  const Fence detached = detach();
  EXPECT_EQ(Verbs().charge(worker_.db, detached, 2, kUnreported), Fenced::kWritten);
  EXPECT_EQ(requests(), 1U);
  EXPECT_EQ(number(marked), 1U);
  EXPECT_TRUE(find_cancel(observer_, id));
}

// It leaves the same rows as a success.
TEST_F(CancelRequestTest, AWaitingOneEndsAsDone) {
  for (const bool keep : {false, true}) {
    SCOPED_TRACE(keep);
    const TaskId id = run();
    EXPECT_EQ(worker_.tasks.retry(worker_.db, fence(block_.lease, task()), 1, hours(1), kFailure,
                                  Then::kRelease),
              Fenced::kWritten);
    observer_.execute("UPDATE task SET flags = flags | 2");
    observer_.execute(
        "REPLACE INTO task_unique SELECT queue_id, 'k', partition_no, prio, first_key, 1,"
        " 3600000000, NULL FROM task");
    const Cancelled ended = cancel_task(observer_, id, "why", AsDone{keep, "h", 42});
    EXPECT_TRUE(ended.done && !ended.requested && !ended.conflict);
    EXPECT_EQ(number("SELECT (SELECT COUNT(*) FROM task) + (SELECT COUNT(*) FROM task_dead)"
                     " + (SELECT COUNT(*) FROM task_moved) + COUNT(*) FROM task_cancel"),
              0U);
    EXPECT_EQ(number("SELECT COUNT(*) FROM task_unique WHERE free_at > UTC_TIMESTAMP(6)"), 1U);
    EXPECT_EQ(number("SELECT COUNT(*) FROM task_attempt"), keep ? 1U : 0U);
    EXPECT_EQ(number("SELECT COUNT(*) FROM task_history"), keep ? 1U : 0U);
    EXPECT_FALSE(cancel_task(observer_, id, "why", AsDone{keep, "h", 42}).task);
  }
  EXPECT_EQ(number("SELECT COUNT(*) FROM task_history WHERE attempt = 1 AND lock_host = 'h'"), 1U);
}

TEST_F(CancelRequestTest, TheFirstEndThatIsAskedForStands) {
  const TaskId id = run();
  EXPECT_FALSE(cancel_task(observer_, id, "it is done", AsDone{}).conflict);
  EXPECT_TRUE(find_cancel(observer_, id)->as_done);
  EXPECT_EQ(find_cancel(observer_, id)->reason, "it is done");
  EXPECT_FALSE(cancel_task(observer_, id, "again", AsDone{}).conflict);
  EXPECT_TRUE(cancel_task(observer_, id, "").conflict);
  observer_.execute("DELETE FROM task_cancel");
  ask(id);
  EXPECT_FALSE(find_cancel(observer_, id)->as_done);
  EXPECT_TRUE(cancel_task(observer_, id, "", AsDone{}).conflict);
}

// The cancel is unseen when an operator moves the queue's tasks.
TEST_F(CancelRequestTest, ItGoesWhereItsTaskIsMoved) {
  run();
  ask({partition_, task().key.prio, task().id_key()});
  EXPECT_TRUE(worker_.leases.release(worker_.db, block_.lease));
  const QueueInfo other = make_queue("other", 1);
  const Mover mover(worker_.leases.holder(), queue_);
  std::vector<Waiting> waiting;
  each_waiting(observer_, queue_, [&](const Waiting& one) {
    waiting.push_back(one);
    return true;
  });
  EXPECT_EQ(mover.move(worker_.db, waiting, {other.queue_id, 0}), 1U);
  block_ = *worker_.lease({other.queue_id, 0});
  EXPECT_NE(task().flags & kCancelWatchedFlag, 0U);
  EXPECT_TRUE(check_cancel(worker_.db, block_.lease, task()).request);
}

// A request from before a retry does not end the retried task.
TEST_F(CancelRequestTest, ARetriedTaskHasNoRequest) {
  const TaskId id = run();
  EXPECT_EQ(worker_.tasks.bury(worker_.db, fence(block_.lease, task()), 1, kFailure),
            Fenced::kWritten);
  observer_.execute(
      "INSERT INTO task_cancel SELECT queue_id, partition_no, prio, first_key, '',"
      " UTC_TIMESTAMP(6), 0 FROM task_dead");
  EXPECT_EQ(retry_dead(observer_, {{id}}), 1U);
  EXPECT_EQ(requests(), 0U);
}

}  // namespace
}  // namespace allot::queue
