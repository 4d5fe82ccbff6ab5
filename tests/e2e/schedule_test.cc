// SPDX-License-Identifier: Apache-2.0
// Schedules over several daemons of one database: each tick once, whichever host leads and
// whichever process dies (E1, E3). The tasks of ticks wait in a queue that is not served, where
// they can be counted.
//   ALLOT_TEST_SCHEDULES=200 ALLOT_TEST_TICKS=300: the sizes of docs/promises.md
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "e2e/daemon.h"
#include "support/environment.h"
#include "support/stepped_clock.h"
#include "support/text.h"

namespace allot::e2e::schedule_test {
namespace {

using std::chrono::seconds;
using support::Database;
using support::environment_or;
using support::eventually;
using support::number_of;
using support::value_of;

// Serves the queue default, and not the one in which the tasks of ticks wait.
DaemonOptions options(const std::string& database, const std::string& instance) {
  return {.workers = 1,
          .daemon_keys = "instance = \"" + instance + "\"",
          .pool_keys = "queues = [\"default\"]",
          .more = "[queues.parked]\npartitions = 4\n",
          .log_level = "info",
          .migrate = database.empty(),
          .start = false,
          .database = database};
}

struct ScheduleCase {
  std::string name;
  std::string expression;
  std::string keys{};
};

// Makes them all in one go, through the bulk interface.
void make_schedules(const Daemon& daemon, const std::vector<ScheduleCase>& schedules) {
  const std::string file = daemon.folder() + "/schedules.toml";
  std::ofstream out(file);
  for (const ScheduleCase& one : schedules) {
    out << "[schedules." << one.name << "]\nexpression = \"" << one.expression
        << "\"\nqueue = \"parked\"\ntype = \"test.tick\"\npayload = '{\"name\":\"" << one.name
        << "\"}'\ntick_field = \"scheduled_at\"\n"
        << one.keys;
  }
  out.close();
  const support::Finished applied = daemon.allot({"schedule", "apply", file});
  ASSERT_EQ(applied.status.code, 0) << applied.err;
}

std::vector<ScheduleCase> every_second(unsigned count, const std::string& keys) {
  std::vector<ScheduleCase> schedules;
  for (unsigned i = 0; i < count; ++i) {
    schedules.push_back({"s" + std::to_string(i), "* * * * * *", keys});
  }
  return schedules;
}

// For each tick, the seconds since 2025 and the delay of its task's submission in microseconds.
struct Tick {
  std::uint64_t second;
  std::int64_t late_us;
};
using Ticks = std::map<std::string, std::vector<Tick>>;

Ticks ticks_of(db::Connection& db) {
  Ticks ticks;
  auto rows = db.execute(
      "SELECT JSON_UNQUOTE(JSON_EXTRACT(text, '$.name')),"
      "       TIMESTAMPDIFF(SECOND, '2025-01-01', tick),"
      "       (run_key >> 12) DIV 1 - TIMESTAMPDIFF(MICROSECOND, '2025-01-01', tick) + 1000000000"
      "  FROM (SELECT run_key, text,"
      "               STR_TO_DATE(LEFT(JSON_UNQUOTE(JSON_EXTRACT(text, '$.scheduled_at')), 19),"
      "                           '%Y-%m-%dT%H:%i:%s') AS tick"
      "          FROM (SELECT run_key, CONVERT(payload USING utf8mb4) AS text FROM task"
      "                 WHERE type = 'test.tick') AS texts) AS found ORDER BY 1, 2");
  while (const auto row = rows.front().next()) {
    ticks[std::string(row->text(0))].push_back(
        {row->u64(1), static_cast<std::int64_t>(row->u64(2)) - 1'000'000'000});
  }
  return ticks;
}

// No tick twice, and none missing between the first and the last.
void expect_each_once(const Ticks& ticks, std::size_t schedules) {
  EXPECT_EQ(ticks.size(), schedules);
  std::size_t twice = 0;
  std::size_t missing = 0;
  std::size_t all = 0;
  for (const auto& [name, list] : ticks) {
    all += list.size();
    for (std::size_t i = 1; i < list.size(); ++i) {
      if (list[i].second == list[i - 1].second) ++twice;
      if (list[i].second > list[i - 1].second + 1)
        missing += list[i].second - list[i - 1].second - 1;
    }
  }
  std::printf("%zu schedules, %zu ticks, %zu twice, %zu missing\n", ticks.size(), all, twice,
              missing);
  EXPECT_EQ(twice, 0U);
  EXPECT_EQ(missing, 0U);
}

std::int64_t latest_us(const Ticks& ticks) {
  std::int64_t most = 0;
  for (const auto& [name, list] : ticks) {
    for (const Tick& tick : list) most = std::max(most, tick.late_us);
  }
  return most;
}

std::uint64_t submitted(db::Connection& db) {
  return number_of(db, "SELECT COALESCE(SUM(submitted), 0) FROM schedule");
}

// Process that leads the schedules of the cluster; 0: none.
pid_t leader(db::Connection& db) {
  return static_cast<pid_t>(
      number_of(db,
                "SELECT COALESCE(MAX(IF(free_at > UTC_TIMESTAMP(6), holder_pid, 0)), 0)"
                "  FROM queue_duty WHERE queue_id = 0 AND duty = 'schedules'"));
}

pid_t wait_for_leader(db::Connection& db, pid_t other_than = 0) {
  pid_t pid = 0;
  EXPECT_TRUE(eventually([&] {
    pid = leader(db);
    return pid != 0 && pid != other_than;
  }));
  return pid;
}

// Waits until this number of further ticks of each schedule have their task.
bool advances(db::Connection& db, std::uint64_t ticks, std::uint64_t schedules) {
  const std::uint64_t enough = submitted(db) + ticks * schedules;
  return eventually([&] { return submitted(db) >= enough; }, seconds(60));
}

class Cluster {
 public:
  explicit Cluster(int daemons, Database* server = nullptr) {
    for (int i = 0; i < daemons; ++i) {
      DaemonOptions one = options(i == 0 ? "" : daemons_[0]->database(), "d" + std::to_string(i));
      one.server = server;
      daemons_.push_back(std::make_unique<Daemon>(one));
    }
    EXPECT_EQ(first().allot({"migrate"}).status.code, 0);
  }
  void start() { start_all(daemons_); }
  void stop() { stop_all(daemons_); }
  [[nodiscard]] Daemon& first() { return *daemons_.front(); }
  [[nodiscard]] std::string logs() const {
    std::string all;
    for (const auto& daemon : daemons_) all += daemon->log() + "----\n";
    return all;
  }

 private:
  std::vector<std::unique_ptr<Daemon>> daemons_;
};

TEST(Schedule, EachTickOnceOverThreeDaemonsWhoseLeadersAreKilled) {
  const unsigned schedules = environment_or("ALLOT_TEST_SCHEDULES", 20U);
  const unsigned kills = environment_or("ALLOT_TEST_TICKS", 12U) / 10 + 2;
  const unsigned between = std::getenv("ALLOT_TEST_TICKS") != nullptr ? 10 : 2;
  Cluster cluster(3);
  make_schedules(cluster.first(), every_second(schedules, "late = \"all\"\ncatch_up = 1000\n"));
  cluster.start();
  db::Connection db = cluster.first().connect();
  for (unsigned i = 0; i < kills; ++i) {
    ASSERT_TRUE(advances(db, between, schedules)) << cluster.logs();
    ASSERT_EQ(support::send_signal(wait_for_leader(db), SIGKILL), 0);
  }
  ASSERT_TRUE(advances(db, 2, schedules)) << cluster.logs();
  cluster.stop();
  const Ticks ticks = ticks_of(db);
  expect_each_once(ticks, schedules);
  EXPECT_EQ(number_of(db, "SELECT SUM(dropped) + SUM(skipped) FROM schedule"), 0U);
  std::printf("%u leaders killed; the latest tick came %.3f s late\n", kills,
              static_cast<double>(latest_us(ticks)) / 1e6);
}

// A stopped leader does nothing any more, and packets that it had sent do no harm. Its duties
// continue elsewhere as soon as its term is over.
TEST(Schedule, ALeaderThatStandsStill) {
  Cluster cluster(2);
  make_schedules(cluster.first(), every_second(5, "late = \"all\"\n"));
  cluster.start();
  db::Connection db = cluster.first().connect();
  ASSERT_TRUE(advances(db, 2, 5)) << cluster.logs();
  const pid_t stopped = wait_for_leader(db);
  ASSERT_EQ(support::send_signal(stopped, SIGSTOP), 0);
  ASSERT_NE(wait_for_leader(db, stopped), stopped);
  ASSERT_TRUE(advances(db, 2, 5)) << cluster.logs();
  support::send_signal(stopped, SIGCONT);
  ASSERT_TRUE(advances(db, 2, 5)) << cluster.logs();
  cluster.stop();
  const Ticks ticks = ticks_of(db);
  expect_each_once(ticks, 5);
  std::printf("the latest tick came %.3f s late\n", static_cast<double>(latest_us(ticks)) / 1e6);
}

// The only worker is inside a handler for the whole test.
TEST(Schedule, TicksComeWhileAllWorkersAreBusy) {
  const unsigned schedules = environment_or("ALLOT_TEST_SCHEDULES", 20U);
  Cluster cluster(1);
  make_schedules(cluster.first(), every_second(schedules, ""));
  cluster.start();
  (void)cluster.first().submit("test.sleep", "600000");
  ASSERT_TRUE(eventually([&] { return cluster.first().busy_workers().size() == 1; }));
  db::Connection db = cluster.first().connect();
  ASSERT_TRUE(advances(db, environment_or("ALLOT_TEST_TICKS", 5U), schedules)) << cluster.logs();
  EXPECT_EQ(cluster.first().busy_workers().size(), 1U);
  const Ticks ticks = ticks_of(db);
  expect_each_once(ticks, schedules);
  std::printf("the latest tick came %.3f s late\n", static_cast<double>(latest_us(ticks)) / 1e6);
}

// Ticks are missed while no daemon runs. Each schedule's policy decides about them.
TEST(Schedule, LateTicksFollowThePolicyOfTheirSchedule) {
  const support::SteppedClock clock;
  Database server({}, support::Network::kNone, clock.environment());
  Cluster cluster(1, &server);
  make_schedules(cluster.first(),
                 {{"once", "0 * * * * *", "late = \"once\"\nlate_after = \"5s\"\n"},
                  {"skip", "0 * * * * *", "late = \"skip\"\nlate_after = \"5s\"\n"},
                  {"all", "0 * * * * *", "late = \"all\"\nlate_after = \"5s\"\ncatch_up = 2\n"}});
  db::Connection db = cluster.first().connect();
  // Four ticks and more later, 10 s after one: the next one is 50 s ahead.
  const std::uint64_t second = number_of(db, "SELECT SECOND(UTC_TIMESTAMP())");
  clock.step_to(seconds(4 * 60 + 70 - static_cast<int>(second)));
  const std::uint64_t newest =
      number_of(db, "SELECT TIMESTAMPDIFF(SECOND, '2025-01-01', UTC_TIMESTAMP()) DIV 60 * 60");
  cluster.start();
  ASSERT_TRUE(eventually([&] {
    return number_of(db, "SELECT COUNT(*) FROM schedule WHERE next_run > UTC_TIMESTAMP(6)") == 3;
  })) << cluster.logs();
  cluster.stop();
  Ticks ticks = ticks_of(db);
  const auto made_up = [&](const std::string& name) {
    std::vector<std::uint64_t> late;
    for (const Tick& tick : ticks[name]) late.push_back(tick.second);
    return late;
  };
  EXPECT_EQ(made_up("once"), std::vector<std::uint64_t>{newest});
  EXPECT_EQ(made_up("skip"), std::vector<std::uint64_t>{});
  EXPECT_EQ(made_up("all"), (std::vector<std::uint64_t>{newest - 60, newest}));
  EXPECT_EQ(cluster.first().times_logged("schedule.dropped"), 3U) << cluster.logs();
}

// A section of the configuration is applied at the start and at a reload, if its words are new. An
// operator's changes stay.
TEST(Schedule, ASectionIsAppliedAtAReload) {
  DaemonOptions one = options("", "d0");
  one.start = true;
  one.more += "[schedules.report]\nexpression = \"0 3 * * *\"\nqueue = \"parked\"\ntype = \"t\"\n";
  Daemon daemon(one);
  wait_ready(daemon, 1);
  db::Connection db = daemon.connect();
  const auto shown = [&](const std::string& column) {
    return value_of(db, "SELECT " + column + " FROM schedule WHERE name = 'report'");
  };
  ASSERT_TRUE(eventually([&] { return shown("expression") == "0 3 * * *"; })) << daemon.log();
  ASSERT_TRUE(eventually([&] { return daemon.logged("steward.ready"); })) << daemon.log();
  ASSERT_EQ(daemon.allot({"schedule", "pause", "report", "--reason", "why"}).status.code, 0);
  const auto reload = [&](const std::string& from, const std::string& to) {
    daemon.configure(from, to);
    const std::size_t before = daemon.times_logged("steward.ready");
    daemon.process().signal(SIGHUP);
    return eventually([&] { return daemon.times_logged("steward.ready") > before; });
  };
  ASSERT_TRUE(reload("0 3 * * *", "0 4 * * *")) << daemon.log();
  EXPECT_EQ(shown("expression"), "0 4 * * *");
  EXPECT_EQ(shown("pause_reason"), "why");
  EXPECT_EQ(shown("HOUR(next_run)"), "4");
  EXPECT_EQ(daemon.times_logged("schedule.changed"), 1U);
  // A removed section removes nothing: that is an operator's decision.
  ASSERT_TRUE(reload("[schedules.report]", "[schedules.other]")) << daemon.log();
  EXPECT_EQ(number_of(db, "SELECT COUNT(*) FROM schedule"), 2U);
  EXPECT_EQ(daemon.stop()->code, 0);
}

// The database's clock an hour ahead: late ticks are reported, and handled by the schedule's
// policy. Back again for a few seconds: no tick has a second task, unless a machine so slow that it
// took ten let next_run be set back (S57).
TEST(Schedule, TheClockOfTheDatabaseIsStepped) {
  const support::SteppedClock clock;
  Database server({}, support::Network::kNone, clock.environment());
  Cluster cluster(2, &server);
  make_schedules(cluster.first(), every_second(3, "late = \"all\"\ncatch_up = 5\n"));
  cluster.start();
  db::Connection db = cluster.first().connect();
  ASSERT_TRUE(advances(db, 2, 3)) << cluster.logs();
  clock.step_to(std::chrono::hours(1));
  ASSERT_TRUE(advances(db, 8, 3)) << cluster.logs();
  // The leader logs it after the commit.
  EXPECT_TRUE(eventually([&] {
    return cluster.logs().find("schedule.dropped") != std::string::npos;
  })) << cluster.logs();
  EXPECT_GE(number_of(db, "SELECT MIN(dropped) FROM schedule"), 900U);
  clock.step_to(seconds(0));
  // next_run is an hour ahead now: another schedule, which has no past, continues at once.
  const std::uint64_t before = submitted(db);
  make_schedules(cluster.first(), {{"fresh", "* * * * * *", ""}});
  ASSERT_TRUE(eventually([&] { return submitted(db) >= before + 3; })) << cluster.logs();
  clock.step_to(std::chrono::hours(1));
  ASSERT_TRUE(advances(db, 2, 4)) << cluster.logs();
  cluster.stop();
  const bool reset = cluster.logs().find("schedule.reset") != std::string::npos;
  for (const auto& [name, list] : ticks_of(db)) {
    std::set<std::uint64_t> once;
    for (const Tick& tick : list) once.insert(tick.second);
    EXPECT_TRUE(reset || once.size() == list.size()) << name;
  }
}

}  // namespace
}  // namespace allot::e2e::schedule_test
