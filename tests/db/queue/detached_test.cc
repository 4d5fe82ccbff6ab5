// SPDX-License-Identifier: Apache-2.0
// A long task leaves its partition (B12), ends from its new place, and is recovered if its holder
// stops (S20). It is in task or in task_running, never in both, never in neither.
#include <functional>
#include <future>

#include "db/queue/fixture.h"
#include "queue/model/server_change.h"
#include "queue/model/task_facts.h"
#include "queue/verbs/detached_store.h"
#include "queue/views/task_lists.h"

namespace allot::queue {
namespace {

using std::chrono::seconds;

class DetachedTest : public QueueTest {
 protected:
  struct Started {
    Lease lease;
    Task task;
    Fence detached;
  };
  // The first of `count` tasks, detached during its attempt.
  Started start(std::size_t count = 1) {
    put(count);
    return detach_first();
  }
  Started detach_first() {
    Block block = must_lease();
    Task task = block.tasks.at(0);
    return {block.lease, task, detach(block.lease, task)};
  }
  Fence detach(const Lease& lease, const Task& task) {
    EXPECT_EQ(worker_.detached.detach(worker_.db, fence(lease, task), task.attempt + 1, {}),
              Fenced::kWritten);
    return fence(lease, task).once_detached();
  }
  // Both tables: "run_key|attempt" of waiting tasks, "first_key|attempt" of running ones.
  std::string waiting() {
    return value(
        "SELECT GROUP_CONCAT(run_key, '|', COALESCE(first_key, '-'), '|', attempt"
        " ORDER BY prio, run_key) FROM task");
  }
  std::string running() {
    return value("SELECT GROUP_CONCAT(first_key, '|', attempt) FROM task_running");
  }
  std::string attempts() {
    return value("SELECT GROUP_CONCAT(first_key, '|', attempt, '|', cause) FROM task_attempt");
  }
  DetachedObservation sight() { return DetachedStore::watch(observer_, ids()).at(0); }
  [[nodiscard]] std::vector<std::uint32_t> ids() const { return {queue_.queue_id}; }
  void expire() {
    observer_.execute("UPDATE task_running SET expire_at = UTC_TIMESTAMP(6) - INTERVAL 1 SECOND");
  }
};

TEST_F(DetachedTest, ThePartitionContinuesWithoutIt) {
  const std::vector<TaskId> tasks = put(3);
  const Started started = detach_first();
  EXPECT_EQ(started.detached.id, tasks[0]);
  EXPECT_EQ(value("SELECT state FROM q_lock_table"), "FREE");
  Worker other(connect());
  const auto block = other.lease(partition_);
  ASSERT_TRUE(block);
  ASSERT_EQ(block->tasks.size(), 2U);
  EXPECT_EQ(block->tasks[0].key.run_key, tasks[1].first_key);
  EXPECT_EQ(value("SELECT CONCAT_WS('|', first_key = run_key, attempt, type, payload, lock_pid,"
                  " expire_at > UTC_TIMESTAMP(6) + INTERVAL 25 SECOND) FROM task_running"),
            "1|1|t|0|" + std::to_string(worker_.leases.holder().pid) + "|1");
}

// A block acknowledges late; its finished tasks must not run again under the next holder.
TEST_F(DetachedTest, FinishedTasksAreWrittenWithTheDetach) {
  put(3);
  const Block block = must_lease();
  const std::vector<Finished> done{finished(block.tasks[0])};
  ASSERT_EQ(worker_.detached.detach(worker_.db, fence(block.lease, block.tasks[1]), 1, done),
            Fenced::kWritten);
  EXPECT_EQ(waiting(), std::to_string(block.tasks[2].key.run_key) + "|-|0");
  EXPECT_EQ(running(), std::to_string(block.tasks[1].key.run_key) + "|1");
}

TEST_F(DetachedTest, IsShownAsRunningUnderItsId) {
  const TaskId id = put(1).front();
  const Started started = detach_first();
  const Holder& holder = worker_.leases.holder();
  const auto view = show(observer_, id);
  ASSERT_TRUE(view);
  EXPECT_TRUE(view->running);
  EXPECT_EQ(view->attempts, 1U);
  EXPECT_EQ(view->payload, "0");
  EXPECT_EQ(view->holder, holder.host + "/" + std::to_string(holder.pid));
  EXPECT_EQ(count_running(observer_, queue_).value, 1U);
  EXPECT_EQ(count_waiting(observer_, queue_).value, 0U);
  const auto listed = list_running(observer_, queue_, 10);
  ASSERT_EQ(listed.size(), 1U);
  EXPECT_EQ(listed[0].id, id);
  EXPECT_EQ(listed[0].holder, view->holder);
  EXPECT_EQ(Verbs().ack(worker_.db, started.detached), Fenced::kWritten);
  EXPECT_FALSE(show(observer_, id));
}

TEST_F(DetachedTest, ALostReplyIsLookedUp) {
  put(1);
  const Block block = must_lease();
  for (int tries = 0; tries < 3; ++tries) {
    EXPECT_EQ(worker_.detached.detach(worker_.db, fence(block.lease, block.tasks[0]), 1, {}),
              Fenced::kWritten)
        << tries;
  }
  EXPECT_EQ(number("SELECT COUNT(*) FROM task_running"), 1U);
  EXPECT_EQ(value("SELECT state FROM q_lock_table"), "FREE");
}

TEST_F(DetachedTest, IsRenewed) {
  const Started started = start();
  observer_.execute("UPDATE task_running SET expire_at = UTC_TIMESTAMP(6)");
  EXPECT_TRUE(worker_.detached.renew(worker_.db, started.detached));
  EXPECT_EQ(number("SELECT expire_at > UTC_TIMESTAMP(6) + INTERVAL 25 SECOND FROM task_running"),
            1U);
}

TEST_F(DetachedTest, FinishedLeavesNothing) {
  put(1);
  Block block = must_lease();
  ASSERT_EQ(worker_.tasks.retry(worker_.db, fence(block.lease, block.tasks.at(0)), 1, seconds(0),
                                kFailure, Then::kRelease),
            Fenced::kWritten);
  const Started started = detach_first();
  EXPECT_EQ(Verbs().ack(worker_.db, started.detached), Fenced::kWritten);
  for (const char* table : {"task", "task_running", "task_moved", "task_attempt", "task_dead"}) {
    EXPECT_EQ(number(std::string("SELECT COUNT(*) FROM ") + table), 0U) << table;
  }
}

TEST_F(DetachedTest, ARetryIsALaterTaskWithItsId) {
  const TaskId id = put(1).front();
  Started started = detach_first();
  ASSERT_EQ(Verbs().retry(worker_.db, started.detached, 1, seconds(0), kFailure), Fenced::kWritten);
  const auto view = show(observer_, id);
  ASSERT_TRUE(view);
  EXPECT_FALSE(view->running);
  EXPECT_EQ(view->attempts, 1U);
  // Once more, from its new place.
  started = detach_first();
  EXPECT_EQ(started.detached.id, id);
  ASSERT_EQ(Verbs().retry(worker_.db, started.detached, 2, seconds(9), kFailure), Fenced::kWritten);
  EXPECT_EQ(value("SELECT CONCAT_WS('|', first_key, attempt, run_key > first_key) FROM task"),
            std::to_string(id.first_key) + "|2|1");
  EXPECT_EQ(number("SELECT COUNT(*) FROM task_attempt"), 2U);
  EXPECT_EQ(running(), "");
}

TEST_F(DetachedTest, ThreeHundredAttemptsAreCounted) {
  const TaskId id = put(1).front();
  observer_.execute("UPDATE task SET attempt = 299");
  const Started started = detach_first();
  EXPECT_EQ(running(), std::to_string(id.first_key) + "|300");
  ASSERT_EQ(Verbs().charge(worker_.db, started.detached, 300, kFailure), Fenced::kWritten);
  EXPECT_EQ(waiting(), std::to_string(id.first_key) + "|-|300");
  EXPECT_EQ(attempts(), std::to_string(id.first_key) + "|300|failed");
}

TEST_F(DetachedTest, ACrashIsChargedWhereItStood) {
  const TaskId id = put(1).front();
  const Started started = detach_first();
  ASSERT_EQ(Verbs().charge(worker_.db, started.detached, 1, kFailure), Fenced::kWritten);
  EXPECT_EQ(waiting(), std::to_string(id.first_key) + "|-|1");
  EXPECT_EQ(attempts(), std::to_string(id.first_key) + "|1|failed");
  EXPECT_EQ(value("SELECT lock_pid FROM task_attempt"),
            std::to_string(worker_.leases.holder().pid));
}

// Its old place is taken (clocks go back): it gets another one, and keeps its id.
TEST_F(DetachedTest, APlaceThatIsTakenIsLeftAlone) {
  const TaskId id = put(1).front();
  const Started started = detach_first();
  put_row(partition_, {id.prio, id.first_key}, "thief");
  ASSERT_EQ(Verbs().charge(worker_.db, started.detached, 1, kFailure), Fenced::kWritten);
  EXPECT_EQ(number("SELECT COUNT(*) FROM task"), 2U);
  EXPECT_EQ(value("SELECT CONCAT(first_key, '|', payload) FROM task WHERE attempt = 1"),
            std::to_string(id.first_key) + "|0");
}

// The task that took the place runs long, too: it stays in its block, because otherwise two tasks
// would become one.
TEST_F(DetachedTest, TwoTasksWithOneIdAreNeverOne) {
  const TaskId id = put(1).front();
  detach_first();
  put_row(partition_, {id.prio, id.first_key}, "thief");
  const Block block = must_lease();
  EXPECT_THROW(static_cast<void>(worker_.detached.detach(
                   worker_.db, fence(block.lease, block.tasks.at(0)), 1, {})),
               db::DbError);
  EXPECT_EQ(value("SELECT payload FROM task"), "thief");
  EXPECT_EQ(value("SELECT payload FROM task_running"), "0");
  EXPECT_EQ(value("SELECT state FROM q_lock_table"), "LOCKED");
}

TEST_F(DetachedTest, AnInterruptionOrASnoozeIsNotCharged) {
  const TaskId id = put(1).front();
  const std::string key = std::to_string(id.first_key);
  Block block = must_lease();
  ASSERT_EQ(worker_.tasks.announce(worker_.db, fence(block.lease, block.tasks.at(0)), 1),
            Fenced::kWritten);
  ASSERT_EQ(worker_.detached.detach(worker_.db, fence(block.lease, block.tasks[0]), 1, {}),
            Fenced::kWritten);
  Fence detached = fence(block.lease, block.tasks[0]).once_detached();
  ASSERT_EQ(Verbs().refund(worker_.db, detached, 1), Fenced::kWritten);
  EXPECT_EQ(waiting(), key + "|-|0");
  EXPECT_EQ(attempts(), "");
  detached = detach_first().detached;
  ASSERT_EQ(Verbs().snooze(worker_.db, detached, 1, seconds(60)), Fenced::kWritten);
  EXPECT_EQ(value("SELECT CONCAT_WS('|', first_key, attempt, run_key > first_key) FROM task"),
            key + "|0|1");
}

TEST_F(DetachedTest, TheLastAttemptBuries) {
  const TaskId id = put(1).front();
  const Started started = detach_first();
  ASSERT_EQ(Verbs().bury(worker_.db, started.detached, 1, kFailure), Fenced::kWritten);
  const auto view = show(observer_, id);
  ASSERT_TRUE(view && view->dead);
  EXPECT_EQ(view->cause, "failed");
  EXPECT_EQ(view->payload, "0");
  EXPECT_EQ(running(), "");
  EXPECT_EQ(list_attempts(observer_, id).size(), 1U);
}

using End = std::function<Fenced(db::Connection& db, const Fence& detached)>;
const std::pair<const char*, End> kEnds[] = {
    {"ack", [](auto& db, auto& detached) { return Verbs().ack(db, detached); }},
    {"retry",
     [](auto& db, auto& detached) { return Verbs().retry(db, detached, 1, seconds(1), kFailure); }},
    {"bury", [](auto& db, auto& detached) { return Verbs().bury(db, detached, 1, kFailure); }},
    {"charge", [](auto& db, auto& detached) { return Verbs().charge(db, detached, 1, kFailure); }},
    {"refund", [](auto& db, auto& detached) { return Verbs().refund(db, detached, 1); }},
    {"snooze",
     [](auto& db, auto& detached) { return Verbs().snooze(db, detached, 1, seconds(1)); }}};

TEST_F(DetachedTest, EachEndIsFencedAndHasTheEffectOfOnce) {
  for (const auto& [name, end] : kEnds) {
    SCOPED_TRACE(name);
    observer_.execute(
        "DELETE FROM task; DELETE FROM task_running; DELETE FROM task_attempt;"
        "DELETE FROM task_moved; DELETE FROM task_dead");
    const Started started = start();
    Fence late = started.detached;
    const std::string before = tasks_as_text();
    late.epoch -= 1;
    EXPECT_EQ(end(worker_.db, late), Fenced::kLost);
    EXPECT_FALSE(worker_.detached.renew(worker_.db, late));
    late = started.detached;
    late.holder += 1;
    EXPECT_EQ(end(worker_.db, late), Fenced::kLost);
    EXPECT_FALSE(worker_.detached.renew(worker_.db, late));
    EXPECT_EQ(tasks_as_text(), before);
    EXPECT_EQ(end(worker_.db, started.detached), Fenced::kWritten);
    const std::string after = tasks_as_text();
    EXPECT_EQ(end(worker_.db, started.detached), Fenced::kLost);
    EXPECT_EQ(tasks_as_text(), after);
  }
}

// The fence during a stall: the end is sent, another session locks the row, and the task is
// recovered.
TEST_F(DetachedTest, AStalledEndFindsItselfRecovered) {
  for (const auto& [name, end] : kEnds) {
    SCOPED_TRACE(name);
    observer_.execute(
        "DELETE FROM task; DELETE FROM task_running; DELETE FROM task_attempt;"
        "DELETE FROM task_moved; DELETE FROM task_dead");
    const Started started = start();
    Worker scout(connect());
    // As recover.sql, and not committed.
    scout.db.execute("BEGIN; UPDATE task_running SET epoch = epoch + 1, lock_by = " +
                     std::to_string(scout.detached.holder().id) + " WHERE queue_id > 0");
    const std::string recovered = dump_tables(scout.db, kTaskTables);
    auto late = std::async(std::launch::async,
                           [&, &end = end] { return end(worker_.db, started.detached); });
    EXPECT_TRUE(lock_waits(1));
    scout.db.execute("COMMIT");
    EXPECT_EQ(late.get(), Fenced::kLost);
    EXPECT_EQ(tasks_as_text(), recovered);
  }
}

// The keeper detaches while the main thread acknowledges (its handler has just returned): the
// second one sees the first one's result, and no finished task is left over.
TEST_F(DetachedTest, AnAcknowledgementAtTheSameTimeWaits) {
  put(1);
  const Block block = must_lease();
  Worker acking(connect());
  db::Connection stall = connect();
  // The row is in our target place, and not committed: the detach has read the task by then.
  stall.execute(
      "BEGIN; INSERT INTO task_running SELECT queue_id, partition_no, prio, run_key, run_key, 1, 0,"
      " '', '', 1, 1, 1, '', '', 1, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), 1, NULL, NULL, NULL FROM "
      "task");
  auto detach = std::async(std::launch::async, [&] {
    return worker_.detached.detach(worker_.db, fence(block.lease, block.tasks[0]), 1, {});
  });
  ASSERT_TRUE(lock_waits(1));
  auto late = std::async(std::launch::async, [&] {
    const std::vector<Finished> done{finished(block.tasks[0])};
    ack(acking.db, partition_, done);
  });
  EXPECT_TRUE(lock_waits(2)) << "the acknowledgement slipped through";
  stall.execute("ROLLBACK");
  EXPECT_EQ(detach.get(), Fenced::kWritten);
  late.get();
  EXPECT_EQ(running(), std::to_string(block.tasks[0].key.run_key) + "|1");
}

TEST_F(DetachedTest, IsRecoveredOnceAndByOne) {
  const Started started = start();
  const DetachedObservation seen = sight();
  EXPECT_EQ(seen.id, started.detached.id);
  EXPECT_EQ(seen.attempt, 1U);
  EXPECT_EQ(seen.type, "t");
  EXPECT_FALSE(seen.expired);
  EXPECT_GT(seen.remaining, seconds(25));
  Worker scout(connect());
  EXPECT_FALSE(scout.detached.recover(scout.db, seen, DetachedStore::Gone::kExpired))
      << "it has not expired";
  expire();
  EXPECT_FALSE(scout.detached.recover(scout.db, seen, DetachedStore::Gone::kStale)) << "it moved";
  const DetachedObservation again = sight();
  EXPECT_TRUE(again.expired);
  const auto mine = scout.detached.recover(scout.db, again, DetachedStore::Gone::kExpired);
  ASSERT_TRUE(mine);
  EXPECT_TRUE(scout.detached.recover(scout.db, again, DetachedStore::Gone::kExpired))
      << "its reply was lost";
  Worker late(connect());
  EXPECT_FALSE(late.detached.recover(late.db, again, DetachedStore::Gone::kExpired));
  EXPECT_EQ(Verbs().ack(worker_.db, started.detached), Fenced::kLost);
  EXPECT_EQ(Verbs().charge(scout.db, *mine, again.attempt, kUnreported), Fenced::kWritten);
  EXPECT_EQ(waiting(), std::to_string(seen.id.first_key) + "|-|1");
  EXPECT_EQ(value("SELECT CONCAT(cause, '|', lock_pid) FROM task_attempt"),
            "lost|" + std::to_string(worker_.leases.holder().pid))
      << "the attempt belongs to the former holder";
}

// S48, as for a lease. A task of this host's earlier run needs no wait: that run is over.
TEST_F(DetachedTest, AfterAChangeOfServerItIsLeftAloneForAsLongAsItsLeaseLasts) {
  start();
  expire();
  const DetachedObservation seen = sight();
  using Gone = DetachedStore::Gone;
  note_server(observer_);
  const auto change = [&](const std::string& ago) {
    observer_.execute("UPDATE server_identity SET since = UTC_TIMESTAMP(6) - INTERVAL " + ago +
                      " MICROSECOND");
  };
  Worker scout(connect());
  observer_.execute("UPDATE server_identity SET identity = 'another one'");
  EXPECT_FALSE(scout.detached.recover(scout.db, seen, Gone::kExpired));
  EXPECT_EQ(number("SELECT term FROM server_identity"), 2U);
  change("29000000");
  EXPECT_FALSE(scout.detached.recover(scout.db, seen, Gone::kStale));
  change("31000001");
  EXPECT_TRUE(scout.detached.recover(scout.db, seen, Gone::kExpired));
  change("0");
  EXPECT_TRUE(worker_.detached.recover(worker_.db, sight(), Gone::kFormer));
}

TEST_F(DetachedTest, ARowThatIsLockedIsNotWaitedFor) {
  const Started started = start();
  Worker scout(connect());
  const DetachedObservation seen = sight();
  db::Connection holding = connect();
  holding.execute("BEGIN; SELECT * FROM task_running FOR UPDATE");
  const std::uint64_t waits = counter("Innodb_row_lock_waits");
  EXPECT_FALSE(scout.detached.recover(scout.db, seen, DetachedStore::Gone::kStale));
  EXPECT_EQ(counter("Innodb_row_lock_waits"), waits);
  holding.execute("COMMIT");
  EXPECT_TRUE(scout.detached.recover(scout.db, seen, DetachedStore::Gone::kStale));
}

// S7: the task may have killed its host. Each attempt is recorded before it runs, until one has
// ended observably.
TEST_F(DetachedTest, IsSuspectOnceItsHostWasLost) {
  start();
  const auto flags = [&] { return value("SELECT flags FROM task"); };
  const auto mine = worker_.detached.recover(worker_.db, sight(), DetachedStore::Gone::kStale);
  ASSERT_TRUE(mine);
  ASSERT_EQ(Verbs().charge(worker_.db, *mine, 1, kUnreported), Fenced::kWritten);
  const Block block = must_lease();
  EXPECT_EQ(block.tasks.at(0).flags, kSuspectFlag | kCancelWatchedFlag);
  ASSERT_EQ(worker_.tasks.announce(worker_.db, fence(block.lease, block.tasks[0]), 2),
            Fenced::kWritten);
  EXPECT_EQ(flags(), "65") << "its end is unknown";
  ASSERT_EQ(worker_.tasks.refund(worker_.db, fence(block.lease, block.tasks[0]), 2),
            Fenced::kWritten);
  EXPECT_EQ(flags(), "65") << "it did not run";
  const Fence again = detach(block.lease, block.tasks[0]);
  ASSERT_EQ(Verbs().refund(worker_.db, again, 2), Fenced::kWritten);
  EXPECT_EQ(flags(), "65") << "it was interrupted";
}

TEST_F(DetachedTest, AVerdictEndsTheSuspicion) {
  const std::vector<std::pair<const char*, std::function<Fenced(const Lease&, const Task&)>>> ends{
      {"charge",
       [&](auto& lease, auto& task) {
         return worker_.tasks.charge(worker_.db, fence(lease, task), 2, kFailure);
       }},
      {"retry",
       [&](auto& lease, auto& task) {
         return worker_.tasks.retry(worker_.db, fence(lease, task), 2, seconds(0), kFailure);
       }},
      {"snooze",
       [&](auto& lease, auto& task) {
         return worker_.tasks.snooze(worker_.db, fence(lease, task), 2, seconds(0));
       }},
      {"charge, detached",
       [&](auto& lease, auto& task) {
         return Verbs().charge(worker_.db, detach(lease, task), 2, kFailure);
       }},
      {"retry, detached",
       [&](auto& lease, auto& task) {
         return Verbs().retry(worker_.db, detach(lease, task), 2, seconds(0), kFailure);
       }},
      {"snooze, detached", [&](auto& lease, auto& task) {
         return Verbs().snooze(worker_.db, detach(lease, task), 2, seconds(0));
       }}};
  for (const auto& [name, end] : ends) {
    observer_.execute("DELETE FROM task; UPDATE q_lock_table SET state = 'FREE', lock_by = NULL");
    put(1);
    // An unrelated bit would stay.
    observer_.execute("UPDATE task SET attempt = 1, flags = 5");
    const Block block = must_lease();
    ASSERT_EQ(end(block.lease, block.tasks.at(0)), Fenced::kWritten) << name;
    EXPECT_EQ(value("SELECT flags & ~64 FROM task"), "4") << name;
  }
}

// S7: it might kill the next worker, too, or its host.
TEST_F(DetachedTest, AnAttemptThatTookItsWorkerEndsNoSuspicion) {
  for (const char* cause : {"signal", "exit", "memory", "frozen", "timeout", "lease"}) {
    observer_.execute("DELETE FROM task; UPDATE q_lock_table SET state = 'FREE', lock_by = NULL");
    put(1);
    observer_.execute("UPDATE task SET attempt = 1, flags = 1");
    const Block block = must_lease();
    ASSERT_EQ(
        worker_.tasks.charge(worker_.db, fence(block.lease, block.tasks.at(0)), 2, {cause, ""}),
        Fenced::kWritten);
    // In these two cases the supervisor knew whose time was over.
    const bool ended = std::string_view(cause) == "timeout" || std::string_view(cause) == "lease";
    EXPECT_EQ(value("SELECT flags FROM task"), ended ? "0" : "1") << cause;
  }
}

TEST_F(DetachedTest, AFormerLifeIsFoundByItsOrigin) {
  Worker before(connect(), 41);
  Worker after(connect(), 41);
  Worker other(connect(), 42);
  put(1);
  const auto block = before.lease(partition_);
  ASSERT_EQ(before.detached.detach(before.db, fence(block->lease, block->tasks[0]), 1, {}),
            Fenced::kWritten);
  EXPECT_TRUE(other.detached.former(other.db).empty());
  const auto found = after.detached.former(after.db);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(after.detached.recover(after.db, found[0], DetachedStore::Gone::kStale));
}

TEST_F(DetachedTest, TheSettlerFindsItByIdAndHolder) {
  const Started started = start();
  const auto held = worker_.detached.held(worker_.db, started.detached.id);
  ASSERT_TRUE(held);
  EXPECT_EQ(held->epoch, started.detached.epoch);
  Worker other(connect());
  EXPECT_FALSE(other.detached.held(other.db, started.detached.id));
}

}  // namespace
}  // namespace allot::queue
