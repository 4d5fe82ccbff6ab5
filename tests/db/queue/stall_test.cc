// SPDX-License-Identifier: Apache-2.0
// The fence during a stall. A plain race never reveals a leaking fence (0 of 5,000), so the test
// creates the stall: another session locks the task's row while the lease is stolen, and releases
// it afterwards.
// Rules: S6, S66.
#include <functional>
#include <future>

#include "db/queue/fixture.h"
#include "queue/model/compression.h"
#include "queue/operate/move.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

using Write = std::function<void(Worker& worker, const Lease& lease, const Task& task)>;

class StallTest : public QueueTest {
 protected:
  struct Round {
    bool thief_waited = false;  // for the writer, because the writer held the lease's row
    bool stale_write = false;   // something changed after the thief had read it
    bool written = false;
  };

  // One round: worker_ writes, the locks of `hold` stall it, and another worker takes the partition
  // over.
  Round stall(const Write& write, const std::string& hold) {
    return stall(write, "BEGIN; " + hold, "ROLLBACK", 1);
  }
  // The same with a write that stalls itself between check and write, see asleep().
  Round stall_asleep(const Write& write) {
    return stall(write, "DO GET_LOCK('stall', 60)", "DO RELEASE_LOCK('stall')", 0);
  }

 private:
  // `row_waits`: number of sessions that wait for a row lock when the write is stalled.
  Round stall(const Write& write, const std::string& begin, const std::string& end,
              std::uint64_t row_waits) {
    observer_.execute(
        "DELETE FROM task; DELETE FROM task_moved; DELETE FROM task_attempt;"
        "DELETE FROM task_dead; DELETE FROM task_running;"
        "UPDATE q_lock_table SET state = 'FREE', lock_by = NULL");
    put(1);
    observer_.execute("UPDATE task SET attempt = 2");  // so that each verb changes it
    const Block block = must_lease();
    const std::string untouched = tasks_as_text();
    db::Connection stalling = connect();
    stalling.execute(begin);
    auto writer =
        std::async(std::launch::async, [&] { write(worker_, block.lease, block.tasks.at(0)); });
    EXPECT_TRUE(row_waits > 0 ? lock_waits(row_waits) : support::eventually([&] {
      return number(
                 "SELECT COUNT(*) FROM information_schema.processlist"
                 " WHERE state = 'User lock'") == 1;
    })) << "the write was not stalled";

    Worker thief(connect());
    std::string as_stolen;
    auto theft = std::async(std::launch::async, [&] {
      const bool stolen = thief.steal(partition_).has_value();
      const bool given_up = thief.lease(partition_).has_value();  // a detach releases
      as_stolen = stolen || given_up ? dump_tables(thief.db, kTaskTables) : "not stolen";
    });
    Round round;
    EXPECT_TRUE(support::eventually([&] {
      round.thief_waited = counter("Innodb_row_lock_current_waits") > row_waits;
      return round.thief_waited ||
             theft.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
    }));
    stalling.execute(end);
    writer.get();
    theft.get();
    const std::string at_last = tasks_as_text();
    EXPECT_NE(as_stolen, "not stolen");
    round.written = at_last != untouched;
    round.stale_write = at_last != as_stolen;
    return round;
  }
};

// A query of sql/, optionally without its lock: the fence that leaks.
std::string text_of(const sql::SqlText& query, bool with_lock) {
  std::string text(query.text);
  constexpr std::string_view kLock = " FOR UPDATE)";
  std::size_t found = 0;
  for (std::size_t at = text.find(kLock); at != std::string::npos; at = text.find(kLock, at)) {
    ++found;
    if (with_lock) {
      at += kLock.size();
    } else {
      text.replace(at, kLock.size(), ")");
    }
  }
  if (found == 0) throw std::runtime_error(std::string(query.name) + " has no fence");
  return text;
}

// The same, with a sleep in its first statement, between the check and the write, until a user lock
// is released.
std::string asleep(std::string text) {
  constexpr std::string_view kChecked = " AND state <> 'FREE'";
  const std::size_t end = text.find(')', text.find(kChecked));
  if (end == std::string::npos) throw std::runtime_error("no fence: " + text);
  return text.insert(end + 1, " AND GET_LOCK('stall', 60) = 1");
}

// Rows that another session may lock: the task's, or an uncommitted one in the target place.
const std::string kHoldTask = "SELECT * FROM task FOR UPDATE";
const std::string kHoldMoved =
    "INSERT INTO task_moved SELECT queue_id, partition_no, prio, run_key, 1 FROM task";
const std::string kHoldAttempt =
    "INSERT INTO task_attempt SELECT queue_id, partition_no, prio, run_key, 0, 3,"
    " UTC_TIMESTAMP(6), '', '', '', 0, NULL, NULL, NULL, NULL, '', '', NULL FROM task";
// Existing attempt records, one of them to be deleted.
const std::string kHoldOldAttempts =
    "INSERT INTO task_attempt SELECT queue_id, partition_no, prio, run_key, 0, number,"
    " UTC_TIMESTAMP(6), '', '', '', 0, NULL, NULL, NULL, NULL, '', '', NULL FROM task JOIN (SELECT "
    "2 "
    "AS "
    "number "
    "UNION "
    "SELECT 3) AS "
    "numbers;"
    "COMMIT; BEGIN; SELECT * FROM task_attempt FOR UPDATE";
const std::string kHoldDead =
    "INSERT INTO task_dead (queue_id, partition_no, prio,"
    " first_key, attempt, type, payload, cause, error, died_at) SELECT queue_id, partition_no, "
    "prio, run_key, 3, type, payload, '', '',"
    " UTC_TIMESTAMP(6) FROM task";

struct FencedVerb {
  const char* name;
  Write write;                                     // through the store
  std::vector<std::string> holds;                  // all locks that may stall it
  const sql::SqlText* query;                       // its query by hand ...
  void (*fill)(db::Statement&, const Task& task);  // ... with its values in addition to the fence's
  std::string first_hold;                          // stalls the first statement of the query
};

const FencedVerb kFencedVerbs[] = {
    {"announce",
     [](Worker& w, const Lease& lease, const Task& task) {
       static_cast<void>(w.tasks.announce(w.db, fence(lease, task), 3));
     },
     {kHoldTask, kHoldAttempt},
     &sql::k_charge,
     [](db::Statement& charge, const Task& task) {
       charge.set("prio", task.key.prio).set("run_key", task.key.run_key);
       charge.set("at_least", 3).set("at_most", 255).set("keep_flags", 255).set("begun", 0);
     },
     kHoldTask},
    {"charge",
     [](Worker& w, const Lease& lease, const Task& task) {
       static_cast<void>(w.tasks.charge(w.db, fence(lease, task), 3, kFailure));
     },
     {kHoldTask, kHoldAttempt},
     &sql::k_record_attempt,
     [](db::Statement& record, const Task& task) {
       record.set("prio", task.key.prio).set("run_key", task.key.run_key).set("attempt", 3);
       record.set("cause", "failed")
           .set("error", "")
           .set_raw("detail", "NULL")
           .set("fault", "")
           .set_raw("log_lines", "NULL")
           .set("host", "h")
           .set("pid", 1);
       for (const char* used : {"runtime_us", "cpu_us", "max_rss_kib"}) record.set(used, 1);
     },
     kHoldAttempt},
    {"retry",
     [](Worker& w, const Lease& lease, const Task& task) {
       static_cast<void>(
           w.tasks.retry(w.db, fence(lease, task), 3, std::chrono::seconds(9), kFailure));
     },
     {kHoldTask, kHoldAttempt, kHoldMoved},
     &sql::k_retry,
     [](db::Statement& retry, const Task& task) {
       retry.set("prio", task.key.prio).set("run_key", task.key.run_key);
       retry.set("at_least", 3).set("at_most", 255);
       retry.set("delay_us", 9'000'000).set("known_us", 0).set("salt", 7).set("keep_flags", 254);
     },
     kHoldMoved},
    {"snooze",
     [](Worker& w, const Lease& lease, const Task& task) {
       static_cast<void>(w.tasks.snooze(w.db, fence(lease, task), 3, std::chrono::seconds(9)));
     },
     {kHoldTask, kHoldOldAttempts, kHoldMoved},
     // Not forget_attempt: InnoDB always locks rows read by the subquery of a DELETE.
     &sql::k_retry,
     [](db::Statement& retry, const Task& task) {
       retry.set("prio", task.key.prio).set("run_key", task.key.run_key);
       retry.set("at_least", 0).set("at_most", 2);
       retry.set("delay_us", 9'000'000).set("known_us", 0).set("salt", 7).set("keep_flags", 254);
     },
     kHoldMoved},
    {"refund",
     [](Worker& w, const Lease& lease, const Task& task) {
       static_cast<void>(w.tasks.refund(w.db, fence(lease, task), 2));
     },
     {kHoldTask, kHoldOldAttempts},
     &sql::k_charge,
     [](db::Statement& charge, const Task& task) {
       charge.set("prio", task.key.prio).set("run_key", task.key.run_key);
       charge.set("at_least", 0).set("at_most", 1).set("keep_flags", 255).set("begun", 1);
     },
     kHoldTask},
    {"checkpoint",
     [](Worker& w, const Lease& lease, const Task& task) {
       static_cast<void>(checkpoint(w.db, fence(lease, task), {0, "late"}));
     },
     {kHoldTask},
     &sql::k_checkpoint,
     [](db::Statement& checkpoint, const Task& task) {
       checkpoint.set("prio", task.key.prio).set("run_key", task.key.run_key);
       checkpoint.set("payload", "late").set("compressed_flags", 28).set("stored_flags", 0);
     },
     kHoldTask},
    {"retry_counted",
     [](Worker& w, const Lease& lease, const Task& task) {
       Ending ending{Ending::Verb::kRetry, 3, std::chrono::seconds(9), kFailure};
       ending.verdicts = 2;
       static_cast<void>(write(w.db, w.leases.holder(), fence(lease, task), ending));
     },
     {kHoldTask, kHoldAttempt, kHoldMoved},
     &sql::k_count_in_headers,
     [](db::Statement& count, const Task& task) {
       count.set("prio", task.key.prio)
           .set("run_key", task.key.run_key)
           .set("line", "verdicts=")
           .set("count", 2);
     },
     kHoldTask},
    {"bury",
     [](Worker& w, const Lease& lease, const Task& task) {
       static_cast<void>(w.tasks.bury(w.db, fence(lease, task), 3, kFailure));
     },
     {kHoldTask, kHoldAttempt, kHoldDead},
     &sql::k_bury,
     [](db::Statement& bury, const Task& task) {
       bury.set("prio", task.key.prio).set("run_key", task.key.run_key).set("attempt", 3);
       bury.set("first_key", task.id_key())
           .set("cause", "failed")
           .set("error", "")
           .set_raw("detail", "NULL")
           .set("fault", "");
     },
     kHoldDead},
    {"detach",
     [](Worker& w, const Lease& lease, const Task& task) {
       static_cast<void>(w.detached.detach(w.db, fence(lease, task), 3, {}));
     },
     {kHoldTask},
     &sql::k_detach,
     [](db::Statement& detach, const Task& task) {
       detach.set("prio", task.key.prio).set("run_key", task.key.run_key).set("attempt", 3);
       detach.set("origin", 1).set("host", "h").set("instance", "i").set("pid", 1);
       detach.set("ttl_us", 30'000'000).set("cancel_watched_flag", kCancelWatchedFlag);
     },
     kHoldTask},
    {"defer",
     [](Worker& w, const Lease& lease, const Task& task) {
       static_cast<void>(defer(w.db, lease, std::vector{task.key}));
     },
     {kHoldTask, kHoldMoved},
     &sql::k_defer,
     [](db::Statement& defer, const Task& task) {
       const std::string prio = std::to_string(task.key.prio);
       const std::string key = std::to_string(task.key.run_key);
       defer.set_raw("keys", "prio = " + prio + " AND run_key = " + key);
       defer.set_raw("run_keys", key)
           .set("salt", 7)
           .set("delay_us", 30'000'000)
           .set("known_us", 0)
           .set("no_handler_flag", kNoHandlerFlag);
     },
     kHoldMoved},
    {"call_forward",
     [](Worker& w, const Lease& lease, const Task& task) {
       const DeferredTask one{task.key, task.id_key()};
       static_cast<void>(
           call_forward(w.db, lease, {task.key.prio, task.type, 0, 0}, {&one, 1}, false));
     },
     {kHoldTask, kHoldMoved},
     &sql::k_call_forward,
     [](db::Statement& forward, const Task& task) {
       const std::string prio = std::to_string(task.key.prio);
       const std::string key = std::to_string(task.key.run_key);
       forward.set_raw("keys", "prio = " + prio + " AND run_key = " + key);
       forward.set_raw("first_keys", std::to_string(task.id_key()))
           .set("salt", 7)
           .set("known_us", 0)
           .set("no_handler_flag", kNoHandlerFlag);
     },
     kHoldMoved},
    // It uses its own lease.
    {"move",
     [](Worker& w, const Lease& lease, const Task& task) {
       static_cast<void>(w.leases.release(w.db, lease));
       const std::vector<Waiting> one{{lease.partition, task.key, task.id_key(), task.type, false}};
       const Mover mover(w.leases.holder(), QueueInfo{});
       static_cast<void>(mover.move(w.db, one, {lease.partition.queue_id + 1, 0}));
     },
     {kHoldTask},
     &sql::k_move,
     [](db::Statement& move, const Task& task) {
       const std::string prio = std::to_string(task.key.prio);
       const std::string key = std::to_string(task.key.run_key);
       move.set_raw("keys", "prio = " + prio + " AND run_key = " + key);
       move.set_raw("first_keys", "prio = " + prio + " AND first_key = " + key);
       move.set_raw("run_keys", key).set("salt", 7).set("to_queue_id", 4711);
       move.set("to_partition_no", 0).set("no_handler_flag", kNoHandlerFlag);
       move.set("cancel_watched_flag", kCancelWatchedFlag);
     },
     kHoldTask},
};

// Only the verb's query, in a transaction as sent by the store.
Write by_hand(const FencedVerb& verb, bool with_lock, bool sleeping = false) {
  return [&verb, with_lock, sleeping](Worker& worker, const Lease& lease, const Task& task) {
    std::string text = text_of(*verb.query, with_lock);
    if (sleeping) text = asleep(std::move(text));
    const sql::SqlText query{verb.query->name, text};
    db::Statement statement(query);
    statement.set("queue_id", lease.partition.queue_id)
        .set("partition_no", lease.partition.partition_no)
        .set("epoch", lease.epoch)
        .set("holder", lease.holder);
    verb.fill(statement, task);
    worker.db.transact(std::vector{statement});
    if (sleeping) worker.db.execute("DO RELEASE_ALL_LOCKS()");
  };
}

class FencedVerbTest : public StallTest, public testing::WithParamInterface<std::size_t> {};

TEST_P(FencedVerbTest, NoStaleWrite) {
  const FencedVerb& verb = kFencedVerbs[GetParam()];
  for (const std::string& hold : verb.holds) {
    for (int i = 0; i < 10; ++i) {
      const Round round = stall(verb.write, hold);
      EXPECT_FALSE(round.stale_write) << hold << ", round " << i;
      EXPECT_TRUE(round.thief_waited && round.written)
          << "the thief has to wait for the lease's row: " << hold << ", round " << i;
    }
  }
}

// This test can fail: without the lock in the fence, the same stall lets a stale write pass.
TEST_P(FencedVerbTest, WithoutTheLockTheFenceLeaks) {
  const FencedVerb& verb = kFencedVerbs[GetParam()];
  const Round sound = stall(by_hand(verb, true), verb.first_hold);
  EXPECT_FALSE(sound.stale_write);
  EXPECT_TRUE(sound.written);
  const Round leaking = stall(by_hand(verb, false), verb.first_hold);
  EXPECT_FALSE(leaking.thief_waited);
  EXPECT_TRUE(leaking.stale_write) << "the stall of this test stalls nothing";
}

// A stall inside the statement, without a lock on the task's row: like an overloaded server.
TEST_P(FencedVerbTest, AStatementThatSleepsBetweenCheckAndWrite) {
  const FencedVerb& verb = kFencedVerbs[GetParam()];
  const Round sound = stall_asleep(by_hand(verb, true, true));
  EXPECT_TRUE(sound.thief_waited);
  EXPECT_FALSE(sound.stale_write);
  EXPECT_TRUE(sound.written);
  const Round leaking = stall_asleep(by_hand(verb, false, true));
  EXPECT_FALSE(leaking.thief_waited);
  EXPECT_TRUE(leaking.stale_write) << "the sleep is not between check and write";
}

INSTANTIATE_TEST_SUITE_P(Verbs, FencedVerbTest,
                         testing::Range<std::size_t>(0, std::size(kFencedVerbs)),
                         [](const auto& at) { return kFencedVerbs[at.param].name; });

// The other order: the theft is active, not yet committed, when the write arrives. The write must
// wait for the thief's commit and then find its lease gone, for every verb.
TEST_F(StallTest, AWriteWaitsForATheftThatIsUnderWay) {
  for (const FencedVerb& verb : kFencedVerbs) {
    observer_.execute(
        "DELETE FROM task; DELETE FROM task_moved; DELETE FROM task_attempt;"
        "DELETE FROM task_running; UPDATE q_lock_table SET state = 'FREE', lock_by = NULL");
    put(1);
    const Block block = must_lease();
    const std::string before = tasks_as_text();
    db::Connection thief = connect();
    thief.execute("BEGIN; UPDATE q_lock_table SET epoch = epoch + 1, lock_by = 4711");
    auto writer = std::async(std::launch::async,
                             [&] { verb.write(worker_, block.lease, block.tasks.at(0)); });
    EXPECT_TRUE(lock_waits(1)) << verb.name << " did not wait";
    thief.execute("COMMIT");
    writer.get();
    EXPECT_EQ(tasks_as_text(), before) << verb.name;
  }
}

// `allot queue move` has leased the partition, and is stopped for longer than its lease before it
// moves anything.
TEST_F(StallTest, AMoveWhoseLeaseWasTakenOverMovesNothing) {
  const TaskId id = put(1).front();
  observer_.execute("UPDATE task SET attempt = 2");
  const std::string before = tasks_as_text();
  db::Connection holding = connect();
  holding.execute("LOCK TABLES task_moved WRITE");
  auto moved = std::async(std::launch::async, [&] {
    const std::vector<Waiting> one{{partition_, {id.prio, id.first_key}, id.first_key, "t", false}};
    return Mover(worker_.leases.holder(), queue_).move(worker_.db, one, {queue_.queue_id + 1, 0});
  });
  ASSERT_TRUE(support::eventually([&] {
    return number(
               "SELECT COUNT(*) FROM information_schema.processlist"
               " WHERE state = 'Waiting for table metadata lock'") == 1;
  }));
  Worker thief(connect());
  const auto stolen = thief.steal(partition_);
  ASSERT_TRUE(stolen && stolen->tasks.size() == 1);
  const std::string leases = leases_as_text();
  holding.execute("UNLOCK TABLES");
  EXPECT_EQ(moved.get(), 0U);
  EXPECT_EQ(tasks_as_text(), before);
  EXPECT_EQ(leases_as_text(), leases);
}

// The deletions of ack_and_release need no fence, but its release does: it must not free the
// thief's lease.
TEST_F(StallTest, AStalledReleaseDoesNotFreeTheThiefsLease) {
  put(1);
  const Block block = must_lease();
  db::Connection thief = connect();
  thief.execute("BEGIN; UPDATE q_lock_table SET epoch = epoch + 1, lock_by = 4711");
  auto released = std::async(std::launch::async, [&] {
    const std::vector<Finished> done{finished(block.tasks.at(0))};
    return ack_and_release(worker_.db, block.lease, done);
  });
  EXPECT_TRUE(lock_waits(1));
  thief.execute("COMMIT");
  EXPECT_FALSE(released.get());
  EXPECT_EQ(value("SELECT CONCAT(state, ' ', lock_by) FROM q_lock_table"), "LOCKED 4711");
  EXPECT_EQ(number("SELECT COUNT(*) FROM task"), 0U) << "finished is finished";
}

}  // namespace
}  // namespace allot::queue
