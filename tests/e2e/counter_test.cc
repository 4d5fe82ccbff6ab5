// SPDX-License-Identifier: Apache-2.0
// Cost of a plain task for the database, by the server's own counters: the cost of 1,000 additional
// tasks, without starting, connecting and finding work. Prints a table for docs/benchmarks.md.
// Rule: S81.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>

#include "db/connection.h"
#include "e2e/daemon.h"
#include "support/environment.h"

namespace allot::e2e::counter_test {
namespace {

using support::eventually;
using Clock = std::chrono::steady_clock;
using Counters = std::map<std::string, double>;

struct Cost {
  Counters counters{};
  double seconds = 0;  // run time of the daemon, which also polls for work and checks leases

  [[nodiscard]] double at(const std::string& name) const { return counters.at(name); }
};

constexpr const char* kRows[] = {"Handler_write",    "Handler_update",    "Handler_delete",
                                 "Handler_read_key", "Handler_read_next", "Handler_read_first"};
constexpr const char* kStatements[] = {"Com_insert", "Com_select", "Com_update",       "Com_delete",
                                       "Com_begin",  "Com_commit", "Com_insert_select"};

// Number of partitions of the queue in which a task is due. The leases left by rehearsals are not
// read, because the test's reads are counted, too.
constexpr const char* kNothingIsDue =
    "SELECT SUM((SELECT run_key FROM task WHERE queue_id = l.queue_id AND partition_no ="
    " l.partition_no AND prio = 1 ORDER BY queue_id, partition_no, prio, run_key LIMIT 1) <="
    " (TIMESTAMPDIFF(MICROSECOND, '2025-01-01', UTC_TIMESTAMP(6)) << 12)) FROM q_lock_table AS l"
    " WHERE l.queue_id < 4294967295";

Counters read(db::Connection& db) {
  Counters counters;
  for (const char* name : kRows) counters[name] = 0;
  for (const char* name : kStatements) counters[name] = 0;
  auto rows = db.execute("SHOW GLOBAL STATUS");
  while (const auto row = rows.front().next()) {
    const auto at = counters.find(std::string(row->text(0)));
    if (at != counters.end()) at->second = static_cast<double>(row->u64(1));
  }
  return counters;
}

bool something_is_due(db::Connection& db) {
  return db.execute(kNothingIsDue).front().next()->u64(0) != 0;
}

// Servers count this query differently, and the number of polls is random. Excludes the cost of
// reading the counters.
Counters cost_of_look(db::Connection& db) {
  const Counters first = read(db);
  const Counters second = read(db);
  (void)something_is_due(db);
  Counters cost = read(db);
  for (auto& [name, value] : cost) value -= 2 * second.at(name) - first.at(name);
  return cost;
}

// Tasks of tomorrow, in the partitions of the others.
void fill_with_delayed(db::Connection& db, int tasks) {
  if (tasks == 0) return;
  db.execute(
      "INSERT INTO task (queue_id, partition_no, prio, run_key, type, payload)"
      " WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < " +
      std::to_string(tasks) +
      ") SELECT queue_id, i % 4, 1, (TIMESTAMPDIFF(MICROSECOND, '2025-01-01', UTC_TIMESTAMP(6) +"
      " INTERVAL 1 DAY) << 12) + i, 'test.ok', REPEAT('x', 100) FROM n, queue"
      " WHERE name = 'default'");
}

// Once a minute the steward counts waiting tasks: whether that falls into a run is random. With at
// most 10,000 tasks, it has read one additional task.
double read_for_minutes(db::Connection& db) {
  const std::string counted =
      support::value_of(db,
                        "SELECT COALESCE(SUM(IF(backlog > 10000, 10000, 2 * backlog)), 0) FROM "
                        "queue_minute WHERE queue_id <> 0");
  return std::stod(counted);
}

// Submits the tasks while no worker runs, then lets one worker run them.
Cost cost_of(int tasks, int delayed, const std::string& keys) {
  Daemon daemon({.workers = 1,
                 .queue_keys = "partitions = 4\nblock_size = 100\n" + keys,
                 .log_level = "warn",
                 .start = false});
  std::string lines;
  for (int i = 0; i < tasks; ++i) {
    lines += R"({"queue":"default","type":"test.ok","payload":"0123456789"})"
             "\n";
  }
  EXPECT_EQ(daemon.allot({"migrate"}).status.code, 0);
  db::Connection look = daemon.connect();
  fill_with_delayed(look, delayed);
  const Counters before = read(look);
  EXPECT_EQ(daemon.allot({"submit", "--ndjson", "-"}, lines).status.code, 0);
  const auto began = Clock::now();
  daemon.start();
  int looks = 0;
  EXPECT_TRUE(eventually(
      [&] {
        ++looks;
        return !something_is_due(look);
      },
      std::chrono::seconds(120)));
  daemon.stop(SIGTERM);
  Cost cost{read(look), std::chrono::duration<double>(Clock::now() - began).count()};
  const Counters of_look = cost_of_look(look);
  for (auto& [name, value] : cost.counters) value -= before.at(name) + looks * of_look.at(name);
  cost.counters["Handler_read_next"] -= read_for_minutes(look);
  return cost;
}

// For 1,000 additional tasks.
Cost cost_of_1000(int delayed, const std::string& keys = {}) {
  constexpr int kFew = 2'000;
  constexpr int kMany = 22'000;
  const Cost few = cost_of(kFew, delayed, keys);
  Cost each = cost_of(kMany, delayed, keys);
  each.seconds = (each.seconds - few.seconds) * 1000 / (kMany - kFew);
  for (auto& [name, value] : each.counters) {
    value = (value - few.at(name)) * 1000 / (kMany - kFew);
    std::printf("%-20s %8.1f\n", name.c_str(), value);
  }
  return each;
}

// The count includes the polls of workers every second, which are more on a slow machine.
TEST(Counter, APlainTaskIsOneRowInAndOneRowOut) {
  const Cost each = cost_of_1000(0);
  EXPECT_NEAR(each.at("Handler_write"), 1000, 20);
  EXPECT_NEAR(each.at("Handler_delete"), 1000, 20);
  EXPECT_LT(each.at("Handler_update"), 10) << "a lease now and then, and never a task";
  EXPECT_LT(each.at("Handler_read_next"), 1'400) << "each is read once, to be run";
  EXPECT_LT(each.at("Handler_read_key"), 1'400) << "and found once, to be deleted";
  EXPECT_LT(each.at("Com_insert"), 8) << "a batch goes to each partition with one statement";
  EXPECT_LT(each.at("Com_delete"), 12) << "one for each block";
  EXPECT_LT(each.at("Com_update"), 10);
}

// ALLOT_TEST_DELAYED sets the number of tasks delayed until tomorrow.
TEST(Counter, DelayedTasksCostThePlainOnesNothing) {
  const Cost without = cost_of_1000(0);
  const Cost with = cost_of_1000(support::environment_or("ALLOT_TEST_DELAYED", 50'000));
  // The count includes the polls of an idle daemon, fewer than 200 rows and 30 statements a second,
  // and a busy machine slows down one of the runs.
  const double slower = std::abs(with.seconds - without.seconds);
  for (const auto& [name, value] : without.counters) {
    const bool rows = name.rfind("Handler_", 0) == 0;
    const double of_time = rows ? 20 + 200 * slower : 3 + 30 * slower;
    EXPECT_NEAR(with.at(name), value, value / 50 + of_time) << name;
  }
}

// C10: a queue with a history pays for the row, and for one statement per block.
TEST(Counter, AHistoryIsOneRowMore) {
  const Cost without = cost_of_1000(0);
  const Cost with = cost_of_1000(0, "history = \"1h\"\n");
  // The row, and the list from which it is made, which the server keeps in memory.
  EXPECT_LT(with.at("Handler_write"), without.at("Handler_write") + 2'050);
  EXPECT_NEAR(with.at("Handler_delete"), without.at("Handler_delete"), 20);
  EXPECT_NEAR(with.at("Com_delete"), without.at("Com_delete"), 2);
}

}  // namespace
}  // namespace allot::e2e::counter_test
