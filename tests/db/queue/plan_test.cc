// SPDX-License-Identifier: Apache-2.0
// What each statement of sql/queries reads, over many waiting tasks. The limits are promise 6: the
// cost of a block does not depend on how many tasks wait. EXPLAIN alone does not show it (a plan
// may be the right one and its range the whole partition), so the rows read are counted.
#include <algorithm>
#include <map>
#include <regex>
#include <set>

#include "db/queue/fixture.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

constexpr std::uint64_t kPartitions = 8;
constexpr std::uint64_t kPerClass = 1600;
constexpr std::uint64_t kTasks = kPartitions * kPrioClasses * kPerClass;  // 51,200
constexpr std::uint64_t kBlock = 100;
constexpr std::uint64_t kHistory = 300;  // so many of each class and partition have one
constexpr std::uint64_t kDetachedRows = kPartitions * kPrioClasses * kHistory;
constexpr std::uint64_t kTomorrow = std::uint64_t{1} << 62;

using Values = std::map<std::string, std::string>;

struct Expectation {
  const sql::SqlText* query;
  std::uint64_t reads;  // rows read, at most, in all of the file's statements together
  Values values;        // beside those of common_values()
  const char* why = "";
  bool sorts = false;  // may sort (what it has read already)
  bool scans = false;  // may read a table from end to end
};

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
  // Partition p, class c, n-th task: key n + 1, payload as small as most are. In the odd partitions
  // class 0 is not due before tomorrow: the case that once took 25 times as long.
  PlanTest()
      : QueueTest(support::Database::shared().make_database()),
        wide_(make_queue("wide", kPartitions)) {
    look_.execute(
        "SET SESSION max_recursive_iterations = 1000000;"
        "INSERT INTO task (queue_id, partition_no, prio, run_key, type, payload)"
        " WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < " +
        std::to_string(kTasks) + ") SELECT " + std::to_string(wide_.queue_id) + ", i % " +
        std::to_string(kPartitions) + ", i DIV " + std::to_string(kPartitions) +
        " % 4, 1 + i DIV " + std::to_string(kPartitions * kPrioClasses) +
        " + IF(i % 2 = 1 AND i DIV " + std::to_string(kPartitions) + " % 4 = 0, " +
        std::to_string(kTomorrow) + ", 0), 't', REPEAT('x', 100) FROM n");
    for (const char* table : {"task_moved", "task_attempt", "task_dead", "task_running"})
      fill_history(table);
    for (std::uint32_t no = 0; no < kPartitions; ++no) {
      if (no % 4 == 0) {
        leases_.push_back(worker_.lease({wide_.queue_id, no}, {.block_size = 1})->lease);
      }
    }
  }
  void fill_history(const std::string& table) {
    const std::map<std::string, std::string> columns{
        {"task_moved", "run_key"},
        {"task_attempt", "1, UTC_TIMESTAMP(6), 'failed', '', '', 0, 0, NULL, NULL, NULL"},
        {"task_dead", "1, 't', '', 'failed', '', UTC_TIMESTAMP(6)"},
        {"task_running",
         "run_key + 1000000, 1, 0, 't', '', 7, 8, 9, 'h', 'i', 1, UTC_TIMESTAMP(6),"
         " UTC_TIMESTAMP(6)"}};
    look_.execute("INSERT INTO " + table + " SELECT queue_id, partition_no, prio, run_key, " +
                  columns.at(table) + " FROM task WHERE run_key <= " + std::to_string(kHistory));
  }

  // A lease that is held, and in it the tasks of all classes with keys from 1 on.
  Values common_values() {
    const Lease& lease = leases_.at(0);
    return {{"queue_id", std::to_string(wide_.queue_id)},
            {"partition_no", std::to_string(lease.partition.partition_no)},
            {"epoch", std::to_string(lease.epoch)},
            {"holder", std::to_string(lease.holder)},
            {"prio", "2"},
            {"run_key", "150"},
            {"first_key", "150"},
            {"attempt", "3"},
            {"salt", "7"},
            {"cause", "'failed'"},
            {"error", "'text'"},
            {"host", "'host'"},
            {"instance", "'test'"},
            {"pid", "1"},
            {"runtime_us", "1"},
            {"cpu_us", "NULL"},
            {"max_rss_kib", "NULL"},
            {"origin", std::to_string(worker_.leases.holder().origin)},
            {"ttl_us", "30000000"},
            {"delay_us", "1000000"},
            {"block_size", std::to_string(kBlock)},
            {"inline_limit", "65536"},
            {"highest_seen", "0"},
            {"seen_epoch", "0"},
            {"seen_expire_at", "UTC_TIMESTAMP(6)"},
            {"stale", "1"},
            {"wait", "0"},
            {"keep_flags", "254"},
            {"at_least", "3"},
            {"at_most", "255"},
            {"suspect_flag", "1"},
            {"queue_ids", std::to_string(wide_.queue_id)},
            {"most", "50"},
            {"earlier", "0"},
            {"no_handler_flag", "128"},
            {"classes_before", "0, 1"},
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
  // Rows that `sql` reads, counted by the server. What it writes is undone.
  std::uint64_t reads_of(const std::string& sql) {
    worker_.db.execute("BEGIN");
    const std::uint64_t first = reads_so_far();
    const std::uint64_t overhead = reads_so_far() - first;  // asking costs, too
    const std::uint64_t before = reads_so_far();
    worker_.db.execute(sql);
    const std::uint64_t reads = reads_so_far() - before - overhead;
    worker_.db.execute("ROLLBACK");
    return reads;
  }

  std::vector<Plan> explain(const std::string& sql) {
    std::vector<Plan> plans;
    auto results = worker_.db.execute("EXPLAIN " + sql);
    while (const auto row = results.front().next()) {
      plans.push_back({std::string(row->text(1)), std::string(row->text(2)),
                       std::string(row->text(3)), std::string(row->text(5)),
                       std::string(row->text(6)), std::string(row->text(9))});
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

  void check_plans(const Expectation& expected, const std::string& sql) {
    static const std::set<std::string> kOurs{
        "task",      "q_lock_table", "lease",        "task_moved", "moved",       "task_attempt",
        "task_dead", "queue",        "task_running", "running",    "queue_pause", "pause"};
    for (const std::string& statement : statements_of(sql)) {
      for (const Plan& plan : explain(statement)) {
        // What is inserted by values is not read.
        if (plan.select_type == "INSERT" || kOurs.count(plan.table) == 0) continue;
        const std::string where = std::string(expected.query->name) + ".sql: " + plan.table + " " +
                                  plan.type + " " + plan.key + " " + plan.extra;
        const bool scan = plan.type == "ALL" || plan.type == "index";
        EXPECT_TRUE(!scan || expected.scans) << where;
        const bool sound = plan.key == "PRIMARY" || plan.key == "died_at" || plan.table == "queue";
        EXPECT_TRUE(scan || plan.type.empty() || sound) << where;
        const bool sorts = plan.extra.find("filesort") != std::string::npos ||
                           plan.extra.find("temporary") != std::string::npos;
        EXPECT_TRUE(!sorts || expected.sorts) << where;
      }
    }
  }

  QueueInfo wide_;
  std::vector<Lease> leases_;
};

// "prio = 0 AND run_key IN (1,2,...) OR ...": the first `count` tasks, over all classes.
std::string keys(std::size_t count, const std::string& prio, const std::string& key) {
  std::map<std::size_t, std::string> lists;
  for (std::size_t i = 0; i < count; ++i) {
    std::string& list = lists[i % kPrioClasses];
    list += (list.empty() ? "" : ",") + std::to_string(1 + i / kPrioClasses);
  }
  std::string all;
  for (const auto& [prio_class, list] : lists) {
    all += (all.empty() ? "" : " OR ") + prio + " = " + std::to_string(prio_class) + " AND " + key +
           " IN (" + list + ")";
  }
  return all;
}

std::string numbers_to(std::size_t last) {
  std::string list = "1";
  for (std::size_t i = 2; i <= last; ++i) list += "," + std::to_string(i);
  return list;
}

Values with(Values values, const std::string& name, const std::string& value) {
  values[name] = value;
  return values;
}

std::vector<Expectation> of_the_way_of_a_task() {
  const std::string one = "prio = 2 AND run_key IN (150)";
  const std::string one_first = "prio = 2 AND first_key IN (150)";
  return {
      // The lease row alone, by its key.
      {&sql::k_lease,
       5,
       {{"partition_no", "1"}},
       "locked first, which makes a row of one row; and the look for a pause"},
      {&sql::k_takeover, 5, {}, "as lease"},
      {&sql::k_renew, 1, {}},
      {&sql::k_release, 1, {}},
      {&sql::k_held_lease, 1, {}},
      {&sql::k_clear_suspects, 1, {}},
      {&sql::k_suspects_left,
       3,
       {{"classes", "0, 1, 2, 3"}, {"suspect_to", "9223372036854775807"}}},
      // All leases of a queue, however many tasks wait.
      {&sql::k_scout, kPartitions * 3, {}, "a probe for each class, and the sort by release", true},
      {&sql::k_watch, kPartitions * 2, {}},
      {&sql::k_reclaim, 2 * (kPartitions + 3), {}, "once at start, without an index", false, true},
      // The head of a partition: as many rows as are wanted.
      {&sql::k_fetch, kBlock + 1, {}},
      {&sql::k_fetch, kBlock + 2, {{"partition_no", "1"}}, "class 0 is not due"},
      {&sql::k_fetch_payload, 1, {}},
      // As many rows as are named.
      {&sql::k_ack, 1, {{"keys", one}}},
      {&sql::k_ack, kBlock, {{"keys", keys(kBlock, "prio", "run_key")}}},
      {&sql::k_ack, 1000, {{"keys", keys(1000, "prio", "run_key")}}},
      {&sql::k_ack_history, 5, {{"first_keys", one_first}}},
      {&sql::k_ack_history, 5 * kBlock, {{"first_keys", keys(kBlock, "prio", "first_key")}}},
      {&sql::k_defer, 6, {{"keys", one}, {"run_keys", "150"}}, "", true},
      {&sql::k_defer,
       10 * kBlock,
       {{"keys", keys(kBlock, "prio", "run_key")}, {"run_keys", numbers_to(kBlock)}},
       "",
       true},
      {&sql::k_retry, 6, {}, "", true},
      {&sql::k_charge, 2, {}},
      {&sql::k_record_attempt, 3, {}},
      {&sql::k_forget_attempt, 2, {{"attempt", "1"}}},
      {&sql::k_bury, 8, {}},
      {&sql::k_checkpoint, 2, {{"payload", "'x'"}}},
      {&sql::k_require_task, 2, {}},
      {&sql::k_find_task, 1, {}},
      {&sql::k_submit, 0, {{"rows", "(1, 1, 1, 4711, 't', ''), (1, 1, 1, 4712, 't', '')"}}},
  };
}

std::vector<Expectation> of_detached_tasks() {
  const Values running{{"epoch", "7"}, {"holder", "8"}};  // of the rows of task_running
  return {
      // One, by its id.
      {&sql::k_detach, 4, {{"run_key", "901"}}},
      {&sql::k_renew_detached, 1, running},
      {&sql::k_held_detached, 1, running},
      {&sql::k_checkpoint_detached, 1, with(running, "payload", "'x'")},
      {&sql::k_require_detached, 1, running},
      {&sql::k_ack_detached, 7, running},
      {&sql::k_retry_detached, 8, running},
      {&sql::k_return_detached, 3, running},
      {&sql::k_bury_detached, 6, running},
      {&sql::k_record_detached, 2, running},
      {&sql::k_forget_detached, 3, with(running, "attempt", "1")},
      {&sql::k_recover, 3, with(running, "seen_epoch", "7"), "as lease"},
      // All: as many as there are workers.
      {&sql::k_watch_detached, kDetachedRows + 1, {}},
      {&sql::k_former_detached, kDetachedRows + 1, {}, "once at start", false, true},
  };
}

std::vector<Expectation> for_people() {
  return {
      // Bounded by what they asked for.
      {&sql::k_list_tasks, 51, {}},
      {&sql::k_list_dead, 51, {}},
      {&sql::k_list_running, 51, {}},
      {&sql::k_show_task, 4, {}},
      {&sql::k_show_running, 1, {}},
      {&sql::k_show_dead, 1, {}},
      {&sql::k_list_attempts, 3, {}},
      {&sql::k_count_waiting, 110, {}},
      {&sql::k_count_dead, 110, {}},
      {&sql::k_count_running, 110, {}},
      {&sql::k_page_dead, 51, {}},
      {&sql::k_page_dead, 51, {{"partition_no", "7"}, {"prio", "3"}}},
      {&sql::k_find_queue, 1, {}},
      {&sql::k_require_rights, 0, {}},
      {&sql::k_list_queues, 10, {}, "a handful of queues", true, true},
      {&sql::k_count_partitions, kPartitions + 1, {}},
      {&sql::k_create_queue, 2, {}},
      {&sql::k_create_partition, 2, {{"rows", "(1, 0, UTC_TIMESTAMP(6))"}}},
  };
}

std::vector<Expectation> by_operators() {
  const std::string one = "prio = 2 AND first_key IN (150)";
  const std::string many = keys(kBlock, "prio", "first_key");
  return {
      // As many rows as are named.
      {&sql::k_retry_dead, 20, {{"first_keys", one}, {"ordered_keys", "150"}}, "", true},
      {&sql::k_retry_dead,
       20 * kBlock,
       {{"first_keys", many}, {"ordered_keys", numbers_to(kBlock)}},
       "",
       true},
      {&sql::k_why, 2, {}},
      {&sql::k_count_ahead, 110, {}},
      {&sql::k_count_ahead, 110, {{"partition_no", "1"}}, "class 0 is not due"},
      {&sql::k_count_ahead, 8, {{"prio", "0"}, {"run_key", "3"}, {"classes_before", "NULL"}}},
      {&sql::k_cancel, 6, {{"run_key", "901"}, {"first_key", "901"}}},
      {&sql::k_resize_queue, 1, {}},
      {&sql::k_count_retired, 110, {{"partitions", "4"}}},
      {&sql::k_page_waiting, 51, {}},
      {&sql::k_page_waiting, 51, {{"partition_no", "7"}, {"prio", "3"}}},
      {&sql::k_lease_to_move, 5, {{"partition_no", "1"}}, "as lease"},
      {&sql::k_move,
       40,
       {{"keys", "prio = 2 AND run_key IN (150)"},
        {"first_keys", one},
        {"run_keys", "150"},
        {"to_queue_id", "4711"},
        {"to_partition_no", "3"}},
       "",
       true},
      {&sql::k_move,
       40 * kBlock,
       {{"keys", keys(kBlock, "prio", "run_key")},
        {"first_keys", many},
        {"run_keys", numbers_to(kBlock / kPrioClasses)},
        {"to_queue_id", "4711"},
        {"to_partition_no", "3"}},
       "",
       true},
      {&sql::k_list_leases, 2 * (kPartitions + 3), {}, "by hand, without an index", false, true},
      {&sql::k_pause, 1, {{"reason", "''"}}},
      {&sql::k_resume, 1, {}},
      {&sql::k_discard_dead, 5, {{"first_keys", one}}},
      {&sql::k_discard_dead, 5 * kBlock, {{"first_keys", many}}},
  };
}

std::vector<Expectation> expectations() {
  std::vector<Expectation> all = of_the_way_of_a_task();
  for (Expectation& expected : of_detached_tasks()) all.push_back(std::move(expected));
  for (Expectation& expected : by_operators()) all.push_back(std::move(expected));
  for (Expectation& expected : for_people()) all.push_back(std::move(expected));
  return all;
}

// Part of submit.sql, or not about a table.
const std::set<std::string> kWithoutPlan{"submit_row",       "kill_connection",
                                         "server_uptime",    "connections_allowed",
                                         "server_variables", "database_clock"};

TEST_F(PlanTest, EachStatementReadsWhatItMust) {
  for (const bool analyzed : {false, true}) {
    if (analyzed) look_.execute("ANALYZE TABLE task, q_lock_table, task_moved");
    for (const Expectation& expected : expectations()) {
      const std::string sql = render(expected);
      check_plans(expected, sql);
      EXPECT_LE(reads_of(sql), expected.reads)
          << expected.query->name << ".sql " << (analyzed ? "(analyzed) " : "") << expected.why;
    }
  }
}

TEST(PlanCoverageTest, EveryQueryHasAnExpectation) {
  std::set<std::string> covered = kWithoutPlan;
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

// Much waits, none of it is due: a scout looks at the head of each class and no further.
TEST_F(PlanTest, AScoutOfAQueueThatSleepsReadsTheHeadsOnly) {
  const QueueInfo quiet = make_queue("quiet", kPartitions);
  look_.execute("INSERT INTO task (queue_id, partition_no, prio, run_key, type, payload) SELECT " +
                std::to_string(quiet.queue_id) + ", partition_no, prio, run_key + " +
                std::to_string(kTomorrow) + ", type, payload FROM task WHERE queue_id = " +
                std::to_string(wide_.queue_id) + " AND run_key <= 300");
  db::Statement scout(sql::k_scout);
  scout.set("queue_ids", quiet.queue_id);
  EXPECT_LE(reads_of(scout.render()), kPartitions * (1 + 2 * kPrioClasses) + 3);
  EXPECT_TRUE(LeaseStore::scout(look_, std::vector{quiet.queue_id}).empty());
  db::Statement fetch(sql::k_fetch);
  fetch.set("queue_id", quiet.queue_id).set("partition_no", 0).set("inline_limit", 1);
  fetch.set("highest_seen", 0).set("block_size", kBlock);
  EXPECT_LE(reads_of(fetch.render()), kPrioClasses);
}

// Few tasks wait, which is when a server reads a whole table rather than look for fifty keys in it;
// and somebody is in the middle of submitting.
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
  worker_.db.execute("SET SESSION innodb_lock_wait_timeout = 0");

  std::vector<Finished> finished;
  for (std::uint64_t i = 1; i <= 50; ++i) finished.push_back({key(i), i});
  EXPECT_NO_THROW(TaskStore::ack(worker_.db, lease.partition, finished));
  const auto defer = [&](const std::vector<TaskKey>& keys) {
    return worker_.tasks.defer(worker_.db, lease, keys);
  };
  EXPECT_EQ(defer({key(51), key(52), key(53), key(54)}), Landed::kYes);
  Task task;
  task.key = key(55);
  using std::chrono::seconds;
  EXPECT_EQ(worker_.tasks.retry(worker_.db, lease, task, 1, seconds(1), kFailed), Landed::kYes);
  task.key = key(56);
  EXPECT_EQ(worker_.tasks.charge(worker_.db, lease, task, 1, kFailed), Landed::kYes);
  EXPECT_EQ(worker_.tasks.bury(worker_.db, lease, task, 1, kFailed), Landed::kYes);
  EXPECT_TRUE(TaskStore::ack_and_release(worker_.db, lease, std::vector<Finished>{{key(57), {}}}));
}

// Rows that others hold must not stop the scout, nor a renewal of another partition.
TEST_F(PlanTest, NothingWaitsForTheRowsOfOthers) {
  db::Connection other = connect();
  other.execute(
      "BEGIN; SELECT * FROM task WHERE partition_no = 1 FOR UPDATE;"
      "SELECT * FROM q_lock_table WHERE partition_no = 1 FOR UPDATE");
  worker_.db.execute("SET SESSION innodb_lock_wait_timeout = 1");
  EXPECT_FALSE(LeaseStore::scout(worker_.db, std::vector{wide_.queue_id}).empty());
  EXPECT_EQ(LeaseStore::watch(worker_.db, std::vector{wide_.queue_id}).size(), 2U);
  EXPECT_EQ(ensure_queue(worker_.db, "wide", kPartitions).queue_id, wide_.queue_id);
  EXPECT_TRUE(worker_.leases.renew(worker_.db, leases_.at(0)));
  EXPECT_TRUE(worker_.lease({wide_.queue_id, 2}));
  EXPECT_EQ(TaskStore::fetch(worker_.db, {wide_.queue_id, 1}, {}).size(), kBlock);
  EXPECT_EQ(worker_.leases.reclaim(worker_.db), 3U);
}

}  // namespace
}  // namespace allot::queue
