// SPDX-License-Identifier: Apache-2.0
// E15: tasks in every state that the first schema had live on in the newest one, whichever versions
// came between.
#include <gtest/gtest.h>

#include <iterator>

#include "db/migrate.h"
#include "db/queue/fixture.h"
#include "queue/cancel.h"
#include "queue/dead_letter.h"
#include "queue/inspect.h"
#include "queue/submit.h"
#include "sql/migrations.h"

namespace allot::queue {
namespace {

using support::Database;

constexpr unsigned kNewest = std::size(sql::migrations::kAll);

constexpr Partition kFree{1, 0};
constexpr Partition kLeased{1, 1};
constexpr TaskId kWaiting{kFree, 1, 4096'000};
constexpr TaskId kMoved{kFree, 1, 4096'001};
constexpr TaskId kDead{kFree, 1, 4096'002};
constexpr TaskId kOfALostHost{kLeased, 2, 4096'003};
constexpr TaskId kByAnOldWriter{kFree, 1, 4096'900};

// With the columns of 0001 and no others.
constexpr const char* kData = R"(
INSERT INTO queue VALUES (1, 'q', 2, UTC_TIMESTAMP(6));
INSERT INTO q_lock_table (queue_id, partition_no, expire_at) VALUES (1, 0, UTC_TIMESTAMP(6));
INSERT INTO q_lock_table (queue_id, partition_no, epoch, lock_by, lock_origin, lock_host,
                          lock_instance, lock_pid, state, expire_at, block_size)
VALUES (1, 1, 7, 11, 12, 'lost', 'default', 4711, 'EXTENDED', '2025-01-01', 100);
INSERT INTO task (queue_id, partition_no, prio, run_key, type, payload)
VALUES (1, 0, 1, 4096000, 't', 'waiting'), (1, 1, 2, 4096003, 't', 'leased');
INSERT INTO task (queue_id, partition_no, prio, run_key, first_key, attempt, type, payload)
VALUES (1, 0, 1, 8192001, 4096001, 2, 't', 'moved');
INSERT INTO task_moved VALUES (1, 0, 1, 4096001, 8192001);
INSERT INTO task_dead (queue_id, partition_no, prio, first_key, attempt, type, payload, cause, error,
                       died_at)
VALUES (1, 0, 1, 4096002, 1, 't', 'dead', 'fail', 'no', '2025-02-03');
INSERT INTO task_attempt (queue_id, partition_no, prio, first_key, attempt, ended_at, cause, error,
                          lock_host, lock_pid)
VALUES (1, 0, 1, 4096001, 1, '2025-02-03', 'retry', 'first', 'h', 1),
       (1, 0, 1, 4096001, 2, '2025-02-03', 'retry', 'second', 'h', 1),
       (1, 0, 1, 4096002, 1, '2025-02-03', 'fail', 'no', 'h', 1);
)";

// For each migration, the version that was installed before the newest program came.
class MigratedTest : public testing::TestWithParam<unsigned> {
 protected:
  MigratedTest() : name_(Database::shared().make_empty_database()), db_(connect()) {
    db_.execute(
        "CREATE TABLE allot_schema (version INT UNSIGNED NOT NULL PRIMARY KEY,"
        " name VARCHAR(63) NOT NULL, applied_at DATETIME(6) NOT NULL,"
        " applied_by VARCHAR(31) NOT NULL)");
    apply(1);
    db_.execute(kData);
    for (unsigned version = 2; version <= GetParam(); ++version) apply(version);
    EXPECT_EQ(db::migrate(db_).size(), kNewest - GetParam());
    // A statement that a program of the former version still sends.
    db_.execute(
        "INSERT INTO task (queue_id, partition_no, prio, run_key, type, payload)"
        " VALUES (1, 0, 1, 4096900, 't', 'by an old writer')");
  }

  [[nodiscard]] db::Connection connect() const { return Database::shared().connect(name_); }
  void apply(unsigned version) {
    const sql::SqlText& migration = *sql::migrations::kAll[version - 1];
    db_.execute(migration.text);
    db_.execute("INSERT INTO allot_schema VALUES (" + std::to_string(version) + ", '" +
                std::string(migration.name) + "', UTC_TIMESTAMP(6), '0.0.1')");
  }

  std::string name_;
  db::Connection db_;
};

TEST_P(MigratedTest, EveryTaskIsSeen) {
  db::require_schema(db_);
  EXPECT_EQ(show(db_, kWaiting)->payload, "waiting");
  EXPECT_EQ(show(db_, kMoved)->run_key, 8192001U);
  EXPECT_EQ(show(db_, kMoved)->attempts, 2U);
  EXPECT_EQ(show(db_, kDead)->error, "no");
  EXPECT_EQ(show(db_, kOfALostHost)->holder, "lost/4711");
  const auto attempts = list_attempts(db_, kMoved);
  ASSERT_EQ(attempts.size(), 2U);
  EXPECT_EQ(attempts[1].error, "second");
  EXPECT_EQ(list_attempts_of_all_lives(db_, kDead).size(), 1U);
  EXPECT_EQ(count_waiting(db_, *find_queue(db_, "q")).value, 4U);
  EXPECT_TRUE(standing(db_, *show(db_, kOfALostHost))->overdue);
}

TEST_P(MigratedTest, EveryTaskRunsOn) {
  Worker worker(connect());
  const auto block = worker.lease(kFree);
  ASSERT_TRUE(block);
  ASSERT_EQ(block->tasks.size(), 3U);
  EXPECT_EQ(block->tasks[0].payload, "waiting");
  EXPECT_EQ(block->tasks[1].payload, "by an old writer");
  const Task& moved = block->tasks[2];
  EXPECT_EQ(moved.id_key(), kMoved.first_key);
  EXPECT_EQ(worker.tasks.retry(worker.db, block->lease, moved, 3, std::chrono::hours(1), kFailed),
            Landed::kYes);
  const std::vector done{finished(block->tasks[0]), finished(block->tasks[1])};
  EXPECT_TRUE(TaskStore::ack_and_release(worker.db, block->lease, done));
  EXPECT_FALSE(show(db_, kWaiting));
  EXPECT_FALSE(show(db_, kByAnOldWriter));
  EXPECT_EQ(list_attempts(db_, kMoved).size(), 3U);

  const auto taken_over = worker.steal(kLeased);
  ASSERT_TRUE(taken_over);
  EXPECT_GT(taken_over->lease.epoch, 7U);
  ASSERT_EQ(taken_over->tasks.size(), 1U);
  EXPECT_EQ(worker.tasks.bury(worker.db, taken_over->lease, taken_over->tasks[0], 1, kFailed),
            Landed::kYes);
  EXPECT_TRUE(show(db_, kOfALostHost)->dead);
}

TEST_P(MigratedTest, OperatorsAndSubmittersGoOn) {
  EXPECT_EQ(retry_dead(db_, std::vector{kDead}), 1U);
  EXPECT_FALSE(show(db_, kDead)->dead);
  EXPECT_EQ(list_attempts_of_all_lives(db_, kDead).size(), 1U);
  EXPECT_TRUE(cancel_task(db_, kMoved, "not wanted").done);
  EXPECT_TRUE(show(db_, kMoved)->dead);
  EXPECT_EQ(discard_dead(db_, std::vector{kMoved}), 1U);
  const auto queue = find_queue(db_, "q");
  pause(db_, *queue, "why");
  EXPECT_TRUE(standing(db_, *show(db_, kWaiting))->paused);
  Submission task{*queue, "t", "new", {}};
  task.options.unique_key = "k";
  const std::vector twice{task, task};
  const auto made = submit(db_, twice);
  EXPECT_FALSE(made[0].existed);
  EXPECT_TRUE(made[1].existed);
}

INSTANTIATE_TEST_SUITE_P(From, MigratedTest, testing::Range(1U, kNewest + 1),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace allot::queue
