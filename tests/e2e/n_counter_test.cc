// SPDX-License-Identifier: Apache-2.0
// What a plain task costs the database, by the server's own counters: for 1,000 tasks more, so that
// starting, connecting and looking for work are not in it. Prints a table for docs/benchmarks.md.
#include <gtest/gtest.h>

#include <cstdio>
#include <map>

#include "db/connection.h"
#include "e2e/daemon.h"

namespace allot::e2e {
namespace {

using support::eventually;
using Counters = std::map<std::string, double>;

constexpr const char* kRows[] = {"Handler_write",    "Handler_update",    "Handler_delete",
                                 "Handler_read_key", "Handler_read_next", "Handler_read_first"};
constexpr const char* kStatements[] = {"Com_insert", "Com_select", "Com_update",
                                       "Com_delete", "Com_begin",  "Com_commit"};

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

// Submits so many tasks with nobody there, then lets one worker run them.
Counters cost_of(int tasks, const nlohmann::json& fields = nlohmann::json::object()) {
  Daemon daemon({.workers = 1,
                 .queue_keys = "partitions = 4\nblock_size = 100\n",
                 .log_level = "warn",
                 .start = false});
  std::string lines;
  nlohmann::json line = {{"queue", "default"}, {"type", "test.ok"}, {"payload", "0123456789"}};
  line.update(fields);
  for (int i = 0; i < tasks; ++i) lines += line.dump() + "\n";
  db::Connection look = daemon.connect();
  const Counters before = read(look);
  EXPECT_EQ(daemon.allot({"submit", "--ndjson", "-"}, lines).status.code, 0);
  daemon.start();
  int asked = 0;
  EXPECT_TRUE(eventually([&] {
    ++asked;
    return look.execute("SELECT COUNT(*) FROM (SELECT 1 FROM task LIMIT 1) AS one")
               .front()
               .next()
               ->u64(0) == 0;
  }));
  daemon.stop(SIGTERM);
  Counters cost = read(look);
  for (auto& [name, value] : cost) value -= before.at(name);
  for (const char* name : {"Com_select", "Handler_read_first"}) cost[name] -= asked;
  return cost;
}

TEST(Counter, APlainTaskIsOneRowInAndOneRowOut) {
  constexpr int kFew = 2'000;
  constexpr int kMany = 22'000;
  const Counters few = cost_of(kFew);
  const Counters many = cost_of(kMany);
  Counters each;
  for (const auto& [name, value] : many)
    each[name] = (value - few.at(name)) * 1000 / (kMany - kFew);
  for (const auto& [name, value] : each) std::printf("%-22s %8.1f\n", name.c_str(), value);
  EXPECT_NEAR(each["Handler_write"], 1000, 20);
  EXPECT_NEAR(each["Handler_delete"], 1000, 20);
  EXPECT_LT(each["Handler_update"], 10) << "a lease now and then, and never a task";
  EXPECT_LT(each["Handler_read_next"], 1'050) << "each is read once, to be run";
  EXPECT_LT(each["Handler_read_key"], 1'100) << "and found once, to be deleted";
  EXPECT_LT(each["Com_insert"], 8) << "a batch goes to each partition with one statement";
  EXPECT_LT(each["Com_delete"], 12) << "one for each block";
  EXPECT_LT(each["Com_update"], 10);
}

}  // namespace
}  // namespace allot::e2e
