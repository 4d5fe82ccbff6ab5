// SPDX-License-Identifier: Apache-2.0
#include "queue/submit/submit.h"

#include <future>
#include <map>
#include <optional>
#include <set>

#include "base/names.h"
#include "db/queue/fixture.h"
#include "queue/model/task_facts.h"
#include "support/commit_stop.h"

namespace allot::queue {
namespace {

using support::error_class_of;

class SubmitTest : public QueueTest {
 protected:
  static std::vector<Submission> batch(const QueueInfo& queue, std::size_t count,
                                       std::size_t payload_size = 0) {
    std::vector<Submission> submissions;
    for (std::size_t i = 0; i < count; ++i) {
      submissions.push_back({queue, "t", std::to_string(i) + std::string(payload_size, '\\'), {}});
    }
    return submissions;
  }
  // Every id names the row with the payload of its submission.
  void expect_found(std::span<const TaskId> ids, std::span<const Submission> submissions) {
    ASSERT_EQ(ids.size(), submissions.size());
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const auto view = show(observer_, ids[i]);
      ASSERT_TRUE(view) << "submission " << i;
      EXPECT_EQ(view->payload, submissions[i].payload);
      EXPECT_EQ(view->type, submissions[i].type);
      EXPECT_EQ(view->id.prio, submissions[i].options.prio);
    }
  }
  std::uint64_t tasks() { return number("SELECT COUNT(*) FROM task"); }
  // The clock of this session stops: all keys of its statements share one microsecond.
  static void freeze_clock(db::Connection& db) { db.execute("SET timestamp = 1790000000.123456"); }
  static std::uint64_t statements_of(db::Connection& db) {
    return db.execute("SHOW SESSION STATUS LIKE 'Com_insert'").front().next()->u64(1);
  }

  QueueInfo wide_ = make_queue("wide", 8);
};

TEST_F(SubmitTest, TheIdsAreThoseOfTheRows) {
  for (const std::size_t count : {1U, 2U, 9U, 100U, 2500U}) {
    const auto submissions = batch(count % 2 == 0 ? wide_ : queue_, count);
    expect_found(ids_of(submit(worker_.db, submissions)), submissions);
  }
  EXPECT_EQ(tasks(), 1U + 2 + 9 + 100 + 2500);
}

TEST_F(SubmitTest, QueuesClassesAndTypesMayBeMixed) {
  std::vector<Submission> submissions;
  for (std::uint32_t i = 0; i < 200; ++i) {
    submissions.push_back({i % 3 == 0 ? queue_ : wide_,
                           "type." + std::to_string(i % 7),
                           std::to_string(i),
                           {.prio = i % kPrioClasses}});
  }
  expect_found(ids_of(submit(worker_.db, submissions)), submissions);
}

// Due by the database's clock, and in the same statement as others of that time.
TEST_F(SubmitTest, ADelayedTaskHasALaterKey) {
  auto submissions = batch(wide_, 30);
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  for (std::size_t i = 0; i < submissions.size(); ++i) {
    SubmitOptions& options = submissions[i].options;
    if (i % 3 == 1) options.delay = std::chrono::hours(1);
    if (i % 3 == 2) options.run_at = now + std::chrono::hours(2);
  }
  const auto ids = ids_of(submit(worker_.db, submissions));
  expect_found(ids, submissions);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const double due_in =
        static_cast<double>(number("SELECT TIMESTAMPDIFF(SECOND, UTC_TIMESTAMP(6), '2025-01-01' +"
                                   " INTERVAL (" +
                                   std::to_string(ids[i].first_key) +
                                   " >> 12) MICROSECOND + INTERVAL 1 HOUR)")) /
        3600.0;
    EXPECT_NEAR(due_in, 1.0 + static_cast<double>(i % 3), 0.05) << i;
  }
  EXPECT_EQ(fetch(observer_, {wide_.queue_id, ids[1].partition.partition_no}, {}).size(),
            number("SELECT COUNT(*) FROM task WHERE partition_no = " +
                   std::to_string(ids[1].partition.partition_no) + " AND payload MOD 3 = 0"));
}

TEST_F(SubmitTest, AMomentThatHasPassedIsNow) {
  auto submissions = batch(queue_, 3);
  submissions[0].options.run_at = Moment();  // 1970: before the first key
  submissions[1].options.run_at = std::chrono::sys_days(std::chrono::year(2025) / 1 / 1);
  submissions[2].options.run_at = Moment(std::chrono::microseconds::min() / 4);
  expect_found(ids_of(submit(worker_.db, submissions)), submissions);
  EXPECT_EQ(number("SELECT COUNT(*) FROM task WHERE ABS(TIMESTAMPDIFF(SECOND, UTC_TIMESTAMP(6),"
                   " '2025-01-01' + INTERVAL (run_key >> 12) MICROSECOND)) < 5"),
            3U);
}

// Otherwise every fourth statement would collide with another one's keys.
TEST_F(SubmitTest, ManyTasksMayBeDueAtOneMoment) {
  SubmitOptions at_noon;
  at_noon.run_at = std::chrono::sys_days(std::chrono::year(2149) / 12 / 31);
  const QueueInfo narrow = make_queue("narrow", 1);
  const std::uint64_t before = statements_of(worker_.db);
  for (int i = 0; i < 200; ++i) {
    const std::vector<Submission> tasks(20, {narrow, "t", "", at_noon});
    ASSERT_EQ(submit(worker_.db, tasks).size(), 20U);
  }
  EXPECT_LE(statements_of(worker_.db) - before, 202U) << "keys were taken";
  EXPECT_EQ(number("SELECT COUNT(*) FROM task"), 4'000U);
  EXPECT_EQ(number("SELECT MAX(run_key >> 12) - MIN(run_key >> 12) <= 65535 + 1000 FROM task"), 1U);
}

TEST_F(SubmitTest, NothingIsSubmittedAsNothing) {
  EXPECT_TRUE(submit(worker_.db, {}).empty());
  EXPECT_EQ(tasks(), 0U);
}

TEST_F(SubmitTest, InsideAPartitionTheyRunInOrder) {
  for (int i = 0; i < 20; ++i) put(50);
  const auto tasks = fetch(observer_, partition_, {.block_size = 1000});
  ASSERT_EQ(tasks.size(), 1000U);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    ASSERT_EQ(tasks[i].payload, std::to_string(i % 50));
  }
}

TEST_F(SubmitTest, ATaskIsDueAtOnce) {
  for (int i = 0; i < 50; ++i) {
    const auto submissions = batch(queue_, 1);
    submit(worker_.db, submissions);
    EXPECT_EQ(fetch(worker_.db, partition_, {}).size(), 1U);
    observer_.execute("DELETE FROM task");
  }
}

// S18: four workers must be able to share even 500 slow tasks.
TEST_F(SubmitTest, ABatchSpreadsOverThePartitions) {
  for (const std::size_t count : {2U, 5U, 8U, 32U, 500U}) {
    observer_.execute("DELETE FROM task");
    std::map<std::uint32_t, std::size_t> per_partition;
    for (const TaskId& id : ids_of(submit(worker_.db, batch(wide_, count)))) {
      ++per_partition[id.partition.partition_no];
    }
    EXPECT_EQ(per_partition.size(), std::min<std::size_t>(8, count));
    for (const auto& [no, n] : per_partition) EXPECT_LE(n, (count + 7) / 8) << no;
  }
}

TEST_F(SubmitTest, SingleOnesSpreadToo) {
  std::set<std::uint32_t> used;
  for (int i = 0; i < 200; ++i) {
    used.insert(submit(worker_.db, batch(wide_, 1)).at(0).id.partition.partition_no);
  }
  EXPECT_EQ(used.size(), 8U);
}

// 300 statements in one microsecond, with 4096 salts: some collide.
TEST_F(SubmitTest, AKeyThatIsTakenGetsANewSalt) {
  freeze_clock(worker_.db);
  const std::uint64_t before = statements_of(worker_.db);
  std::set<TaskId> ids;
  for (int i = 0; i < 300; ++i) ids.insert(submit(worker_.db, batch(queue_, 1)).at(0).id);
  EXPECT_EQ(ids.size(), 300U);
  EXPECT_EQ(tasks(), 300U);
  EXPECT_GT(statements_of(worker_.db), before + 300) << "no key was taken: nothing was tested";
}

TEST_F(SubmitTest, AKeyThatIsTakenInABatchGetsANewSaltInItsTransaction) {
  const QueueInfo narrow = make_queue("narrow", 2);
  freeze_clock(worker_.db);
  const std::uint64_t before = statements_of(worker_.db);
  std::vector<TaskId> ids;
  std::vector<Submission> all;
  for (int i = 0; i < 45; ++i) {
    const auto submissions = batch(narrow, 20);
    const auto mine = ids_of(submit(worker_.db, submissions));
    ids.insert(ids.end(), mine.begin(), mine.end());
    all.insert(all.end(), submissions.begin(), submissions.end());
  }
  EXPECT_GT(statements_of(worker_.db), before + 90) << "no key was taken: nothing was tested";
  EXPECT_EQ(tasks(), 900U);
  expect_found(ids, all);
}

TEST_F(SubmitTest, WhenAllKeysAreTakenNothingIsSubmitted) {
  freeze_clock(worker_.db);
  worker_.db.execute(
      "INSERT INTO task (queue_id, partition_no, prio, run_key, type, payload)"
      " WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 6000)"
      " SELECT " +
      std::to_string(queue_.queue_id) +
      ", 0, 1, (TIMESTAMPDIFF(MICROSECOND, '2025-01-01', UTC_TIMESTAMP(6)) << 12) + i, 't', ''"
      " FROM n");
  const std::uint64_t before = tasks();
  EXPECT_EQ(error_class_of([&] { submit(worker_.db, batch(queue_, 1)); }), "duplicate");
  auto mixed = batch(wide_, 20);
  mixed.push_back({queue_, "t", "", {}});
  EXPECT_EQ(error_class_of([&] { submit(worker_.db, mixed); }), "duplicate");
  EXPECT_EQ(tasks(), before);
  submit(worker_.db, batch(wide_, 20));
  EXPECT_EQ(tasks(), before + 20) << "the connection stays usable";
}

// A session in REPEATABLE READ locks the end of partition 1, and then needs the rows that we wrote
// in 0.
TEST_F(SubmitTest, ADeadlockIsSentAgain) {
  const QueueInfo narrow = make_queue("narrow", 2);
  put_row({narrow.queue_id, 0}, {3, UINT64_MAX});  // so that the partitions end apart
  const std::string of_queue = " queue_id = " + std::to_string(narrow.queue_id);
  const std::uint64_t deadlocks = counter("Innodb_deadlocks");
  db::Connection rival = connect();
  rival.execute("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ");
  // This transaction has done much work, so that the server picks the other one as its victim.
  rival.execute(
      "BEGIN; INSERT INTO task_dead (queue_id, partition_no, prio,"
      " first_key, attempt, type, payload, cause, error, died_at) WITH RECURSIVE n (i) AS (SELECT "
      "0 UNION ALL SELECT i + 1 FROM n"
      " WHERE i < 900) SELECT 999, 0, 0, i, 0, '', '', '', '', UTC_TIMESTAMP(6) FROM n;"
      "SELECT * FROM task WHERE partition_no = 1 AND" +
      of_queue + " FOR UPDATE");
  auto ids =
      std::async(std::launch::async, [&] { return ids_of(submit(worker_.db, batch(narrow, 10))); });
  ASSERT_TRUE(lock_waits(1));
  rival.execute("SELECT * FROM task WHERE partition_no = 0 AND" + of_queue + " FOR UPDATE");
  rival.execute("ROLLBACK");
  expect_found(ids.get(), batch(narrow, 10));
  EXPECT_EQ(tasks(), 11U);
  EXPECT_GT(counter("Innodb_deadlocks"), deadlocks) << "no deadlock: nothing was tested";
}

TEST_F(SubmitTest, ALargeBatchIsSplitIntoStatementsThatFit) {
  // This is the server's own default; escaping doubles these payloads.
  observer_.execute("SET GLOBAL max_allowed_packet = 16 * 1024 * 1024");
  db::Connection modest = connect();
  observer_.execute("SET GLOBAL max_allowed_packet = 64 * 1024 * 1024");
  ASSERT_EQ(modest.max_packet(), std::uint64_t{16} << 20);
  EXPECT_EQ(submit(modest, batch(queue_, 1500, 8380)).size(), 1500U);
  EXPECT_EQ(tasks(), 1500U);
}

// The payload with the longest encoding, with the maximum of everything else.
TEST_F(SubmitTest, TheWantedPacketTakesAnyTask) {
  const auto connect_with = [&](std::uint64_t packet) {
    observer_.execute("SET GLOBAL max_allowed_packet = " + std::to_string(packet));
    db::Connection db = connect();
    observer_.execute("SET GLOBAL max_allowed_packet = 64 * 1024 * 1024");
    EXPECT_EQ(db.max_packet(), packet);
    return db;
  };
  const std::string name(kMaxTypeName, 'n');
  Submission plain{queue_, name, std::string(kMaxPayload, '\''), {}};
  Submission unique = plain;
  unique.options.unique_key = std::string(kMaxUniqueKey, '\'');
  db::Connection enough = connect_with(kWantedPacket);
  for (const Submission& task : {plain, unique}) {
    const auto made = submit(enough, std::vector{task});
    EXPECT_EQ(made.size(), 1U);
  }
  EXPECT_EQ(number("SELECT MIN(LENGTH(payload)) FROM task"), kMaxPayload);
  db::Connection less = connect_with(std::uint64_t{32} << 20);
  EXPECT_THROW(submit(less, std::vector{plain}), db::DbError);
}

class LostReplyTest : public SubmitTest {
 protected:
  // Submits on a connection that waits a second for each reply, while commits are blocked.
  std::string submit_blocked(std::span<const Submission> submissions) {
    db::ConnectOptions options = support::Database::shared().options(name_);
    options.call_timeout = std::chrono::seconds(1);
    db::Connection impatient(options);
    std::optional<support::CommitStop> stop(observer_);
    std::string outcome = "submitted";
    try {
      submit(impatient, submissions);
    } catch (const OutcomeUnknown& unknown) {
      EXPECT_EQ(unknown.exit_code(), kExitOutcomeUnknown);
      outcome = unknown.what();
    } catch (const db::DbError& error) {
      outcome = error.what();
    }
    stop.reset();
    EXPECT_TRUE(support::eventually([&] {
      return number("SELECT COUNT(*) FROM information_schema.processlist WHERE id = " +
                    std::to_string(impatient.id())) == 0;
    }));
    return outcome;
  }
  // The server continues without the client, or notices its end: the outcome is unknown here.
  void expect_all_or_none(std::uint64_t count) {
    const std::uint64_t found = tasks();
    EXPECT_TRUE(found == 0 || found == count) << found << " of " << count;
  }
};

TEST_F(LostReplyTest, OutcomeOfAStatementIsUnknown) {
  const std::string outcome = submit_blocked(batch(queue_, 3));
  EXPECT_EQ(outcome.rfind("the outcome of submitting 3 tasks is unknown", 0), 0U) << outcome;
  expect_all_or_none(3);
}

TEST_F(LostReplyTest, OutcomeOfACommitIsUnknown) {
  const std::string outcome = submit_blocked(batch(wide_, 30));
  EXPECT_EQ(outcome.rfind("the outcome of submitting 30 tasks is unknown", 0), 0U) << outcome;
  expect_all_or_none(30);
}

// Before the COMMIT was sent the outcome is known: nothing was submitted.
TEST_F(LostReplyTest, InTheMiddleOfATransactionIsAPlainFailure) {
  db::Connection blocking = connect();
  blocking.execute(
      "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ; BEGIN;"
      "SELECT * FROM task WHERE queue_id = " +
      std::to_string(wide_.queue_id) + " AND partition_no = 7 FOR UPDATE");
  auto outcome = std::async(std::launch::async, [&]() -> std::string {
    try {
      submit(worker_.db, batch(wide_, 30));
      return "submitted";
    } catch (const OutcomeUnknown&) {
      return "unknown";
    } catch (const db::DbError& error) {
      return db::name_of(error.error_class());
    }
  });
  ASSERT_TRUE(lock_waits(1));
  observer_.execute("KILL " + std::to_string(worker_.db.id()));
  EXPECT_EQ(outcome.get(), "gone");
  blocking.execute("ROLLBACK");
  EXPECT_EQ(tasks(), 0U);
}

}  // namespace
}  // namespace allot::queue
