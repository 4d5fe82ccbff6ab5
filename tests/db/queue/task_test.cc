// SPDX-License-Identifier: Apache-2.0
// Verbs on tasks with a held lease. Without it: fence_test.cc.
#include <algorithm>
#include <random>

#include "db/queue/fixture.h"
#include "queue/model/task_facts.h"

namespace allot::queue {
namespace {

using std::chrono::microseconds;
using std::chrono::seconds;

class TaskTest : public QueueTest {
 protected:
  // Distance of the task's key from the database's clock, into the future.
  std::int64_t due_in_ms(const Task& task) {
    return std::stoll(
        value("SELECT ((CAST(run_key >> 12 AS SIGNED) - TIMESTAMPDIFF(MICROSECOND,"
              " '2025-01-01', UTC_TIMESTAMP(6))) DIV 1000) FROM task WHERE"
              " COALESCE(first_key, run_key) = " +
              std::to_string(task.id_key())));
  }
  std::vector<Task> fetch_all() {
    return fetch(observer_, partition_, {.block_size = 1000, .highest_seen = UINT64_MAX});
  }
  Fenced retry(const Lease& lease, const Task& task, std::uint32_t attempt,
               microseconds delay = seconds(60)) {
    return worker_.tasks.retry(worker_.db, fence(lease, task), attempt, delay, kFailure);
  }
};

TEST_F(TaskTest, RetryMovesTheTaskAndKeepsItsId) {
  const TaskId id = put(2).front();
  const Block block = must_lease();
  ASSERT_EQ(retry(block.lease, block.tasks[0], 1), Fenced::kWritten);
  EXPECT_NEAR(static_cast<double>(due_in_ms(block.tasks[0])), 60'000, 5'000);

  const std::vector<Task> tasks = fetch_all();
  ASSERT_EQ(tasks.size(), 2U);
  EXPECT_EQ(tasks[1].first_key, id.first_key);
  EXPECT_EQ(tasks[1].id_key(), id.first_key);
  EXPECT_GT(tasks[1].key.run_key, tasks[0].key.run_key);
  EXPECT_EQ(tasks[1].attempt, 1U);
  EXPECT_EQ(tasks[1].payload, "0");

  const auto view = show(observer_, id);
  ASSERT_TRUE(view) << "found by the id of its submission";
  EXPECT_EQ(view->id, id);
  EXPECT_EQ(view->attempts, 1U);
  EXPECT_EQ(view->payload, "0");
  const auto attempts = list_attempts(observer_, id);
  ASSERT_EQ(attempts.size(), 1U);
  EXPECT_EQ(attempts[0].attempt, 1U);
  EXPECT_EQ(attempts[0].cause, "failed");
  EXPECT_EQ(attempts[0].error, "it did not work");
  const Holder& holder = worker_.leases.holder();
  EXPECT_EQ(attempts[0].worker, holder.host + "/" + std::to_string(holder.pid));
}

TEST_F(TaskTest, RetryAgainAndAgain) {
  const TaskId id = put(1).front();
  Block block = must_lease();
  for (std::uint32_t attempt = 1; attempt <= 5; ++attempt) {
    ASSERT_EQ(block.tasks.size(), 1U);
    ASSERT_EQ(retry(block.lease, block.tasks[0], attempt, microseconds(0)), Fenced::kWritten);
    block.tasks = fetch(observer_, partition_, {});
    ASSERT_EQ(block.tasks.size(), 1U) << "without a delay it is due at once";
    EXPECT_EQ(block.tasks[0].first_key, id.first_key);
    EXPECT_EQ(block.tasks[0].attempt, attempt);
    EXPECT_EQ(show(observer_, id)->attempts, attempt);
  }
  EXPECT_EQ(number("SELECT COUNT(*) FROM task_moved"), 1U);
  EXPECT_EQ(list_attempts(observer_, id).size(), 5U);
}

// A charge, a burial and taking back keep the whole number, and so do the records.
TEST_F(TaskTest, ThreeHundredAttemptsAreCounted) {
  const TaskId id = put(1).front();
  Block block = must_lease();
  for (std::uint32_t attempt = 1; attempt <= 300; ++attempt) {
    ASSERT_EQ(block.tasks.size(), 1U);
    ASSERT_EQ(block.tasks[0].attempt, attempt - 1);
    ASSERT_EQ(retry(block.lease, block.tasks[0], attempt, microseconds(0)), Fenced::kWritten);
    block.tasks = fetch(observer_, partition_, {});
  }
  ASSERT_EQ(worker_.tasks.announce(worker_.db, fence(block.lease, block.tasks[0]), 301),
            Fenced::kWritten);
  EXPECT_EQ(fetch_all().at(0).attempt, 301U);
  ASSERT_EQ(worker_.tasks.refund(worker_.db, fence(block.lease, block.tasks[0]), 301),
            Fenced::kWritten);
  EXPECT_EQ(fetch_all().at(0).attempt, 300U);
  ASSERT_EQ(worker_.tasks.charge(worker_.db, fence(block.lease, block.tasks[0]), 299, kFailure),
            Fenced::kWritten);
  EXPECT_EQ(fetch_all().at(0).attempt, 300U) << "a late charge lowers nothing";
  ASSERT_EQ(worker_.tasks.bury(worker_.db, fence(block.lease, block.tasks[0]), 301, kFailure),
            Fenced::kWritten);
  EXPECT_EQ(show(observer_, id)->attempts, 301U);
  const auto attempts = list_attempts(observer_, id);
  ASSERT_EQ(attempts.size(), 301U);
  EXPECT_EQ(attempts.back().attempt, 301U);
}

// A job that fails for ever does not fill the table: its first and its latest records are kept.
TEST_F(TaskTest, FirstAndLastOfManyVerdictsAreKept) {
  put(1);
  Block block = must_lease();
  observer_.execute("UPDATE task SET attempt = 120");
  observer_.execute(
      "INSERT INTO task_attempt SELECT queue_id, partition_no, prio, run_key, 0, seq,"
      " UTC_TIMESTAMP(6), 'retry', '', '', 0, NULL, NULL, NULL, NULL, '', '', NULL FROM task JOIN"
      " (WITH RECURSIVE numbers AS (SELECT 1 AS seq UNION ALL SELECT seq + 1 FROM numbers"
      " WHERE seq < 100) SELECT seq FROM numbers) AS numbers");
  for (std::uint32_t attempt = 101; attempt <= 103; ++attempt) {
    for (int tries = 0; tries < 2; ++tries) {
      Ending ending{Ending::Verb::kCharge, attempt, std::chrono::microseconds(0), kFailure};
      ending.verdicts = attempt;
      EXPECT_EQ(
          write(worker_.db, worker_.leases.holder(), fence(block.lease, block.tasks[0]), ending),
          Fenced::kWritten);
    }
  }
  EXPECT_EQ(value("SELECT CONCAT(COUNT(*), ' ', MIN(attempt), ' ', MAX(attempt), ' ',"
                  " SUM(attempt BETWEEN 11 AND 13)) FROM task_attempt"),
            "100 1 103 0");
}

TEST_F(TaskTest, VerdictsAreCountedInTheHeadersAndOtherHeadersKept) {
  put(1);
  const Block block = must_lease();
  const auto count = [&](const Fence& fence, std::uint32_t verdicts, Ending::Verb verb) {
    Ending ending{verb, verdicts, std::chrono::microseconds(0), kFailure};
    ending.verdicts = verdicts;
    return write(worker_.db, worker_.leases.holder(), fence, ending);
  };
  const Fence held = fence(block.lease, block.tasks[0]);
  const auto headers = [&] { return value("SELECT COALESCE(headers, '') FROM task"); };
  EXPECT_EQ(count(held, 1, Ending::Verb::kCharge), Fenced::kWritten);
  EXPECT_EQ(headers(), "verdicts=1");
  const std::string others = "max_attempts=9\ntracestate=verdicts=7";
  observer_.execute("UPDATE task SET headers = '" + others + "'");
  for (const std::uint32_t verdicts : {1U, 2U, 2U, 10U}) {
    EXPECT_EQ(count(held, verdicts, Ending::Verb::kCharge), Fenced::kWritten);
    EXPECT_EQ(headers(), others + "\nverdicts=" + std::to_string(verdicts));
  }
  ASSERT_EQ(worker_.detached.detach(worker_.db, held, 11, {}), Fenced::kWritten);
  EXPECT_EQ(count(held.once_detached(), 11, Ending::Verb::kBury), Fenced::kWritten);
  EXPECT_EQ(value("SELECT headers FROM task_dead"), others + "\nverdicts=11");
}

TEST_F(TaskTest, ADelayBeyondTheCalendarIsAVeryLateTask) {
  put(2);
  const Block block = must_lease();
  ASSERT_EQ(retry(block.lease, block.tasks[0], 1, microseconds::max()), Fenced::kWritten);
  EXPECT_GT(due_in_ms(block.tasks[0]), std::int64_t{99} * 365 * 86'400'000);
  ASSERT_EQ(retry(block.lease, block.tasks[1], 1, microseconds::min()), Fenced::kWritten);
  EXPECT_LE(due_in_ms(block.tasks[1]), 0);
}

TEST_F(TaskTest, BuryKeepsAllThatIsKnown) {
  const TaskId id = put(1).front();
  Block block = must_lease();
  ASSERT_EQ(retry(block.lease, block.tasks[0], 1, microseconds(0)), Fenced::kWritten);
  block.tasks = fetch_all();
  ASSERT_EQ(worker_.tasks.bury(worker_.db, fence(block.lease, block.tasks.at(0)), 2,
                               {"exception", "what\n\t'happened' \xe2\x82\xac"}),
            Fenced::kWritten);
  EXPECT_TRUE(fetch_all().empty());
  EXPECT_EQ(number("SELECT COUNT(*) FROM task_moved"), 0U);
  const auto view = show(observer_, id);
  ASSERT_TRUE(view);
  EXPECT_TRUE(view->dead);
  EXPECT_EQ(view->id, id);
  EXPECT_EQ(view->type, "t");
  EXPECT_EQ(view->payload, "0");
  EXPECT_EQ(view->attempts, 2U);
  EXPECT_EQ(view->cause, "exception");
  EXPECT_EQ(view->error, "what\n\t'happened' \xe2\x82\xac");
  const auto attempts = list_attempts(observer_, id);
  ASSERT_EQ(attempts.size(), 2U);
  EXPECT_EQ(attempts[1].cause, "exception");
}

// S7, S10: the number is recorded before the task runs, or after it crashed; the task stays.
TEST_F(TaskTest, AnnounceAndChargeWriteTheAttemptInPlace) {
  const TaskId id = put(1).front();
  const Block block = must_lease();
  ASSERT_EQ(worker_.tasks.announce(worker_.db, fence(block.lease, block.tasks[0]), 1),
            Fenced::kWritten);
  EXPECT_EQ(fetch_all().at(0).attempt, 1U);
  EXPECT_EQ(list_attempts(observer_, id).at(0).cause, "lost") << "if its end is never reported";
  observer_.execute("UPDATE task_attempt SET ended_at = '2025-01-01'");
  ASSERT_EQ(
      worker_.tasks.charge(worker_.db, fence(block.lease, block.tasks[0]), 1, {"signal", "SEGV"}),
      Fenced::kWritten);
  const std::vector<Task> tasks = fetch_all();
  EXPECT_EQ(tasks.at(0).key, block.tasks[0].key);
  EXPECT_EQ(tasks.at(0).attempt, 1U) << "announced and charged is charged once";
  EXPECT_FALSE(tasks.at(0).first_key);
  const auto attempts = list_attempts(observer_, id);
  ASSERT_EQ(attempts.size(), 1U);
  EXPECT_EQ(attempts[0].cause, "signal");
  EXPECT_EQ(attempts[0].error, "SEGV");
  EXPECT_FALSE(attempts[0].ended_at.starts_with("2025-01-01")) << "when it ended, not began";
}

TEST_F(TaskTest, SnoozeMovesTheTaskAndChargesNothing) {
  const TaskId id = put(1).front();
  Block block = must_lease();
  ASSERT_EQ(worker_.tasks.snooze(worker_.db, fence(block.lease, block.tasks[0]), 1, seconds(60)),
            Fenced::kWritten);
  EXPECT_NEAR(static_cast<double>(due_in_ms(block.tasks[0])), 60'000, 5'000);
  EXPECT_TRUE(fetch(observer_, partition_, {}).empty()) << "not due";
  const std::vector<Task> tasks = fetch_all();
  ASSERT_EQ(tasks.size(), 1U);
  EXPECT_EQ(tasks[0].attempt, 0U);
  EXPECT_EQ(tasks[0].first_key, id.first_key);
  EXPECT_TRUE(list_attempts(observer_, id).empty());
  // When it finishes later, no rows remain.
  ack(worker_.db, partition_, std::vector{finished(tasks[0])});
  EXPECT_EQ(number("SELECT COUNT(*) FROM task_moved"), 0U);
}

// In careful mode the attempt was recorded before: it is taken back, and the earlier ones stay.
TEST_F(TaskTest, SnoozeTakesAnAnnouncedAttemptBack) {
  const TaskId id = put(1).front();
  Block block = must_lease();
  ASSERT_EQ(retry(block.lease, block.tasks[0], 1, microseconds(0)), Fenced::kWritten);
  block.tasks = fetch_all();
  ASSERT_EQ(worker_.tasks.announce(worker_.db, fence(block.lease, block.tasks.at(0)), 2),
            Fenced::kWritten);
  ASSERT_EQ(list_attempts(observer_, id).size(), 2U);
  ASSERT_EQ(
      worker_.tasks.snooze(worker_.db, fence(block.lease, block.tasks[0]), 2, microseconds(0)),
      Fenced::kWritten);
  const std::vector<Task> tasks = fetch_all();
  ASSERT_EQ(tasks.size(), 1U);
  EXPECT_EQ(tasks[0].attempt, 1U);
  const auto attempts = list_attempts(observer_, id);
  ASSERT_EQ(attempts.size(), 1U);
  EXPECT_EQ(attempts[0].attempt, 1U);
}

// A release is a snooze without a delay: immediately due, but after tasks that are due already.
TEST_F(TaskTest, WithoutADelayItIsDueAtOnceBehindTheOthers) {
  put(3);
  const Block block = must_lease();
  ASSERT_EQ(
      worker_.tasks.snooze(worker_.db, fence(block.lease, block.tasks[0]), 1, microseconds(0)),
      Fenced::kWritten);
  const std::vector<Task> tasks = fetch(observer_, partition_, {});
  ASSERT_EQ(tasks.size(), 3U);
  EXPECT_EQ(tasks[2].id_key(), block.tasks[0].id_key());
}

// A handler that was interrupted in careful mode.
TEST_F(TaskTest, RefundLeavesTheTaskAsItWas) {
  put(1);
  const Block block = must_lease();
  const std::string before = tasks_as_text();
  ASSERT_EQ(worker_.tasks.announce(worker_.db, fence(block.lease, block.tasks[0]), 1),
            Fenced::kWritten);
  ASSERT_NE(tasks_as_text(), before);
  ASSERT_EQ(worker_.tasks.refund(worker_.db, fence(block.lease, block.tasks[0]), 1),
            Fenced::kWritten);
  EXPECT_EQ(tasks_as_text(), before);
}

TEST_F(TaskTest, BurySpentKeepsEachAttemptAsItIsWritten) {
  const TaskId id = put(1).front();
  Block block = must_lease();
  ASSERT_EQ(retry(block.lease, block.tasks[0], 1, microseconds(0)), Fenced::kWritten);
  block.tasks = fetch_all();
  ASSERT_EQ(worker_.tasks.announce(worker_.db, fence(block.lease, block.tasks.at(0)), 2),
            Fenced::kWritten);
  block.tasks = fetch_all();
  ASSERT_EQ(worker_.tasks.bury_spent(worker_.db, fence(block.lease, block.tasks.at(0)),
                                     block.tasks.at(0), kUnreported),
            Fenced::kWritten);
  EXPECT_EQ(show(observer_, id)->attempts, 2U);
  const auto attempts = list_attempts(observer_, id);
  ASSERT_EQ(attempts.size(), 2U);
  EXPECT_EQ(attempts[0].cause, "failed");
  EXPECT_EQ(attempts[1].cause, "lost");
  EXPECT_TRUE(show(observer_, id)->dead);
}

// S65. In both classes, and in the order in which they waited.
TEST_F(TaskTest, DeferKeepsOrderIdAndAttempts) {
  std::vector<TaskId> ids = put(20, 0);
  for (const TaskId& id : put(20, 2)) ids.push_back(id);
  const Block block = must_lease();
  ASSERT_EQ(block.tasks.size(), 40U);
  // All but the first and the last; the keys not in order.
  std::vector<TaskKey> keys;
  for (const Task& task : block.tasks) keys.push_back(task.key);
  keys.erase(keys.begin());
  keys.pop_back();
  std::shuffle(keys.begin(), keys.end(), std::mt19937(3));
  ASSERT_EQ(defer(worker_.db, block.lease, keys), Fenced::kWritten);

  EXPECT_EQ(fetch(observer_, partition_, {}).size(), 2U) << "the others are not due";
  const std::vector<Task> tasks = fetch_all();
  ASSERT_EQ(tasks.size(), 40U);
  std::vector<std::uint64_t> order;
  for (const Task& task : tasks) {
    EXPECT_EQ(task.attempt, 0U);
    if (!task.first_key) continue;
    order.push_back(*task.first_key);
    EXPECT_NEAR(static_cast<double>(due_in_ms(task)), 30'000, 5'000);
  }
  ASSERT_EQ(order.size(), 38U);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.begin() + 19));
  EXPECT_TRUE(std::is_sorted(order.begin() + 19, order.end()));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto view = show(observer_, ids[i]);
    ASSERT_TRUE(view);
    EXPECT_EQ(view->payload, std::to_string(i % 20));
  }
}

TEST_F(TaskTest, DeferOfATaskThatMovedBefore) {
  const TaskId id = put(1).front();
  Block block = must_lease();
  ASSERT_EQ(retry(block.lease, block.tasks[0], 3, microseconds(0)), Fenced::kWritten);
  const std::vector<TaskKey> keys{fetch_all().at(0).key};
  ASSERT_EQ(defer(worker_.db, block.lease, keys), Fenced::kWritten);
  EXPECT_EQ(fetch_all().at(0).first_key, id.first_key);
  EXPECT_EQ(show(observer_, id)->attempts, 3U);
}

TEST_F(TaskTest, AckDeletesTheNamedTasksOnly) {
  put(5);
  const Block block = must_lease();
  const std::vector<Finished> done{finished(block.tasks[1]), finished(block.tasks[3])};
  ack(worker_.db, partition_, done);
  std::string left;
  for (const Task& task : fetch_all()) left += *task.payload;
  EXPECT_EQ(left, "024");
  ack(worker_.db, partition_, {});
  EXPECT_EQ(fetch_all().size(), 3U);
}

TEST_F(TaskTest, AckOfATriedTaskLeavesNothingOfIt) {
  put(2);
  Block block = must_lease();
  ASSERT_EQ(retry(block.lease, block.tasks[0], 1, microseconds(0)), Fenced::kWritten);
  ASSERT_EQ(retry(block.lease, block.tasks[1], 1, seconds(60)), Fenced::kWritten);
  std::vector<Finished> done{finished(fetch_all().at(0))};
  ack(worker_.db, partition_, done);
  EXPECT_EQ(number("SELECT COUNT(*) FROM task"), 1U);
  EXPECT_EQ(number("SELECT COUNT(*) FROM task_moved"), 1U) << "the other task's";
  EXPECT_EQ(number("SELECT COUNT(*) FROM task_attempt"), 1U);
  // Charged in place: it never moved, but has an attempt record to delete.
  put(1);
  const auto fresh = fetch(observer_, partition_, {});
  ASSERT_EQ(worker_.tasks.charge(worker_.db, fence(block.lease, fresh.at(0)), 1, kFailure),
            Fenced::kWritten);
  done = {finished(fetch(observer_, partition_, {}).at(0))};
  ack(worker_.db, partition_, done);
  EXPECT_EQ(number("SELECT COUNT(*) FROM task_attempt"), 1U);
}

TEST_F(TaskTest, AckAndFetchGivesTheNextBlock) {
  put(5);
  const Block block = must_lease({.block_size = 3});
  std::vector<Finished> done;
  for (const Task& task : block.tasks) done.push_back(finished(task));
  const auto next = ack_and_fetch(worker_.db, partition_, done, {.block_size = 3});
  ASSERT_EQ(next.size(), 2U);
  EXPECT_EQ(next[0].payload, "3");
  EXPECT_EQ(ack_and_fetch(worker_.db, partition_, {}, {}).size(), 2U);
}

// A server crash between the two once left the records of a deleted task.
TEST_F(TaskTest, AckAndFetchForgetsATriedTaskInOneTransaction) {
  put(1);
  const Block block = must_lease();
  ASSERT_EQ(retry(block.lease, block.tasks[0], 1, microseconds(0)), Fenced::kWritten);
  const std::vector<Finished> done{finished(fetch_all().at(0))};
  observer_.execute(
      "CREATE TRIGGER broken BEFORE DELETE ON task_attempt FOR EACH ROW SIGNAL SQLSTATE '45000'");
  EXPECT_THROW((void)ack_and_fetch(worker_.db, partition_, done, {}), db::DbError);
  observer_.execute("DROP TRIGGER broken");
  EXPECT_EQ(number("SELECT COUNT(*) FROM task"), 1U);
  EXPECT_TRUE(ack_and_fetch(worker_.db, partition_, done, {}).empty());
  EXPECT_EQ(number("SELECT COUNT(*) FROM task_attempt"), 0U);
}

TEST_F(TaskTest, AckAndReleaseIsOneTransaction) {
  put(2);
  const Block block = must_lease();
  const std::vector<Finished> done{finished(block.tasks[0])};
  EXPECT_TRUE(ack_and_release(worker_.db, block.lease, done));
  EXPECT_EQ(number("SELECT COUNT(*) FROM task"), 1U);
  EXPECT_EQ(value("SELECT state FROM q_lock_table"), "FREE");
  EXPECT_FALSE(ack_and_release(worker_.db, block.lease, done));
}

TEST_F(TaskTest, ThenReleaseEndsTheLeaseWithTheWrite) {
  put(3);
  Block block = must_lease();
  const auto then = Then::kRelease;
  EXPECT_EQ(worker_.tasks.retry(worker_.db, fence(block.lease, block.tasks[0]), 1, seconds(9),
                                kFailure, then),
            Fenced::kWritten);
  EXPECT_EQ(value("SELECT state FROM q_lock_table"), "FREE");
  block = must_lease();
  EXPECT_EQ(
      worker_.tasks.bury(worker_.db, fence(block.lease, block.tasks.at(0)), 1, kFailure, then),
      Fenced::kWritten);
  EXPECT_EQ(value("SELECT state FROM q_lock_table"), "FREE");
  block = must_lease();
  EXPECT_EQ(
      worker_.tasks.charge(worker_.db, fence(block.lease, block.tasks.at(0)), 1, kFailure, then),
      Fenced::kWritten);
  EXPECT_EQ(value("SELECT state FROM q_lock_table"), "FREE");
  EXPECT_EQ(must_lease().tasks.at(0).attempt, 1U);
}

// S3: two classes may share a run_key. Each verb must find the task of its class.
TEST_F(TaskTest, TwoClassesMayShareAKey) {
  constexpr std::uint64_t kKey = 1'000'000;
  const auto fill = [&] {
    observer_.execute("DELETE FROM task; DELETE FROM task_moved; DELETE FROM task_attempt");
    for (std::uint32_t prio = 0; prio < kPrioClasses; ++prio) {
      put_row(partition_, {prio, kKey}, "class" + std::to_string(prio));
    }
  };
  const auto payloads = [&] {
    std::string all;
    for (const Task& task : fetch(observer_, partition_, {})) all += task.payload->back();
    return all;
  };
  fill();
  Block block = must_lease();
  ASSERT_EQ(payloads(), "0123");
  const Task& task = block.tasks[2];
  const std::vector<Finished> done{finished(task)};
  const std::vector<TaskKey> keys{task.key};

  ack(worker_.db, partition_, done);
  EXPECT_EQ(payloads(), "013");
  fill();
  EXPECT_EQ(retry(block.lease, task, 1), Fenced::kWritten);
  EXPECT_EQ(payloads(), "013");
  fill();
  EXPECT_EQ(defer(worker_.db, block.lease, keys), Fenced::kWritten);
  EXPECT_EQ(payloads(), "013");
  fill();
  EXPECT_EQ(worker_.tasks.bury(worker_.db, fence(block.lease, task), 1, kFailure),
            Fenced::kWritten);
  EXPECT_EQ(payloads(), "013");
  EXPECT_EQ(value("SELECT payload FROM task_dead"), "class2");
  fill();
  EXPECT_EQ(worker_.tasks.charge(worker_.db, fence(block.lease, task), 7, kFailure),
            Fenced::kWritten);
  EXPECT_EQ(value("SELECT GROUP_CONCAT(attempt ORDER BY prio) FROM task"), "0,0,7,0");
  EXPECT_EQ(fetch_payload(observer_, partition_, task.key), "class2");
  EXPECT_EQ(show(observer_, {partition_, 3, kKey})->payload, "class3");
}

// S15: after a clock step, or if a task was put back, a key may be below all those seen by this
// worker.
TEST_F(TaskTest, AKeyBelowAllThatWereSeenIsFetched) {
  put(2);
  const std::vector<Task> seen = fetch_all();
  ASSERT_EQ(seen.size(), 2U);
  put_row(partition_, {kDefaultPrio, 1}, "old");
  const auto tasks = fetch(worker_.db, partition_, {.highest_seen = seen.back().key.run_key});
  ASSERT_EQ(tasks.size(), 3U);
  EXPECT_EQ(tasks.front().payload, "old");
  EXPECT_EQ(LeaseStore::scout(observer_, std::vector{queue_.queue_id}).size(), 1U);
}

TEST_F(TaskTest, TheClockSetBackHidesNothingThatWasSeen) {
  const std::uint64_t key = put(1).front().first_key;
  worker_.db.execute("SET timestamp = 1750000000");  // June 2025
  EXPECT_TRUE(fetch(worker_.db, partition_, {}).empty());
  EXPECT_EQ(fetch(worker_.db, partition_, {.highest_seen = key}).size(), 1U);
}

// The server's column is larger; the text must be cut between characters.
TEST_F(TaskTest, AnErrorTextIsCutAt64KiBAndNotInsideACharacter) {
  const TaskId id = put(1).front();
  const Block block = must_lease();
  const std::string euro = "\xe2\x82\xac";
  std::string error = "x";
  while (error.size() < (200 << 10)) error += euro;
  ASSERT_EQ(
      worker_.tasks.bury(worker_.db, fence(block.lease, block.tasks[0]), 1, {"failed", error}),
      Fenced::kWritten);
  const std::string kept = show(observer_, id)->error;
  EXPECT_LE(kept.size(), std::size_t{64} << 10);
  EXPECT_GT(kept.size(), (std::size_t{64} << 10) - 3);
  EXPECT_EQ(kept, error.substr(0, kept.size()));
  EXPECT_EQ((kept.size() - 1) % 3, 0U);
}

// Whatever bytes a handler throws as its message, the verdict must be written.
TEST_F(TaskTest, AnErrorTextThatIsNotUtf8IsKeptAsFarAsPossible) {
  put(1);
  Block block = must_lease();
  std::string error = "bytes:";
  for (int byte = 1; byte < 256; ++byte) error += static_cast<char>(byte);
  EXPECT_EQ(worker_.tasks.retry(worker_.db, fence(block.lease, block.tasks[0]), 1, microseconds(0),
                                {"exception", error}),
            Fenced::kWritten);
  EXPECT_EQ(value("SELECT LEFT(error, 6) FROM task_attempt"), "bytes:");
  block.tasks = fetch_all();
  EXPECT_EQ(worker_.tasks.bury(worker_.db, fence(block.lease, block.tasks.at(0)), 2,
                               {"exception", error}),
            Fenced::kWritten);
  EXPECT_EQ(value("SELECT LEFT(error, 6) FROM task_dead"), "bytes:");
}

class PayloadTest : public TaskTest, public testing::WithParamInterface<std::size_t> {};

TEST_P(PayloadTest, GoesThereAndBackByteForByte) {
  std::string payload(GetParam(), '\0');
  std::mt19937 random(static_cast<unsigned>(GetParam()));
  for (char& c : payload) c = static_cast<char>(random());
  const std::vector<Submission> one{{queue_, "t", payload, {}}};
  const TaskId id = submit(worker_.db, one).at(0).id;
  const FetchSpec spec{.block_size = 100};
  const Block block = must_lease(spec);
  ASSERT_EQ(block.tasks.size(), 1U);
  EXPECT_EQ(block.tasks[0].payload_size, payload.size());
  // S19: a payload above the limit is fetched alone.
  EXPECT_EQ(block.tasks[0].payload.has_value(), payload.size() <= spec.inline_limit());
  if (block.tasks[0].payload) {
    EXPECT_TRUE(*block.tasks[0].payload == payload);
  }
  EXPECT_TRUE(fetch_payload(worker_.db, partition_, block.tasks[0].key) == payload);
  // A dead letter keeps it.
  ASSERT_EQ(worker_.tasks.bury(worker_.db, fence(block.lease, block.tasks[0]), 1, kFailure),
            Fenced::kWritten);
  EXPECT_TRUE(show(observer_, id)->payload == payload);
  EXPECT_EQ(fetch_payload(worker_.db, partition_, block.tasks[0].key), std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(Sizes, PayloadTest,
                         testing::Values(0, 1, 65535, 65536, 65537, 1 << 20, kMaxPayload));

}  // namespace
}  // namespace allot::queue
