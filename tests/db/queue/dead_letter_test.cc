// SPDX-License-Identifier: Apache-2.0
#include "queue/model/dead_letter.h"

#include <algorithm>
#include <future>
#include <thread>

#include "db/queue/fixture.h"
#include "queue/model/error_text.h"
#include "queue/model/task_facts.h"
#include "queue/operate/cancel.h"
#include "queue/operate/dead_tasks.h"
#include "queue/operate/limits.h"
#include "queue/views/task_lists.h"

namespace allot::queue {
namespace {

using std::chrono::milliseconds;

class DeadLetterTest : public QueueTest {
 protected:
  // Submits `count` tasks, and buries each of them after its first attempt.
  std::vector<TaskId> die(std::size_t count, const Verdict& verdict = kFailure) {
    auto ids = put(count);
    const Block block = must_lease({.block_size = 1000});
    for (const Task& task : block.tasks) {
      EXPECT_EQ(worker_.tasks.bury(worker_.db, fence(block.lease, task), 1, verdict),
                Fenced::kWritten);
    }
    EXPECT_TRUE(worker_.leases.release(worker_.db, block.lease));
    return ids;
  }
  std::vector<DeadLetter> letters() { return page_dead(observer_, queue_.queue_id, {}, 1000); }
  // One failed attempt of a single waiting task; it is due again.
  void fail_once(const Verdict& verdict) {
    const Block block = must_lease();
    ASSERT_EQ(block.tasks.size(), 1U);
    const Task& task = block.tasks.at(0);
    ASSERT_EQ(worker_.tasks.retry(worker_.db, fence(block.lease, task), task.attempt + 1,
                                  milliseconds(0), verdict, Then::kRelease),
              Fenced::kWritten);
  }
};

TEST_F(DeadLetterTest, ALetterSaysWhoAndWhy) {
  const TaskId id = die(1, {"exception", "no such user"}).front();
  const auto all = letters();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].id, id);
  EXPECT_EQ(all[0].type, "t");
  EXPECT_EQ(all[0].cause, "exception");
  EXPECT_EQ(all[0].fault, "no such user");
  EXPECT_EQ(all[0].died_at, show(observer_, id)->at);
}

// For an attempt and the task that dies of it; lists and groups omit the detail.
TEST_F(DeadLetterTest, AnErrorHasThreeTexts) {
  const std::string detail = "Traceback:\n  File \"mail.py\"\nKeyError: 'gr\u00f6\u00dfe'";
  const Verdict verdict{
      "retry", "KeyError: 'gr\u00f6\u00dfe'", {}, detail, "KeyError in send (app/mail.py)"};
  const auto is_kept = [&](const auto& view) {
    EXPECT_EQ(view.error, verdict.error);
    EXPECT_EQ(view.detail, detail);
    EXPECT_EQ(view.fault, verdict.fault);
  };
  const TaskId id = put(1).front();
  fail_once(verdict);
  const Block block = must_lease();
  const Fence leased = fence(block.lease, block.tasks.at(0));
  ASSERT_EQ(worker_.detached.detach(worker_.db, leased, 2, {}), Fenced::kWritten);
  ASSERT_EQ(Verbs().bury(worker_.db, leased.once_detached(), 2, verdict), Fenced::kWritten);
  const auto attempts = list_attempts(observer_, id);
  ASSERT_EQ(attempts.size(), 2U);
  for (const AttemptView& attempt : attempts) is_kept(attempt);
  is_kept(*show(observer_, id));
  is_kept(*show(observer_, die(1, verdict).front()));
  for (const TaskView& view : list_dead(observer_, queue_, 2)) {
    EXPECT_EQ(view.error, verdict.error);
    EXPECT_EQ(view.fault, verdict.fault);
    EXPECT_EQ(view.detail, "");
  }
  EXPECT_EQ(letters().at(0).fault, verdict.fault);
}

TEST_F(DeadLetterTest, GroupsGoByTheFault) {
  const auto die_of = [this](std::string_view message, std::string_view fault) {
    die(1, {"retry", message, {}, {}, fault});
  };
  die_of("KeyError: 'ada'", "KeyError in send (app/mail.py)");
  die_of("KeyError: bob", "KeyError in send (app/mail.py)");
  die_of("KeyError: 'ada'", "KeyError in bill (app/mail.py)");
  die_of("KeyError: 'ada'", "");
  const DeadGroups groups = dead_groups(observer_, queue_, 100);
  ASSERT_EQ(groups.list.size(), 3U);
  EXPECT_TRUE(groups.all);
  EXPECT_EQ(groups.list[0].tasks.value, 2U);
  EXPECT_EQ(groups.list[0].newest.fault, "KeyError in send (app/mail.py)");
}

// The server and the worker, which counts failures by group, use the same word.
TEST_F(DeadLetterTest, AGroupHasOneWord) {
  const std::string fault = "Gr\u00f6\u00dfe \\ '";
  die(1, {"retry", fault});
  EXPECT_EQ(letters().at(0).group, error_group(queue_.queue_id, "t", "retry", fault).group);
}

TEST_F(DeadLetterTest, CancelledTasksAreOneGroup) {
  for (const TaskId& id : put(2)) {
    ASSERT_TRUE(cancel(observer_, id, show(observer_, id)->run_key, "reason of " + id.text()));
  }
  ASSERT_EQ(dead_groups(observer_, queue_, 100).list.size(), 1U);
}

// For any order of keys and any number of earlier tasks.
TEST_F(DeadLetterTest, AGroupSaysItsNewestAndOldestTaskAndIsCountedUpToABound) {
  const QueueInfo wide = make_queue("wide", 4);
  observer_.execute(
      "INSERT INTO task_dead (queue_id, partition_no, prio,"
      " first_key, attempt, type, payload, cause, error, fault, died_at) WITH RECURSIVE n (i) AS"
      " (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 2999)"
      " SELECT " +
      std::to_string(wide.queue_id) +
      ", i % 4, i DIV 4 % 4, 1 + i DIV 16, 1, 't', '', 'fail', '', IF(i < 3, 'rare', 'frequent'),"
      " '2026-01-01' + INTERVAL 3000 - i SECOND FROM n");
  const DeadGroups groups = dead_groups(observer_, wide, 1000);
  ASSERT_EQ(groups.list.size(), 2U);
  const DeadGroup& frequent = groups.list[0];
  EXPECT_EQ(frequent.newest.fault, "frequent");
  EXPECT_EQ(frequent.newest.died_at, "2026-01-01T00:49:57.000000Z");
  EXPECT_EQ(frequent.oldest_died_at, "2026-01-01T00:00:01.000000Z");
  EXPECT_EQ(frequent.tasks.value, 1000U);
  EXPECT_TRUE(frequent.tasks.at_least);
  EXPECT_EQ(groups.list[1].tasks.value, 3U);
  EXPECT_FALSE(groups.list[1].tasks.at_least);
  EXPECT_TRUE(letters().empty()) << "another queue's";
}

// Tasks of all partitions and classes.
TEST_F(DeadLetterTest, PagesGoOnInTheOrderOfKeys) {
  const QueueInfo wide = make_queue("wide", 4);
  observer_.execute(
      "INSERT INTO task_dead (queue_id, partition_no, prio,"
      " first_key, attempt, type, payload, cause, error, died_at) WITH RECURSIVE n (i) AS"
      " (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 299)"
      " SELECT " +
      std::to_string(wide.queue_id) +
      ", i % 4, i DIV 4 % 4, 1 + i DIV 16, 1, 't', '', 'fail', '', UTC_TIMESTAMP(6) FROM n");
  std::vector<TaskId> seen;
  for (auto page = page_dead(observer_, wide.queue_id, {}, 70); !page.empty();
       page = page_dead(observer_, wide.queue_id, seen.back(), 70)) {
    for (const DeadLetter& letter : page) seen.push_back(letter.id);
  }
  EXPECT_EQ(seen.size(), 300U);
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  EXPECT_EQ(std::adjacent_find(seen.begin(), seen.end()), seen.end());
}

TEST_F(DeadLetterTest, TheNewestAreListedFirst) {
  const auto ids = die(3);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    observer_.execute(
        "UPDATE task_dead SET died_at = '2026-01-0" + std::to_string(i == 1 ? 9 : i + 1) +
        "' WHERE queue_id = " + std::to_string(queue_.queue_id) +
        " AND partition_no = 0 AND prio = 1 AND first_key = " + std::to_string(ids[i].first_key));
  }
  const auto views = list_dead(observer_, queue_, 2);
  ASSERT_EQ(views.size(), 2U);
  EXPECT_EQ(views[0].id, ids[1]);
  EXPECT_EQ(views[1].id, ids[2]);
}

TEST_F(DeadLetterTest, ARetriedOneIsTheSameTaskWithAllAttemptsBeforeIt) {
  const auto ids = die(3);
  ASSERT_EQ(retry_dead(observer_, std::span(ids).first(2)), 2U);
  EXPECT_EQ(letters().size(), 1U);
  const auto view = show(observer_, ids[0]);
  ASSERT_TRUE(view);
  EXPECT_FALSE(view->dead);
  EXPECT_EQ(view->attempts, 0U);
  EXPECT_EQ(view->payload, "0");
  const Block block = must_lease();
  ASSERT_EQ(block.tasks.size(), 2U) << "due at once, and not the third";
  EXPECT_EQ(block.tasks[0].id_key(), ids[0].first_key) << "in the order of their ids";
  EXPECT_EQ(block.tasks[1].id_key(), ids[1].first_key);
  std::vector<Finished> done;
  for (const Task& task : block.tasks) done.push_back(finished(task));
  ack(worker_.db, partition_, done);
  for (const char* table : {"task", "task_moved"}) {
    EXPECT_EQ(number(std::string("SELECT COUNT(*) FROM ") + table), 0U) << table;
  }
  EXPECT_EQ(number("SELECT COUNT(*) FROM task_attempt"), 1U)
      << "only the attempt of the dead task is left";
}

// Records before a retry are kept, even if there were more attempts than after it.
TEST_F(DeadLetterTest, TheAttemptsOfEachLifeAreKept) {
  const TaskId id = put(1).front();
  fail_once({"retry", "first"});
  {
    const Block block = must_lease();
    ASSERT_EQ(worker_.tasks.bury(worker_.db, fence(block.lease, block.tasks.at(0)), 2,
                                 {"fail", "second"}, Then::kRelease),
              Fenced::kWritten);
  }
  ASSERT_EQ(retry_dead(observer_, {{id}}), 1U);
  EXPECT_TRUE(list_attempts(observer_, id).empty())
      << "a worker sees attempts since the last retry";
  fail_once({"retry", "first"});
  ASSERT_EQ(list_attempts(observer_, id).size(), 1U);
  const auto all = list_attempts(observer_, id, true);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].retries_since, 1U);
  EXPECT_EQ(all[0].error, "first");
  EXPECT_EQ(all[1].retries_since, 1U);
  EXPECT_EQ(all[1].error, "second");
  EXPECT_EQ(all[2].retries_since, 0U);
  EXPECT_EQ(all[2].attempt, 1U);
  EXPECT_GT(all[2].ended_at, all[1].ended_at);

  const Block block = must_lease();
  ASSERT_EQ(worker_.tasks.bury(worker_.db, fence(block.lease, block.tasks.at(0)), 2, kFailure),
            Fenced::kWritten);
  ASSERT_EQ(retry_dead(observer_, {{id}}), 1U);
  const auto thrice = list_attempts(observer_, id, true);
  ASSERT_EQ(thrice.size(), 4U);
  EXPECT_EQ(thrice[0].retries_since, 2U);
  EXPECT_EQ(thrice[3].retries_since, 1U);
  EXPECT_EQ(discard_dead(observer_, {{id}}), 0U) << "it is alive";
  EXPECT_EQ(list_attempts(observer_, id, true).size(), 4U);
}

// A snooze takes back the attempt of the current run, not the one of the same number in an earlier
// run.
TEST_F(DeadLetterTest, SnoozeTakesBackAnAttemptSinceTheLastRetry) {
  const TaskId id = die(1).front();
  ASSERT_EQ(retry_dead(observer_, {{id}}), 1U);
  Block block = must_lease();
  ASSERT_EQ(worker_.tasks.announce(worker_.db, fence(block.lease, block.tasks.at(0)), 1),
            Fenced::kWritten);
  EXPECT_EQ(list_attempts(observer_, id, true).size(), 2U);
  ASSERT_EQ(
      worker_.tasks.snooze(worker_.db, fence(block.lease, block.tasks.at(0)), 1, milliseconds(0)),
      Fenced::kWritten);
  ASSERT_TRUE(worker_.leases.release(worker_.db, block.lease));
  ASSERT_EQ(list_attempts(observer_, id, true).size(), 1U);
  block = must_lease();
  const Task& task = block.tasks.at(0);
  ASSERT_EQ(worker_.tasks.announce(worker_.db, fence(block.lease, task), 1), Fenced::kWritten);
  ASSERT_EQ(worker_.detached.detach(worker_.db, fence(block.lease, task), 1, {}), Fenced::kWritten);
  const auto held = worker_.detached.held(worker_.db, id);
  ASSERT_TRUE(held);
  ASSERT_EQ(Verbs().snooze(worker_.db, *held, 1, milliseconds(0)), Fenced::kWritten);
  ASSERT_EQ(list_attempts(observer_, id, true).size(), 1U);
  EXPECT_EQ(list_attempts(observer_, id, true)[0].retries_since, 1U);
}

TEST_F(DeadLetterTest, ARepeatedRetryDoesNothing) {
  const auto ids = die(2);
  ASSERT_EQ(retry_dead(observer_, ids), 2U);
  const std::string before = tasks_as_text();
  EXPECT_EQ(retry_dead(observer_, ids), 0U);
  EXPECT_EQ(tasks_as_text(), before);
  EXPECT_EQ(retry_dead(observer_, {}), 0U);
}

// Two operators retry the same task at the same time: one row, one task.
TEST_F(DeadLetterTest, OnlyOneOfTwoRetriesSucceeds) {
  const auto ids = die(50);
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  db::Connection other = connect();
  std::thread racing([&] { second = retry_dead(other, ids); });
  first = retry_dead(observer_, ids);
  racing.join();
  EXPECT_EQ(first + second, 50U);
  EXPECT_EQ(number("SELECT COUNT(*) FROM task"), 50U);
  EXPECT_EQ(number("SELECT COUNT(*) FROM task_attempt WHERE retries_since = 1"), 50U);
}

// The first operator is delayed in the middle. The second one must not decide where the task is.
TEST_F(DeadLetterTest, AConcurrentRetryLosesNoTask) {
  const auto ids = die(3);
  db::Connection holding = connect();
  holding.execute("BEGIN; SELECT * FROM task_attempt FOR UPDATE");
  const auto retry = [&] {
    db::Connection own = connect();
    return retry_dead(own, ids);
  };
  auto first = std::async(std::launch::async, retry);
  ASSERT_TRUE(lock_waits(1));
  auto second = std::async(std::launch::async, retry);
  ASSERT_TRUE(lock_waits(2));
  holding.execute("COMMIT");
  EXPECT_EQ(first.get(), 3U);
  EXPECT_EQ(second.get(), 0U);
  EXPECT_EQ(number("SELECT COUNT(*) FROM task JOIN task_moved USING (queue_id, partition_no, prio,"
                   " first_key, run_key)"),
            3U);
  for (const TaskId& id : ids) {
    const auto view = show(observer_, id);
    EXPECT_TRUE(view && !view->dead) << id.text();
  }
}

TEST_F(DeadLetterTest, ADiscardedOneLeavesNothing) {
  const auto ids = die(3);
  EXPECT_EQ(discard_dead(observer_, std::span(ids).first(2)), 2U);
  ASSERT_EQ(letters().size(), 1U);
  EXPECT_EQ(letters().front().id, ids[2]);
  EXPECT_EQ(number("SELECT COUNT(*) FROM task_attempt"), 1U);
  EXPECT_EQ(discard_dead(observer_, ids), 1U);
  EXPECT_EQ(number("SELECT COUNT(*) FROM task_dead"), 0U);
  EXPECT_FALSE(show(observer_, ids[0]));
}

class CancelTest : public DeadLetterTest {
 protected:
  bool cancelled(const TaskId& id, const std::string& reason = "why") {
    return cancel(observer_, id, show(observer_, id)->run_key, reason);
  }
};

TEST_F(CancelTest, AWaitingTaskBecomesADeadOne) {
  const auto ids = put(2);
  ASSERT_TRUE(cancelled(ids[0], "no\xff longer"));
  const auto view = show(observer_, ids[0]);
  EXPECT_TRUE(view->dead);
  EXPECT_EQ(view->cause, kCancelled);
  EXPECT_EQ(view->error, "no\xef\xbf\xbd longer");
  EXPECT_EQ(view->payload, "0");
  EXPECT_FALSE(show(observer_, ids[1])->dead);
  const std::string before = all_as_text();
  EXPECT_FALSE(cancel(observer_, ids[0], ids[0].first_key, "again"));
  EXPECT_EQ(all_as_text(), before);
}

TEST_F(CancelTest, AlsoOneThatWasRetriedAndStandsElsewhere) {
  const TaskId id = put(1).front();
  fail_once({"retry", "first"});
  EXPECT_FALSE(cancel(observer_, id, id.first_key, "where it was")) << "it is not there any more";
  ASSERT_TRUE(cancelled(id));
  EXPECT_EQ(number("SELECT COUNT(*) FROM task"), 0U);
  EXPECT_EQ(number("SELECT COUNT(*) FROM task_moved"), 0U);
  EXPECT_EQ(show(observer_, id)->attempts, 1U);
  EXPECT_EQ(list_attempts(observer_, id).size(), 1U);
  EXPECT_EQ(retry_dead(observer_, {{id}}), 1U);
  EXPECT_FALSE(show(observer_, id)->dead);
}

// A worker that has it in its block runs it, and its verdict is discarded.
TEST_F(CancelTest, TheVerdictOfWhoHasItIsDropped) {
  put(1);
  const Block block = must_lease();
  const Task& task = block.tasks.at(0);
  const TaskId id{partition_, task.key.prio, task.id_key()};
  ASSERT_TRUE(cancelled(id));
  const std::string before = tasks_as_text();
  EXPECT_EQ(worker_.tasks.retry(worker_.db, fence(block.lease, task), 1, milliseconds(0), kFailure),
            Fenced::kWritten);
  EXPECT_EQ(worker_.tasks.bury(worker_.db, fence(block.lease, task), 1, kFailure),
            Fenced::kWritten);
  ack(worker_.db, partition_, {{finished(task)}});
  EXPECT_EQ(tasks_as_text(), before);
}

// Its acknowledgement is in transit: then it is finished, and not also dead.
TEST_F(CancelTest, OneThatJustFinishedIsNotDead) {
  const TaskId id = put(1).front();
  db::Connection acking = connect();
  acking.execute(
      "BEGIN; DELETE FROM task WHERE queue_id = " + std::to_string(queue_.queue_id) +
      " AND partition_no = 0 AND prio = 1 AND run_key = " + std::to_string(id.first_key));
  bool done = true;
  db::Connection other = connect();
  std::thread cancelling([&] { done = cancel(other, id, id.first_key, "late"); });
  EXPECT_TRUE(lock_waits(1));
  acking.execute("COMMIT");
  cancelling.join();
  EXPECT_FALSE(done);
  EXPECT_FALSE(show(observer_, id));
}

TEST_F(CancelTest, StandingSaysWhatATaskWaitsFor) {
  const auto first = put(3, 0);
  const auto ids = put(3, 2);
  const auto last = [&] { return *standing(observer_, *show(observer_, ids[2])); };
  EXPECT_EQ(last().ahead.value, 5U) << "three of a class before it, two of its own";
  EXPECT_FALSE(last().leased);
  EXPECT_TRUE(last().due);
  EXPECT_EQ(standing(observer_, *show(observer_, first[0]))->ahead.value, 0U);
  observer_.execute(
      "INSERT INTO task (queue_id, partition_no, prio, run_key, type, payload)"
      " WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1100) SELECT " +
      std::to_string(queue_.queue_id) + ", 0, 1, i, 't', '' FROM n");
  EXPECT_EQ(last().ahead.value, kAheadBound);
  EXPECT_TRUE(last().ahead.at_least);
  const std::uint64_t epoch = last().epoch;
  const Block block = must_lease();
  EXPECT_TRUE(last().leased);
  EXPECT_GT(last().epoch, epoch);
  EXPECT_FALSE(last().overdue);
  observer_.execute("UPDATE q_lock_table SET expire_at = '2026-01-01', defer_until = '2100-01-01'");
  EXPECT_TRUE(last().overdue);
  EXPECT_EQ(last().defer_until, "2100-01-01T00:00:00.000000Z");
  pause(observer_, queue_, "p");
  EXPECT_EQ(last().paused->reason, "p");
}

// The flag for an unknown type is cleared once a handler ran the task.
TEST_F(CancelTest, DeferredTaskHasNoHandlerUntilItRan) {
  const TaskId id = put(1).front();
  EXPECT_FALSE(show(observer_, id)->no_handler);
  Block block = must_lease();
  ASSERT_EQ(defer(worker_.db, block.lease, {block.tasks.at(0).key}), Fenced::kWritten);
  const auto deferred = show(observer_, id);
  EXPECT_TRUE(deferred->no_handler);
  EXPECT_FALSE(standing(observer_, *deferred)->due) << "looked at again after 30 s";
  Task task = block.tasks.at(0);
  task.first_key = task.key.run_key;
  task.key.run_key = deferred->run_key;
  ASSERT_EQ(
      worker_.tasks.retry(worker_.db, fence(block.lease, task), 1, milliseconds(0), kUnreported),
      Fenced::kWritten);
  EXPECT_FALSE(show(observer_, id)->no_handler);
}

}  // namespace
}  // namespace allot::queue
