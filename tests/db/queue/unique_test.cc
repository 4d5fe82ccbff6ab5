// SPDX-License-Identifier: Apache-2.0
// Unique keys: their owners, their duration, and races for them.
// Rule: S6.
#include <gtest/gtest.h>

#include <future>
#include <set>

#include "db/queue/fixture.h"
#include "queue/model/task_facts.h"
#include "queue/operate/cancel.h"
#include "queue/operate/dead_tasks.h"
#include "queue/submit/owners.h"
#include "queue/submit/submit.h"
#include "queue/verbs/detached_store.h"

namespace allot::queue {
namespace {

using std::chrono::microseconds;
using std::chrono::minutes;

class UniqueTest : public QueueTest {
 protected:
  [[nodiscard]] Submission task(const std::string& key, const std::string& payload = "x") const {
    Submission task{queue_, "t", payload, {}};
    task.options.unique_key = key;
    return task;
  }
  Submitted put_unique(const std::string& key, const std::string& payload = "x") {
    const std::vector<Submission> one{task(key, payload)};
    return submit(worker_.db, one).at(0);
  }
  // Ends the only task by an acknowledgement.
  void finish(const TaskId& id) {
    const auto block = worker_.lease(id.partition);
    ASSERT_TRUE(block);
    std::vector<Finished> done;
    for (const Task& task : block->tasks) done.push_back(finished(task));
    ASSERT_TRUE(ack_and_release(worker_.db, block->lease, done));
  }
  std::uint64_t tasks() { return number("SELECT COUNT(*) FROM task"); }
};

TEST_F(UniqueTest, ASecondOneIsAnsweredWithTheFirst) {
  const Submitted first = put_unique("k", "first");
  EXPECT_FALSE(first.existed());
  const Submitted second = put_unique("k", "second");
  EXPECT_TRUE(second.existed());
  EXPECT_EQ(second.id, first.id);
  EXPECT_EQ(show(observer_, first.id)->payload, "first");
  EXPECT_FALSE(put_unique("K").existed()) << "keys are bytes";
  EXPECT_FALSE(put_unique("k ").existed());
  EXPECT_FALSE(put_unique(std::string("k\0", 2)).existed());
  EXPECT_EQ(tasks(), 4U);
}

TEST_F(UniqueTest, AKeyIsOfItsQueue) {
  const QueueInfo other = make_queue("other", 2);
  put_unique("k");
  std::vector<Submission> one{task("k")};
  one[0].queue = other;
  EXPECT_FALSE(submit(worker_.db, one).at(0).existed());
}

TEST_F(UniqueTest, InOneBatchTheFirstOneHasTheKey) {
  std::vector<Submission> batch;
  for (int i = 0; i < 30; ++i)
    batch.push_back(task("k" + std::to_string(i % 10), std::to_string(i)));
  batch.push_back({queue_, "t", "plain", {}});
  const auto made = submit(worker_.db, batch);
  for (std::size_t i = 0; i < 30; ++i) {
    EXPECT_EQ(made[i].existed(), i >= 10) << i;
    EXPECT_EQ(made[i].id, made[i % 10].id) << i;
    EXPECT_EQ(show(observer_, made[i].id)->payload, std::to_string(i % 10));
  }
  EXPECT_FALSE(made[30].existed());
  EXPECT_EQ(tasks(), 11U);
}

TEST_F(UniqueTest, AfterItsTaskAKeyIsTakenForAWhile) {
  const Submitted first = put_unique("k");
  finish(first.id);
  EXPECT_EQ(tasks(), 0U);
  EXPECT_EQ(number("SELECT TIMESTAMPDIFF(SECOND, UTC_TIMESTAMP(6), free_at) BETWEEN 290 AND 300"
                   " FROM task_unique"),
            1U);
  const Submitted again = put_unique("k");
  EXPECT_TRUE(again.existed());
  EXPECT_EQ(again.id, first.id);
  EXPECT_EQ(tasks(), 0U);
  observer_.execute("UPDATE task_unique SET free_at = UTC_TIMESTAMP(6)");
  const Submitted later = put_unique("k", "later");
  EXPECT_FALSE(later.existed());
  EXPECT_NE(later.id, first.id);
  EXPECT_EQ(show(observer_, later.id)->payload, "later");
  EXPECT_TRUE(put_unique("k").existed());
}

// S58: the clock was ahead when the task ended, and is correct again.
TEST_F(UniqueTest, AClockThatWasAheadKeepsAKeyNoLongerThanItsTime) {
  for (const auto jump : {std::chrono::hours(24), std::chrono::hours(24 * 365)}) {
    observer_.execute("DELETE FROM task_unique");
    set_clock(worker_.db, jump);
    const Submitted first = put_unique("k");
    finish(first.id);
    set_clock(worker_.db, std::nullopt);
    EXPECT_EQ(number("SELECT COUNT(*) FROM task_unique"
                     " WHERE free_at > UTC_TIMESTAMP(6) + INTERVAL 1 HOUR"),
              1U);
    EXPECT_TRUE(put_unique("k").existed()) << "it is taken for its time, and not free";
    EXPECT_EQ(number("SELECT TIMESTAMPDIFF(SECOND, UTC_TIMESTAMP(6), free_at) BETWEEN 290 AND 300"
                     " FROM task_unique"),
              1U);
    observer_.execute("UPDATE task_unique SET free_at = UTC_TIMESTAMP(6) + INTERVAL 1 MINUTE");
    EXPECT_TRUE(put_unique("k").existed());
    EXPECT_EQ(number("SELECT TIMESTAMPDIFF(SECOND, UTC_TIMESTAMP(6), free_at) < 61"
                     " FROM task_unique"),
              1U)
        << "a time within its bound stays";
  }
}

// S58: a limit that treats such a key as free would free all recently stamped keys.
TEST_F(UniqueTest, AStepBackOfASecondFreesNoKey) {
  const Submitted first = put_unique("k");
  finish(first.id);
  for (const int back : {1, 2, 3600}) {
    set_clock(worker_.db, std::chrono::seconds(-back));
    EXPECT_TRUE(put_unique("k").existed()) << back;
  }
}

TEST_F(UniqueTest, ARetryKeepsTheKeyAndADeathEndsItsTime) {
  const Submitted first = put_unique("k");
  auto block = worker_.lease(first.id.partition);
  ASSERT_TRUE(block && block->tasks.size() == 1);
  const Task task = block->tasks[0];
  ASSERT_EQ(
      worker_.tasks.retry(worker_.db, fence(block->lease, task), 1, microseconds(0), kFailure),
      Fenced::kWritten);
  EXPECT_TRUE(put_unique("k").existed());
  EXPECT_EQ(number("SELECT COUNT(*) FROM task_unique WHERE free_at IS NULL"), 1U);
  const auto moved = fetch(observer_, first.id.partition, {.highest_seen = UINT64_MAX});
  ASSERT_EQ(moved.size(), 1U);
  EXPECT_EQ(moved[0].flags, kUniqueFlag);
  // A late acknowledgement of the former row: the row is gone, and the task lives.
  const std::vector<Finished> late{{task.key, first.id.first_key, true}};
  ack(worker_.db, first.id.partition, late);
  EXPECT_EQ(number("SELECT COUNT(*) FROM task_unique WHERE free_at IS NULL"), 1U);
  ASSERT_EQ(worker_.tasks.bury(worker_.db, fence(block->lease, moved[0]), 2, kFailure),
            Fenced::kWritten);
  EXPECT_EQ(number("SELECT COUNT(*) FROM task_unique WHERE free_at IS NOT NULL"), 1U);
}

TEST_F(UniqueTest, ADetachedTaskHasItsKeyToTheEnd) {
  const Submitted first = put_unique("k");
  const auto block = worker_.lease(first.id.partition);
  ASSERT_EQ(worker_.detached.detach(worker_.db, fence(block->lease, block->tasks.at(0)), 1, {}),
            Fenced::kWritten);
  EXPECT_TRUE(put_unique("k").existed());
  const Fence running = fence(block->lease, block->tasks.at(0)).once_detached();
  ASSERT_EQ(Verbs().ack(worker_.db, running), Fenced::kWritten);
  EXPECT_EQ(number("SELECT COUNT(*) FROM task_unique WHERE free_at IS NOT NULL"), 1U);
}

// The key of a dead task is free immediately, whatever the cause of its death: otherwise its
// submitter would get the id of a task that will never run, and believe it done.
TEST_F(UniqueTest, ADeathFreesTheKeyAtOnce) {
  for (const std::string death : {"bury", "spent", "detached", "cancel"}) {
    const Submitted first = put_unique(death);
    auto block = worker_.lease(first.id.partition);
    ASSERT_TRUE(block && block->tasks.size() == 1) << death;
    const Task& task = block->tasks[0];
    if (death == "bury") {
      ASSERT_EQ(worker_.tasks.bury(worker_.db, fence(block->lease, task), 1, kFailure),
                Fenced::kWritten);
    } else if (death == "spent") {
      ASSERT_EQ(worker_.tasks.bury_spent(worker_.db, fence(block->lease, task), task, kFailure),
                Fenced::kWritten);
    } else if (death == "detached") {
      ASSERT_EQ(worker_.detached.detach(worker_.db, fence(block->lease, task), 1, {}),
                Fenced::kWritten);
      ASSERT_EQ(Verbs().bury(worker_.db, fence(block->lease, task).once_detached(), 1, kFailure),
                Fenced::kWritten);
    } else {
      ASSERT_TRUE(cancel_task(observer_, first.id, "").done);
    }
    ASSERT_TRUE(show(observer_, first.id)->dead) << death;
    const Submitted again = put_unique(death, "again");
    EXPECT_FALSE(again.existed()) << death;
    EXPECT_NE(again.id, first.id) << death;
    // It is retried by hand while another task has the key, and its end does not affect that key.
    EXPECT_EQ(retry_dead(observer_, std::vector{first.id}), 1U) << death;
    ASSERT_TRUE(cancel_task(observer_, first.id, "").done) << death;
    EXPECT_TRUE(put_unique(death).existed()) << death;
    EXPECT_EQ(put_unique(death).id, again.id) << death;
    ASSERT_TRUE(cancel_task(observer_, again.id, "").done) << death;
    worker_.leases.release(worker_.db, block->lease);
  }
}

// A revived dead task takes no key, even if its key is free.
TEST_F(UniqueTest, ATaskThatIsRetriedByHandHasNoKey) {
  const Submitted first = put_unique("k");
  ASSERT_TRUE(cancel_task(observer_, first.id, "").done);
  EXPECT_EQ(retry_dead(observer_, std::vector{first.id}), 1U);
  EXPECT_EQ(number("SELECT COUNT(*) FROM task_unique WHERE free_at IS NULL"), 0U);
  const Submitted again = put_unique("k");
  EXPECT_FALSE(again.existed());
  EXPECT_EQ(put_unique("k").id, again.id);
}

TEST_F(UniqueTest, TheAnswerSaysWhereTheOwnerIs) {
  const std::vector<Submission> tasks{task("live"), task("done"), task("new")};
  const Submitted live = put_unique("live");
  const auto asked = [&] {
    auto made = submit(worker_.db, tasks);
    find_owners(worker_.db, tasks, made);
    std::vector<std::string> names;
    for (const Submitted& one : made) {
      names.emplace_back(one.existed() ? name_of(one.owner) : "none");
    }
    return names;
  };
  using Names = std::vector<std::string>;
  const auto block = worker_.lease(live.id.partition);
  ASSERT_TRUE(block);
  put_unique("done");
  observer_.execute(
      "DELETE FROM task WHERE run_key = (SELECT first_key FROM task_unique WHERE unique_key ="
      " 'done'); UPDATE task_unique SET free_at = UTC_TIMESTAMP(6) + INTERVAL 1 HOUR"
      " WHERE unique_key = 'done'");
  EXPECT_EQ(asked(), (Names{"waiting", "done", "none"}));
  EXPECT_EQ(asked(), (Names{"waiting", "done", "waiting"}));
  // A worker watches it for a cancel; then it gets another key, and at last it is detached.
  observer_.execute("UPDATE task SET flags = flags | 64 WHERE run_key = " +
                    std::to_string(live.id.first_key));
  EXPECT_EQ(asked(), (Names{"running", "done", "waiting"}));
  observer_.execute(
      "INSERT INTO task_moved SELECT queue_id, partition_no, prio, run_key, run_key - 5 FROM task"
      " WHERE flags & 64; UPDATE task SET first_key = run_key, run_key = run_key - 5"
      " WHERE flags & 64");
  EXPECT_EQ(asked(), (Names{"running", "done", "waiting"}));
  auto moved = fetch(observer_, live.id.partition, {.highest_seen = UINT64_MAX});
  ASSERT_EQ(moved.at(0).first_key, live.id.first_key);
  ASSERT_EQ(worker_.detached.detach(worker_.db, fence(block->lease, moved[0]), 1, {}),
            Fenced::kWritten);
  EXPECT_EQ(asked(), (Names{"running", "done", "waiting"}));
}

// Another worker took the partition over, runs the task, and has detached it. The previous one had
// finished it, too: the key stays taken as long as one of them runs it.
TEST_F(UniqueTest, ALateAcknowledgementLeavesTheKeyOfADetachedTask) {
  const Submitted first = put_unique("k");
  const auto block = worker_.lease(first.id.partition);
  ASSERT_TRUE(block && block->tasks.size() == 1);
  Worker thief(connect());
  const auto stolen = thief.steal(first.id.partition);
  ASSERT_TRUE(stolen);
  ASSERT_EQ(thief.detached.detach(thief.db, fence(stolen->lease, stolen->tasks.at(0)), 1, {}),
            Fenced::kWritten);
  ack(worker_.db, first.id.partition, std::vector{finished(block->tasks.at(0))});
  EXPECT_EQ(number("SELECT COUNT(*) FROM task_unique WHERE free_at IS NULL"), 1U);
}

// Exactly one task of each key is created, and all submitters get the same id.
TEST_F(UniqueTest, ARaceHasOneWinnerForEachKey) {
  constexpr int kSubmitters = 32;
  constexpr int kKeys = 1000;
  std::vector<std::future<std::vector<Submitted>>> races;
  for (int i = 0; i < kSubmitters; ++i) {
    races.push_back(std::async(std::launch::async, [&, i] {
      db::Connection own = connect();
      std::vector<Submission> batch;
      for (int k = 0; k < kKeys; ++k) {
        batch.push_back(task("k" + std::to_string((k * 37 + i * 11) % kKeys)));
      }
      std::vector<Submitted> made(kKeys);
      const auto told = submit(own, batch);
      for (int k = 0; k < kKeys; ++k) {
        made.at(static_cast<std::size_t>((k * 37 + i * 11) % kKeys)) =
            told[static_cast<std::size_t>(k)];
      }
      return made;
    }));
  }
  std::vector<std::vector<Submitted>> told;
  for (auto& race : races) told.push_back(race.get());
  for (std::size_t k = 0; k < kKeys; ++k) {
    int winners = 0;
    for (const auto& made : told) {
      EXPECT_EQ(made[k].id, told[0][k].id) << k;
      winners += made[k].existed() ? 0 : 1;
    }
    EXPECT_EQ(winners, 1) << k;
  }
  EXPECT_EQ(tasks(), static_cast<std::uint64_t>(kKeys));
}

}  // namespace
}  // namespace allot::queue
