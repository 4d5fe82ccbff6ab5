// SPDX-License-Identifier: Apache-2.0
// E15: the data of a schema is preserved by a migration to a newer one, in each of its tables, and
// programs of the previous version continue with it.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "db/migrate.h"
#include "db/migrations.h"
#include "db/queue/fixture.h"
#include "queue/model/task_facts.h"
#include "queue/operate/cancel.h"
#include "queue/operate/dead_tasks.h"
#include "queue/operate/limits.h"
#include "queue/submit/submit.h"
#include "queue/verbs/duty.h"
#include "queue/views/health.h"
#include "queue/views/task_lists.h"

namespace allot::queue {
namespace {

using support::Database;

constexpr Partition kFree{1, 0};
constexpr Partition kLeased{1, 1};
constexpr TaskId kWaiting{kFree, 1, 4096'000};
constexpr TaskId kMoved{kFree, 1, 4096'001};
constexpr TaskId kDead{kFree, 1, 4096'002};
constexpr TaskId kOfALostHost{kLeased, 2, 4096'003};
constexpr TaskId kByAnOldWriter{kFree, 1, 4096'900};
constexpr TaskId kDetached{{2, 0}, 1, 4096'004};

// Only columns of 0001, rows in each table.
constexpr const char* kData = R"(
INSERT INTO queue (queue_id, name, partitions, created_at)
VALUES (1, 'q', 2, '2025-02-03'), (2, 'other', 1, '2025-02-03');
INSERT INTO q_lock_table (queue_id, partition_no, expire_at)
VALUES (1, 0, UTC_TIMESTAMP(6)), (2, 0, UTC_TIMESTAMP(6));
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
                          fault, lock_host, lock_pid)
VALUES (1, 0, 1, 4096001, 1, '2025-02-03', 'retry', 'first', 'first', 'h', 1),
       (1, 0, 1, 4096001, 2, '2025-02-03', 'retry', 'second', 'second', 'h', 1),
       (1, 0, 1, 4096002, 1, '2025-02-03', 'fail', 'no', 'no', 'h', 1);
INSERT INTO task_running (queue_id, partition_no, prio, first_key, run_key, attempt, type, payload,
                          epoch, lock_by, lock_origin, lock_host, lock_instance, lock_pid, expire_at,
                          detached_at)
VALUES (2, 0, 1, 4096004, 4096004, 300, 't', 'detached', 7, 11, 12, 'lost', 'default', 4711,
        '2025-01-01', '2025-01-01');
INSERT INTO task_cancel (queue_id, partition_no, prio, first_key, reason, requested_at)
VALUES (2, 0, 1, 4096004, 'not wanted', '2025-01-01');
INSERT INTO task_unique VALUES (2, 'k', 0, 1, 4096004, 1, 0, NULL);
INSERT INTO task_history (queue_id, partition_no, prio, first_key, attempt, type, ended_at, lock_host,
                          lock_pid)
VALUES (2, 0, 1, 4096005, 300, 't', '2025-02-03', 'h', 1);
INSERT INTO queue_pause (queue_id, paused_at, reason) VALUES (2, '2025-02-03', 'why');
INSERT INTO queue_duty (queue_id, duty, free_at) VALUES (2, 'purge', '2025-02-03');
INSERT INTO fair_partition VALUES (2, 'customer', 0);
INSERT INTO schedule (schedule_id, name, version, expression, zone, queue, type, payload, created_at,
                      changed_at)
VALUES (1, 's', 1, '@daily', 'UTC', 'q', 't', '', '2025-02-03', '2025-02-03');
INSERT INTO schedule_tick (schedule_id, tick_no, tick, at) VALUES (1, 1, '2025-02-03', '2025-02-03');
INSERT INTO notice VALUES ('backlog', 'q', '2025-02-03', 'many', NULL);
INSERT INTO named_lock VALUES ('l', 0, 1, 1024, 'FREE', '2025-02-03', 1, '2025-02-03', NULL, NULL, NULL);
INSERT INTO lock_ticket VALUES (1, 'l', 1, 'h', 1, '2025-02-03', 1, '2025-02-03');
INSERT INTO queue_rate VALUES (2, 5, 5, '2025-02-03');
INSERT INTO queue_bucket (queue_id, bucket_no, interval_us, max_lag_us, max_grant, next_free)
VALUES (2, 0, 200000, 1000000, 5, 0);
INSERT INTO server_identity VALUES (1, 'former', 1, '2025-02-03', 0);
INSERT INTO bulk_action (token, kind, queue_id, dead_group, type, died_until, counted, counted_all,
                         requested_by, started_at, next_at)
VALUES ('x', 'retry_dead', 1, '', '', '2025-02-03', 1, 1, 'me', '2025-02-03', '2025-02-03');
INSERT INTO audit (at, actor, source, action, subject, name, queue, detail, reason)
VALUES ('2025-02-03', 'me', 'cli', 'pause', 'queue', 'q', 'q', '', '');
INSERT INTO finding VALUES (1, '2025-02-03', 'warn', 'clock', NULL, 'off', 'NTP');
INSERT INTO instance (origin, host, instance, version, run_id, since, seen_at, write_no, totals)
VALUES (1, 'h', 'i', 'v', 'l', '2025-02-03', '2025-02-03', 1, '');
INSERT INTO attempt_minute
VALUES ('2025-02-03', 1, 1, 300, 60, 'q', 't', '', '', 1, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0);
INSERT INTO queue_minute VALUES ('2025-02-03', 1, 5, 0);
INSERT INTO deployment VALUES ('h', 'i', '2025-02-03', 'v', 'c', NULL, NULL);
INSERT INTO host_snapshot VALUES (1, 'h', 'i', 1, '2025-02-03', '{}');
INSERT INTO type_hour VALUES ('2025-02-03', 'q', 't', 1, 0, 0,
  1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
INSERT INTO fireworq_queue VALUES (2, 'other', 200, NULL, NULL, NULL);
INSERT INTO fireworq_routing VALUES ('category', 'other');
INSERT INTO fireworq_job VALUES (1, 2, 0, 1, 4096004);
INSERT INTO deferred_type VALUES (1, 0, 1, 't', 4096000, 4096001);
)";

// A made-up next version: an additional column in each table of tasks, and a table.
constexpr sql::SqlText kMadeUp{"9999_made_up", R"(
ALTER TABLE queue ADD COLUMN later INT NOT NULL DEFAULT 0, ALGORITHM=INSTANT;
ALTER TABLE q_lock_table ADD COLUMN later VARBINARY(255) NULL, ALGORITHM=INSTANT;
ALTER TABLE task ADD COLUMN later VARBINARY(255) NULL, ALGORITHM=INSTANT;
ALTER TABLE task_running ADD COLUMN later VARBINARY(255) NULL, ALGORITHM=INSTANT;
ALTER TABLE task_dead ADD COLUMN later VARBINARY(255) NULL, ALGORITHM=INSTANT;
ALTER TABLE task_dead ADD KEY later (queue_id, cause);
ALTER TABLE task_attempt ADD COLUMN later VARBINARY(255) NULL, ALGORITHM=INSTANT;
CREATE TABLE IF NOT EXISTS later (a INT) ENGINE=InnoDB;
)"};
constexpr auto kNextList = db::followed_by(kMadeUp);

enum class Schema { kWanted, kNext };

void PrintTo(Schema schema, std::ostream* out) {
  *out << (schema == Schema::kWanted ? "Wanted" : "Next");
}

// Today's code with the data of the first version, on its schema and on the next one.
class MigratedTest : public testing::TestWithParam<Schema> {
 protected:
  MigratedTest() : name_(Database::shared().make_empty_database()), db_(connect()) {
    db::migrate(db_, db::kMigrations.first(1));
    db_.execute(kData);
    before_ = rows_by_table({});
    EXPECT_EQ(db::migrate(db_).size(), db::kMigrations.size() - 1);
    if (GetParam() == Schema::kNext) {
      EXPECT_EQ(db::migrate(db_, kNextList), std::vector<std::string>{"9999_made_up"});
    }
  }

  [[nodiscard]] db::Connection connect() const { return Database::shared().connect(name_); }

  struct Content {
    std::string columns;
    std::multiset<std::string> rows;
    bool operator==(const Content&) const = default;
  };
  using Tables = std::map<std::string, Content>;
  // For all tables, or those in `known`, with the columns there. Excludes rows written by
  // migrations.
  Tables rows_by_table(const Tables& known) {
    Tables tables;
    auto names = db_.execute(
        "SELECT table_name, GROUP_CONCAT(column_name ORDER BY ordinal_position)"
        " FROM information_schema.columns WHERE table_schema = DATABASE()"
        " AND table_name <> 'allot_schema' GROUP BY table_name");
    while (const auto row = names.front().next()) {
      const std::string table(row->text(0));
      Content content{std::string(row->text(1)), {}};
      if (!known.empty()) {
        const auto at = known.find(table);
        if (at == known.end()) continue;
        content.columns = at->second.columns;
      }
      auto all = db_.execute("SELECT CONCAT_WS('|', " + content.columns + ") FROM " + table);
      while (const auto one = all.front().next()) content.rows.emplace(one->text(0));
      tables[table] = content;
    }
    return tables;
  }

  std::string name_;
  db::Connection db_;
  Tables before_;
};

TEST_P(MigratedTest, EveryRowOfEveryTableIsThere) {
  EXPECT_EQ(before_.size(), 35U);
  for (const auto& [table, content] : before_) EXPECT_FALSE(content.rows.empty()) << table;
  EXPECT_TRUE(rows_by_table(before_) == before_);
  EXPECT_EQ(rows_by_table({}).contains("later"), GetParam() == Schema::kNext);
}

TEST_P(MigratedTest, EveryTaskIsSeen) {
  EXPECT_EQ(show(db_, kWaiting)->payload, "waiting");
  EXPECT_EQ(show(db_, kMoved)->run_key, 8192001U);
  EXPECT_EQ(show(db_, kMoved)->attempts, 2U);
  EXPECT_EQ(show(db_, kDead)->error, "no");
  EXPECT_EQ(show(db_, kOfALostHost)->holder, "lost/4711");
  const auto attempts = list_attempts(db_, kMoved);
  ASSERT_EQ(attempts.size(), 2U);
  EXPECT_EQ(attempts[1].error, "second");
  EXPECT_EQ(attempts[1].fault, "second");
  EXPECT_EQ(attempts[1].detail, "");
  EXPECT_EQ(list_attempts(db_, kDead, true).size(), 1U);
  EXPECT_EQ(show(db_, kDetached)->attempts, 300U);
  EXPECT_EQ(count_waiting(db_, *find_queue(db_, "q")).value, 3U);
  EXPECT_TRUE(standing(db_, *show(db_, kOfALostHost))->overdue);
}

TEST_P(MigratedTest, EveryTaskRunsOn) {
  // Otherwise the takeover would wait, as it does after a server change (S48).
  db_.execute("DELETE FROM server_identity WHERE only_row > 0");
  // As written by a program without the later columns.
  db_.execute(
      "INSERT INTO task (queue_id, partition_no, prio, run_key, type, payload)"
      " VALUES (1, 0, 1, 4096900, 't', 'by an old writer')");
  Worker worker(connect());
  const auto block = worker.lease(kFree);
  ASSERT_TRUE(block);
  ASSERT_EQ(block->tasks.size(), 3U);
  EXPECT_EQ(block->tasks[0].payload, "waiting");
  EXPECT_EQ(block->tasks[1].payload, "by an old writer");
  const Task& moved = block->tasks[2];
  EXPECT_EQ(moved.id_key(), kMoved.first_key);
  EXPECT_EQ(
      worker.tasks.retry(worker.db, fence(block->lease, moved), 3, std::chrono::hours(1), kFailure),
      Fenced::kWritten);
  const std::vector done{finished(block->tasks[0]), finished(block->tasks[1])};
  EXPECT_TRUE(ack_and_release(worker.db, block->lease, done));
  EXPECT_FALSE(show(db_, kWaiting));
  EXPECT_FALSE(show(db_, kByAnOldWriter));
  EXPECT_EQ(list_attempts(db_, kMoved).size(), 3U);

  const auto taken_over = worker.steal(kLeased);
  ASSERT_TRUE(taken_over);
  EXPECT_GT(taken_over->lease.epoch, 7U);
  ASSERT_EQ(taken_over->tasks.size(), 1U);
  EXPECT_EQ(
      worker.tasks.bury(worker.db, fence(taken_over->lease, taken_over->tasks[0]), 1, kFailure),
      Fenced::kWritten);
  EXPECT_TRUE(show(db_, kOfALostHost)->dead);
}

TEST_P(MigratedTest, OperatorsAndSubmittersGoOn) {
  EXPECT_EQ(retry_dead(db_, std::vector{kDead}), 1U);
  EXPECT_FALSE(show(db_, kDead)->dead);
  EXPECT_EQ(list_attempts(db_, kDead, true).size(), 1U);
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
  EXPECT_FALSE(made[0].existed());
  EXPECT_TRUE(made[1].existed());
}

// Two duties without a holder: one ended in the past, and one ends an hour ahead.
TEST_P(MigratedTest, DutiesOfTheVersionBeforeAreLed) {
  db_.execute(
      "INSERT INTO queue_duty (queue_id, duty, free_at)"
      " VALUES (2, 'unique', UTC_TIMESTAMP(6) + INTERVAL 1 HOUR)");
  const DutyNames both{{2, "purge"}, {2, "unique"}};
  const auto seen = DutyStore::watch(db_, both);
  ASSERT_EQ(seen.size(), 2U);
  for (const SeenDuty& duty : seen) {
    EXPECT_TRUE(duty.over) << duty.duty.name;
    EXPECT_FALSE(duty.holder || duty.ran_ago) << duty.duty.name;
  }
  for (const DutyView& duty : list_duties(db_)) {
    EXPECT_EQ(duty.queue, "other");
    EXPECT_FALSE(duty.led);
    EXPECT_EQ(duty.leaderless.has_value(), duty.duty == "purge") << "the other one has a worker";
  }
  const DutyStore store(make_holder("test", "/run/allot/test"));
  EXPECT_EQ(store.take_terms(db_, seen), 2U);
  for (const DutyView& duty : list_duties(db_)) {
    EXPECT_TRUE(duty.led) << duty.duty;
    EXPECT_FALSE(duty.leaderless) << duty.duty;
  }
}

INSTANTIATE_TEST_SUITE_P(Schema, MigratedTest, testing::Values(Schema::kWanted, Schema::kNext),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace allot::queue
