// SPDX-License-Identifier: Apache-2.0
// Number of rows read by each statement of sql/queries, with many waiting tasks. The limits are
// promise 6: the cost of a block does not depend on the number of waiting tasks. EXPLAIN alone does
// not show it (a plan may be right while its range is the whole partition), so the test counts the
// rows read.
// Rule: S3.
#include <algorithm>
#include <map>
#include <regex>
#include <set>

#include "db/queue/fixture.h"
#include "db/queue/plan_expectations.h"
#include "queue/model/error_text.h"
#include "queue/model/server_change.h"
#include "queue/verbs/duty.h"
#include "sql/queries.h"
#include "support/db_error.h"

namespace allot::queue {
namespace {

struct Plan {
  std::string select_type;
  std::string table;
  std::string type;
  std::string key;
  std::string key_len;
  std::string extra;
};

class PlanTest : public QueueTest {
 protected:
  // Partition p, class c, n-th task: key n + 1, with a small payload, as most are. In the odd
  // partitions class 0 is not due before tomorrow: the case that once took 25 times as long.
  PlanTest()
      : QueueTest(support::Database::shared().make_database()),
        wide_(make_queue("wide", kPartitions)) {
    observer_.execute(
        "INSERT INTO task (queue_id, partition_no, prio, run_key, type, payload)"
        " WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < " +
        std::to_string(kTasks) + ") SELECT " + std::to_string(wide_.queue_id) + ", i % " +
        std::to_string(kPartitions) + ", i DIV " + std::to_string(kPartitions) +
        " % 4, 1 + i DIV " + std::to_string(kPartitions * kPrioClasses) +
        " + IF(i % 2 = 1 AND i DIV " + std::to_string(kPartitions) + " % 4 = 0, " +
        std::to_string(kTomorrow) + ", 0), 't', REPEAT('x', 100) FROM n");
    for (const char* table : {"task_moved", "task_attempt", "task_dead", "task_running",
                              "task_unique", "task_cancel", "task_history"})
      fill_history(table);
    observer_.execute(
        "INSERT INTO fair_partition SELECT queue_id, CONCAT('key-', partition_no), "
        "partition_no FROM q_lock_table WHERE queue_id = " +
        std::to_string(wide_.queue_id));
    observer_.execute("INSERT INTO task_unique VALUES (" + std::to_string(wide_.queue_id) +
                      ", 'free', 0, 2, 471100, 1, 0, NULL)");
    make_duties(observer_, {{1, "purge"}, {1, "stuck"}});
    fill_schedules();
    fill_routes();
    fill_locks();
    fill_bulk();
    fill_audit();
    fill_minutes();
    fill_fireworq();
    // Like a rated queue, but without the row that closes it to all other statements.
    observer_.execute(
        "INSERT INTO queue_bucket (queue_id, bucket_no, interval_us, max_lag_us, max_grant, "
        "next_free) "
        "SELECT " +
        std::to_string(wide_.queue_id) + ", seq, 6000, 194000, 50, 0 FROM " +
        support::numbers(0, 2));
    observer_.execute(
        "INSERT INTO deferred_type SELECT queue_id, partition_no, 2, 't', 1, 1 << 60 FROM "
        "q_lock_table WHERE queue_id = " +
        std::to_string(wide_.queue_id));
    note_server(observer_);
    observer_.execute("INSERT INTO notice VALUES ('dead', 'wide', UTC_TIMESTAMP(6), '', NULL)");
    for (std::uint32_t no = 0; no < kPartitions; ++no) {
      if (no % 4 == 0) {
        leases_.push_back(worker_.lease({wide_.queue_id, no}, {.block_size = 1})->lease);
      }
    }
  }
  // Three are due; number 1 has the name of the queue, and version 1.
  void fill_schedules() {
    observer_.execute(
        "INSERT INTO schedule (schedule_id, name, version, expression, zone, queue, type, payload,"
        " next_run, due_at, ticks, created_at, changed_at) SELECT seq, IF(seq = 1, 'wide',"
        " CONCAT('s', seq)), 1, '* * * * *', 'UTC', 'wide', 't', '', '2026-01-01',"
        " IF(seq < 4, '2026-01-01', '2100-01-01'), 21, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) FROM " +
        support::numbers(1, kSchedules) +
        "; INSERT INTO schedule_tick (schedule_id, tick_no, tick, at) SELECT schedule_id, seq,"
        " '2026-01-01', '2026-01-01' FROM schedule, " +
        support::numbers(1, 21) + " WHERE schedule_id <= 100");
  }
  // Routes of any queue, and of queues that need not exist; queue 1 has none, as its row says.
  void fill_routes() {
    const std::string each = std::to_string(kRoutesOfOne);
    observer_.execute("INSERT INTO route SELECT IF(seq <= " + each + ", 0, (seq - 1) DIV " + each +
                      " + 1), seq % 2, CONCAT('t',"
                      " (seq - 1) % " +
                      each + " + 1), " + std::to_string(wide_.queue_id) +
                      ", UTC_TIMESTAMP(6) FROM " + support::numbers(1, kRoutes));
  }
  void fill_locks() {
    observer_.execute(
        "INSERT INTO named_lock SELECT IF(seq <= 20, 'wide', CONCAT('l', seq)), IF(seq <= 20, "
        "seq "
        "- 1,"
        " 0), IF(seq <= 20, 20, 1), 0, IF(seq <= 10, 'LOCKED', 'FREE'), '2100-01-01', 30000000,"
        " '2026-01-01', IF(seq <= 10, 1000 + seq, NULL), NULL, NULL FROM " +
        support::numbers(1, 220) +
        "; INSERT INTO lock_ticket SELECT seq, IF(seq <= 20, 'wide', CONCAT('l', seq)), seq, "
        "'h', "
        "1,"
        " UTC_TIMESTAMP(6) + INTERVAL 1 HOUR, 7200000000, UTC_TIMESTAMP(6) FROM " +
        support::numbers(1, 220));
  }
  // Five are open, number 7 is one of them.
  void fill_bulk() {
    observer_.execute(
        "INSERT INTO bulk_action (action_id, token, kind, queue_id, dead_group, type, died_until,"
        " counted, counted_all, requested_by, started_at, next_at, ended_at) SELECT seq, "
        "CONCAT('x', "
        "seq),"
        " 'retry_dead', " +
        std::to_string(wide_.queue_id) +
        ", '', '', '2026-01-01', 1, 1, '', '2026-01-01', '2026-01-01',"
        " IF(seq BETWEEN 5 AND 9, NULL, UTC_TIMESTAMP(6) - INTERVAL 1 DAY) FROM " +
        support::numbers(1, 500));
  }
  void fill_audit() {
    observer_.execute(
        "INSERT INTO audit (at, actor, source, action, subject, name, queue, detail, reason)"
        " SELECT UTC_TIMESTAMP(6), 'x', 'cli', 'pause', 'queue', IF(seq % 5 = 0, 'q', 'r'), 'q', "
        "'', '' FROM " +
        support::numbers(1, 2000));
  }
  // A week of two instances; of the last minute there are four rows.
  void fill_minutes() {
    observer_.execute(
        "INSERT INTO instance SELECT seq, 'h', 'i', 'v', 'l', '2026-01-01', UTC_TIMESTAMP(6), 0, "
        "'', NULL"
        " FROM " +
        support::numbers(6, 7) +
        "; INSERT INTO attempt_minute SELECT UTC_TIMESTAMP() - INTERVAL seq MINUTE, origin, seq, "
        "0, "
        "60,"
        " 'wide', 't', '', '', 1, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0 FROM instance, " +
        support::numbers(0, 2000) +
        "; INSERT INTO queue_minute SELECT UTC_TIMESTAMP() - INTERVAL seq MINUTE, 0, 0, 0 FROM " +
        support::numbers(0, 2000) +
        "; INSERT INTO deployment SELECT CONCAT('h', origin), 'i', UTC_TIMESTAMP(6), 'v', 'c', "
        "NULL, NULL FROM instance"
        "; INSERT INTO host_snapshot SELECT origin, 'h', 'i', 1, UTC_TIMESTAMP(6), '{}' FROM "
        "instance"
        "; INSERT INTO type_hour SELECT UTC_TIMESTAMP() - INTERVAL seq HOUR, 'wide', 't'"
        ", 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0"
        ", 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 FROM " +
        support::numbers(0, 190));
  }
  void fill_fireworq() {
    observer_.execute(
        "INSERT INTO fireworq_queue VALUES (" + std::to_string(wide_.queue_id) +
        ", 'wide', 200, NULL, NULL, NULL); INSERT INTO fireworq_routing VALUES "
        "('c', 'wide'); INSERT INTO fireworq_job (queue_id, partition_no, prio, "
        "first_key) SELECT queue_id, partition_no, prio, run_key FROM task WHERE prio = 1");
  }
  void fill_history(const std::string& table) {
    const std::map<std::string, std::string> columns{
        {"task_moved", "run_key"},
        {"task_cancel", "'', UTC_TIMESTAMP(6), 0"},
        {"task_attempt",
         "0, 1, UTC_TIMESTAMP(6), 'failed', '', '', 0, NULL, NULL, NULL, NULL, '', '', NULL"},
        {"task_dead", "1, 't', '', 'failed', '', UTC_TIMESTAMP(6)"},
        {"task_running",
         "run_key + 1000000, 1, 0, 't', '', 7, 8, 9, 'h', 'i', 1, UTC_TIMESTAMP(6),"
         " UTC_TIMESTAMP(6), 30000000, NULL, NULL, NULL"},
        {"task_history", "1, 't', UTC_TIMESTAMP(6), 'h', 1, NULL, NULL, NULL, NULL"}};
    if (table == "task_unique") {
      observer_.execute(
          "INSERT INTO task_unique SELECT queue_id, CONCAT('key-', partition_no, '-', prio, '-', "
          "run_key),"
          " partition_no, prio, run_key, 1, 0, NULL FROM task WHERE run_key <= " +
          std::to_string(kHistory));
      return;
    }
    // One of its columns is computed.
    const std::string named = table == "task_dead"
                                  ? " (queue_id, partition_no, prio, first_key, attempt, type, "
                                    "payload, cause, error, died_at)"
                                  : "";
    observer_.execute("INSERT INTO " + table + named +
                      " SELECT queue_id, partition_no, prio, run_key, " + columns.at(table) +
                      " FROM task WHERE run_key <= " + std::to_string(kHistory));
  }

  // A held lease, with tasks of all classes with keys from 1 on.
  Values common_values() {
    const Lease& lease = leases_.at(0);
    Values values = constants();
    values.insert({{"queue_id", std::to_string(wide_.queue_id)},
                   {"group", "'" + error_group(wide_.queue_id, "t", "failed", "").group + "'"},
                   {"partition_no", std::to_string(lease.partition.partition_no)},
                   {"epoch", std::to_string(lease.epoch)},
                   {"holder", std::to_string(lease.holder)},
                   {"origin", std::to_string(worker_.leases.holder().origin)},
                   {"block_size", std::to_string(kBlock)},
                   {"queue_ids", std::to_string(wide_.queue_id)}});
    return values;
  }
  static Values constants() {
    return {{"prio", "2"},
            {"run_key", "150"},
            {"headers", "NULL"},
            {"first_key", "150"},
            {"attempt", "3"},
            {"server_name", "@@hostname"},
            {"other_node", "0"},
            {"salt", "7"},
            {"cause", "'failed'"},
            {"error", "'text'"},
            {"detail", "'text'"},
            {"fault", "''"},
            {"log_lines", "NULL"},
            {"progress", "NULL"},
            {"progress_text", "NULL"},
            {"host", "'host'"},
            {"instance", "'test'"},
            {"pid", "1"},
            {"runtime_us", "1"},
            {"cpu_us", "NULL"},
            {"max_rss_kib", "NULL"},
            {"ttl_us", "30000000"},
            {"delay_us", "1000000"},
            {"known_us", "0"},
            {"inline_limit", "65536"},
            {"highest_seen", "0"},
            {"seen_epoch", "0"},
            {"seen_expire_at", "UTC_TIMESTAMP(6)"},
            {"stale", "1"},
            {"nowait", "NOWAIT"},
            {"rated", "0"},
            {"passed_flag", "128"},
            {"keep_flags", "254"},
            {"at_least", "3"},
            {"at_most", "255"},
            {"suspect_flag", "1"},
            {"begun", "1"},
            {"as_done", "0"},
            {"limit", "50"},
            {"bound", "50"},
            {"earlier", "0"},
            {"no_handler_flag", "128"},
            {"classes_before", "0, 1"},
            {"defer_us", "0"},
            {"keep_deferral", "0"},
            {"defer_prio", "2"},
            {"defer_key", "150"},
            {"compressed_flags", "28"},
            {"started", "FALSE"},
            {"stored_flags", "8"},
            {"kept_flags", "76"},
            {"placement", "'spread'"},
            {"max_running", "1"},
            {"name", "'wide'"},
            {"partitions", "8"}};
  }

  std::string render(const Expectation& expected) {
    Values values = common_values();
    for (const auto& [name, value] : expected.values) values[name] = value;
    db::Statement statement(*expected.query);
    const std::string text = without_comments(expected.query->text);
    for (const auto& [name, value] : values) {
      if (std::regex_search(text, std::regex(":" + name + "\\b"))) statement.set_raw(name, value);
    }
    return statement.render();
  }
  static std::string without_comments(std::string_view text) {
    return std::regex_replace(std::string(text), std::regex("-- [^\n]*"), "");
  }

  // All Handler_read counters of the session, added up.
  std::uint64_t reads_so_far() {
    std::uint64_t sum = 0;
    auto results = worker_.db.execute("SHOW SESSION STATUS LIKE 'Handler\\_read%'");
    while (const auto row = results.front().next()) sum += row->u64(1);
    return sum;
  }
  // Counts the rows read by `sql`, with the server's counters. Its writes are rolled back.
  std::uint64_t reads_of(const std::string& sql) {
    worker_.db.execute("BEGIN");
    const std::uint64_t first = reads_so_far();
    const std::uint64_t overhead = reads_so_far() - first;  // the counter query itself
    const std::uint64_t before = reads_so_far();
    worker_.db.execute(sql);
    const std::uint64_t reads = reads_so_far() - before - overhead;
    worker_.db.execute("ROLLBACK");
    return reads;
  }

  std::vector<Plan> explain(const std::string& sql) {
    std::vector<Plan> plans;
    auto results = worker_.db.execute("EXPLAIN FORMAT=TRADITIONAL " + sql);
    // MySQL has a column "partitions" before the type, and "filtered" before the extra column.
    const std::size_t more = support::on_mysql() ? 1 : 0;
    while (const auto row = results.front().next()) {
      plans.push_back({std::string(row->text(1)), std::string(row->text(2)),
                       std::string(row->text(3 + more)), std::string(row->text(5 + more)),
                       std::string(row->text(6 + more)), std::string(row->text(9 + 2 * more))});
    }
    return plans;
  }
  static std::vector<std::string> statements_of(const std::string& sql) {
    std::vector<std::string> statements;
    std::size_t begin = 0;
    for (std::size_t end = 0; begin < sql.size(); begin = end + 1) {
      end = std::min(sql.find(";\n", begin), sql.size());
      statements.push_back(sql.substr(begin, end - begin));
    }
    return statements;
  }

  static bool is_ours(const std::string& table) {
    static const std::set<std::string> kOurs{"task",
                                             "q_lock_table",
                                             "lease",
                                             "task_moved",
                                             "moved",
                                             "task_attempt",
                                             "task_dead",
                                             "queue",
                                             "task_running",
                                             "running",
                                             "queue_pause",
                                             "pause",
                                             "fair_partition",
                                             "task_unique",
                                             "task_cancel",
                                             "schedule",
                                             "schedule_tick",
                                             "route",
                                             "taker",
                                             "target",
                                             "named_lock",
                                             "lock_ticket",
                                             "queue_bucket",
                                             "queue_rate",
                                             "bulk_action",
                                             "finding",
                                             "notice",
                                             "task_history",
                                             "deferred_type",
                                             "audit",
                                             "instance",
                                             "attempt_minute",
                                             "queue_minute",
                                             "type_hour",
                                             "host_snapshot",
                                             "deployment",
                                             "found",
                                             "fireworq_queue",
                                             "fireworq_routing",
                                             "fireworq_job",
                                             "job"};
    return kOurs.count(table) != 0;
  }
  static bool has_sound_key(const Plan& plan) {
    return plan.key == "PRIMARY" || plan.key == "died_at" || plan.key == "due_at" ||
           plan.table == "queue" || plan.table == "fireworq_queue" ||
           (plan.table == "schedule" && plan.key == "name") || plan.key == "error_group" ||
           (plan.table == "task_unique" && plan.key == "task") ||
           (plan.table == "fireworq_job" && plan.key == "task") ||
           (plan.table == "named_lock" && plan.key == "lock_by") ||
           (plan.table == "audit" && (plan.key == "subject" || plan.key == "at")) ||
           (plan.table == "bulk_action" && (plan.key == "token" || plan.key == "ended_at")) ||
           (plan.table == "task_history" && plan.key == "ended_at") ||
           (plan.table == "lock_ticket" && (plan.key == "name" || plan.key == "lock_by"));
  }
  void check_plans(const Expectation& expected, const std::string& sql) {
    const bool may_scan = expected.scans || (expected.most && from_the_front_);
    for (const std::string& statement : statements_of(sql)) {
      for (const Plan& plan : explain(statement)) {
        // Inserting values reads nothing.
        if (plan.select_type == "INSERT" || !is_ours(plan.table)) continue;
        const std::string where = std::string(expected.query->name) + ".sql: " + plan.table + " " +
                                  plan.type + " " + plan.key + " " + plan.extra;
        const bool scan = plan.type == "ALL" || plan.type == "index";
        EXPECT_TRUE(!scan || may_scan) << where;
        EXPECT_TRUE(scan || plan.type.empty() || has_sound_key(plan)) << where;
        const bool sorts = plan.extra.find("filesort") != std::string::npos ||
                           plan.extra.find("temporary") != std::string::npos;
        EXPECT_TRUE(!sorts || expected.sorts) << where;
      }
    }
  }

  QueueInfo wide_;
  std::vector<Lease> leases_;
  bool from_the_front_ = support::reads_from_the_front(observer_);
};

TEST_F(PlanTest, EachStatementReadsWhatItMust) {
  for (const bool analyzed : {false, true}) {
    if (analyzed) observer_.execute("ANALYZE TABLE task, q_lock_table, task_moved");
    for (const Expectation& expected : expectations()) {
      const std::string sql = render(expected);
      check_plans(expected, sql);
      // The requested page begins after this number of rows.
      const std::uint64_t skipped = expected.most && from_the_front_ ? 1000 : 0;
      EXPECT_LE(reads_of(sql), expected.reads + skipped)
          << expected.query->name << ".sql " << (analyzed ? "(analyzed) " : "") << expected.why;
    }
  }
}

// A server prefers a scan of a small table to seeking some keys in it, and then waits for the rows
// of others. (For dead tasks and the history this is acceptable: only operators and the purge use
// it.)
TEST_F(PlanTest, NothingWaitsForTheRowsOfOthersWhereFewTasksWait) {
  db::Connection other = connect();
  other.execute("BEGIN");
  for (const char* table :
       {"task", "task_moved", "task_attempt", "task_running", "task_unique", "task_cancel"}) {
    const std::string rows = " SELECT * FROM " + std::string(table) + " WHERE partition_no = ";
    observer_.execute("CREATE TABLE few LIKE " + std::string(table) + "; INSERT INTO few" + rows +
                      "0 LIMIT 100; INSERT INTO few" + rows + "7 LIMIT 10; DROP TABLE " + table +
                      "; RENAME TABLE few TO " + table + "; ANALYZE TABLE " + table);
    EXPECT_EQ(other.execute(rows + "7 FOR UPDATE").front().row_count(), 10U) << table;
  }
  worker_.db.execute("SET SESSION innodb_lock_wait_timeout = 1");
  std::size_t seen = 0;
  for (const Expectation& expected : expectations()) {
    if (expected.scans) continue;
    for (const std::string& statement : statements_of(render(expected))) {
      const auto error = support::db_error_of([&] { reads_of(statement); });
      // Any other error comes from a fence.
      EXPECT_FALSE(error && error->error_class() == db::ErrorClass::kRetryable) << statement;
      if (error) worker_.db.execute("ROLLBACK");
    }
    ++seen;
  }
  EXPECT_GT(seen, 90U);
}

TEST(PlanCoverageTest, EveryQueryHasAnExpectation) {
  std::set<std::string> covered = without_plan();
  for (const Expectation& expected : expectations()) covered.emplace(expected.query->name);
  for (const sql::SqlText* query : sql::kAll) {
    EXPECT_EQ(covered.count(std::string(query->name)), 1U)
        << query->name << ".sql is new: say in this test how many rows it may read";
  }
  EXPECT_EQ(covered.size(), std::size(sql::kAll)) << "this test names a query that is gone";
}

// The statements that move a partition forward, in detail.
TEST_F(PlanTest, FetchAndAckAreRangesOfTheWholeKey) {
  for (const Expectation& expected : expectations()) {
    const bool fetch = expected.query == &sql::k_fetch;
    if (!fetch && expected.query != &sql::k_ack) continue;
    const std::vector<Plan> plans = explain(render(expected));
    ASSERT_EQ(plans.size(), 1U) << expected.query->name;
    EXPECT_EQ(plans[0].type, "range") << expected.query->name;
    EXPECT_EQ(plans[0].key, "PRIMARY") << expected.query->name;
    // queue_id, partition_no, prio, run_key: 4 + 2 + 1 + 8 bytes.
    EXPECT_EQ(plans[0].key_len, "15") << expected.query->name;
    EXPECT_EQ(plans[0].extra.find("filesort"), std::string::npos) << expected.query->name;
  }
}

// Many tasks wait, but none is due: a scout reads only the head of each class.
TEST_F(PlanTest, AScoutOfAQueueThatSleepsReadsTheHeadsOnly) {
  const QueueInfo quiet = make_queue("quiet", kPartitions);
  observer_.execute(
      "INSERT INTO task (queue_id, partition_no, prio, run_key, type, payload) SELECT " +
      std::to_string(quiet.queue_id) + ", partition_no, prio, run_key + " +
      std::to_string(kTomorrow) + ", type, payload FROM task WHERE queue_id = " +
      std::to_string(wide_.queue_id) + " AND run_key <= 300");
  db::Statement scout(sql::k_scout);
  scout.set("queue_ids", quiet.queue_id).set("known_us", 0);
  EXPECT_LE(reads_of(scout.render()), kPartitions * (1 + 2 * kPrioClasses) + 3);
  EXPECT_TRUE(LeaseStore::scout(observer_, std::vector{quiet.queue_id}).empty());
  db::Statement fetch(sql::k_fetch);
  fetch.set("queue_id", quiet.queue_id).set("partition_no", 0).set("inline_limit", 1);
  fetch.set("highest_seen", 0).set("known_us", 0).set("block_size", kBlock);
  fetch.set_raw("started", "FALSE");
  EXPECT_LE(reads_of(fetch.render()), kPrioClasses);
}

// With few waiting tasks a server might scan a whole table instead of seeking fifty keys; and
// another session is submitting.
TEST_F(QueueTest, NoWriteWaitsForTasksThatAreBeingSubmitted) {
  const QueueInfo small = make_queue("small", 2);
  const auto key = [](std::uint64_t i) { return TaskKey{static_cast<std::uint32_t>(i % 2), i}; };
  constexpr std::uint64_t kWaiting = 60;
  for (std::uint64_t i = 1; i <= kWaiting; ++i) put_row({small.queue_id, 1}, key(i));
  const Lease lease = worker_.lease({small.queue_id, 1})->lease;
  db::Connection submitter = connect();
  submitter.execute(
      "BEGIN; INSERT INTO task (queue_id, partition_no, run_key, type, payload)"
      " SELECT queue_id, partition_no, " +
      std::to_string(kTomorrow) +
      ", 't', ''"
      " FROM q_lock_table");
  worker_.db.execute("SET SESSION innodb_lock_wait_timeout = 1");

  std::vector<Finished> finished;
  for (std::uint64_t i = 1; i <= 50; ++i) finished.push_back({key(i), i});
  EXPECT_NO_THROW(ack(worker_.db, lease.partition, finished));
  const auto defer = [&](const std::vector<TaskKey>& keys) {
    return queue::defer(worker_.db, lease, keys);
  };
  EXPECT_EQ(defer({key(51), key(52), key(53), key(54)}), Fenced::kWritten);
  Task task;
  task.key = key(55);
  using std::chrono::seconds;
  EXPECT_EQ(worker_.tasks.retry(worker_.db, fence(lease, task), 1, seconds(1), kFailure),
            Fenced::kWritten);
  task.key = key(56);
  EXPECT_EQ(worker_.tasks.charge(worker_.db, fence(lease, task), 1, kFailure), Fenced::kWritten);
  EXPECT_EQ(worker_.tasks.bury(worker_.db, fence(lease, task), 1, kFailure), Fenced::kWritten);
  EXPECT_TRUE(ack_and_release(worker_.db, lease, std::vector<Finished>{{key(57), {}}}));
}

// Rows locked by others must not block the scout, nor a renewal of another partition.
TEST_F(PlanTest, NothingWaitsForTheRowsOfOthers) {
  db::Connection other = connect();
  other.execute(
      "BEGIN; SELECT * FROM task WHERE partition_no = 1 FOR UPDATE;"
      "SELECT * FROM q_lock_table WHERE partition_no = 1 FOR UPDATE");
  worker_.db.execute("SET SESSION innodb_lock_wait_timeout = 1");
  EXPECT_FALSE(LeaseStore::scout(worker_.db, std::vector{wide_.queue_id}).empty());
  EXPECT_EQ(LeaseStore::watch(worker_.db, std::vector{wide_.queue_id}).size(), 2U);
  EXPECT_EQ(ensure_queue(worker_.db, "wide", {kPartitions}).queue_id, wide_.queue_id);
  EXPECT_TRUE(worker_.leases.renew(worker_.db, leases_.at(0)));
  EXPECT_TRUE(worker_.lease({wide_.queue_id, 2}));
  EXPECT_EQ(fetch(worker_.db, {wide_.queue_id, 1}, {}).size(), kBlock);
  EXPECT_EQ(worker_.leases.reclaim(worker_.db), 3U);
}

}  // namespace
}  // namespace allot::queue
