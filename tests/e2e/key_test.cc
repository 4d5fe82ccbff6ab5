// SPDX-License-Identifier: Apache-2.0
// Partition keys: order, limits, fair shares; and tasks that have to begin in time. The environment
// variables ALLOT_TEST_KEYS, ALLOT_TEST_TASKS (of a key), ALLOT_TEST_KILL_MS (between two kills),
// ALLOT_TEST_LIMITED (tasks) and ALLOT_TEST_HEAVY (waiting tasks of the heavy tenant) make the
// tests larger.
// Rule: S65.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <sstream>

#include "db/connection.h"
#include "e2e/keyed.h"
#include "queue/model/task.h"
#include "support/environment.h"

namespace allot::e2e::key_test {
namespace {

using support::environment_or;
using support::eventually;

class KeyTest : public KeyedTest {
 protected:
  static nlohmann::json keyed(const std::string& key, int number, const std::string& verb = "") {
    return {{"type", "test.keyed"},
            {"payload", key + " " + std::to_string(number) + " " + verb},
            {"partition_key", key}};
  }
};

TEST_F(KeyTest, EachKeyRunsInOrderWhileWorkersAreKilled) {
  const int keys = environment_or("ALLOT_TEST_KEYS", 100);
  const int tasks = environment_or("ALLOT_TEST_TASKS", 30);
  start("partitions = 16\nplacement = \"ordered\"\n", 4);
  daemon_->must({"queue", "pause", "keyed"});
  const char* const verbs[] = {"", "", "", "", "", "", "", "crash", "", "", "release"};
  int submitted = 0;
  const auto submit_to = [&](int end) {
    for (; submitted < end; ++submitted) {
      std::vector<nlohmann::json> batch;
      for (int key = 0; key < keys; ++key) {
        const auto* verb = (submitted + key) % 10 == 0 ? verbs[(submitted * 7 + key) % 11] : "";
        batch.push_back(keyed("k" + std::to_string(key), submitted, verb));
      }
      submit(batch);
    }
  };
  submit_to(tasks);
  daemon_->must({"queue", "resume", "keyed"});
  const std::chrono::milliseconds pace(environment_or("ALLOT_TEST_KILL_MS", 60));
  std::mt19937 dice(1);
  std::size_t kills = 0;
  while (daemon_->count("task") > 0) {
    const auto workers = daemon_->workers();
    if (!workers.empty()) support::send_signal(workers[dice() % workers.size()], SIGKILL);
    ++kills;
    const auto next = std::chrono::steady_clock::now() + pace;
    ASSERT_TRUE(eventually(
        [&] { return daemon_->count("task") == 0 || std::chrono::steady_clock::now() > next; }));
    ASSERT_LT(kills, 3600U) << daemon_->log();
    // They were done before enough had been killed.
    if (kills < 3 && daemon_->count("task") == 0) submit_to(submitted + 10);
  }
  expect_in_order(done(), keys, submitted);
  EXPECT_EQ(daemon_->count("task_dead"), 0U);
  EXPECT_GE(kills, 3U);
  std::printf("kills: %zu\n", kills);
}

// S16: a retried task stays the first, and all later tasks wait.
TEST_F(KeyTest, ATaskThatIsTriedAgainHoldsItsPartition) {
  start("partitions = 1\nplacement = \"ordered\"\n", 2);
  std::vector<std::string> expected;
  std::vector<nlohmann::json> tasks;
  int number = 0;
  for (const char* verb : {"retry", "snooze", "crash", "release", ""}) {
    tasks.push_back(keyed("k", number, verb));
    expected.push_back("k " + std::to_string(number++));
  }
  tasks.push_back(keyed("other", 0));
  expected.emplace_back("other 0");
  submit(tasks);
  ASSERT_TRUE(eventually([&] { return done().size() == expected.size(); })) << daemon_->log();
  EXPECT_EQ(done(), expected);
}

TEST_F(KeyTest, OneThatDiesOrHasNoHandlerIsNotPassedSilently) {
  start("partitions = 1\nplacement = \"ordered\"\n", 1);
  submit({keyed("k", 0),
          keyed("k", 1, "fail"),
          keyed("k", 2),
          {{"type", "unknown.type"}, {"partition_key", "k"}},
          keyed("k", 3)});
  ASSERT_TRUE(eventually([&] { return daemon_->logged("task.no_handler"); })) << daemon_->log();
  EXPECT_EQ(done(), (std::vector<std::string>{"k 0", "k 2"})) << "the dead one is passed";
  EXPECT_EQ(daemon_->count("task_dead"), 1U);
  // The release comes after the log line, with the acknowledgements.
  EXPECT_TRUE(eventually([&] { return daemon_->count("task") == 2; }))
      << "a task without a handler holds the rest\n"
      << daemon_->log();
  EXPECT_EQ(daemon_->number(
                "SELECT defer_until > UTC_TIMESTAMP(6) + INTERVAL 20 SECOND FROM q_lock_table AS l"
                " JOIN queue USING (queue_id) WHERE name = 'keyed'"),
            1U);
}

TEST_F(KeyTest, NeverMoreThanMaxRunningAtATime) {
  const int tasks = environment_or("ALLOT_TEST_LIMITED", 3'000);
  start("partitions = 8\nplacement = \"limited\"\nmax_running = 2\n", 6);
  std::vector<nlohmann::json> batch;
  for (int i = 0; i < tasks; ++i) {
    const std::string key = "k" + std::to_string(i % 3);
    batch.push_back({{"type", "test.counted"}, {"payload", key + " 2"}, {"partition_key", key}});
  }
  submit(batch);
  const auto deadline = std::chrono::seconds(30 + tasks / 50);
  ASSERT_TRUE(eventually([&] { return daemon_->count("task") == 0; }, deadline));
  std::map<std::string, int> lines;
  for (const std::string& line : done()) ++lines[line];
  EXPECT_EQ(lines.size(), 3U) << "none was too many";
  EXPECT_EQ(lines["k0 done"] + lines["k1 done"] + lines["k2 done"], tasks);
}

// S69: while tasks of a former number are left, at most the larger of both numbers runs; then the
// present one applies, also to submitters that knew the former.
TEST_F(KeyTest, MaxRunningIsChangedUnderLoad) {
  const int tasks = environment_or("ALLOT_TEST_LIMITED", 3'000) / 10;
  start("partitions = 8\nplacement = \"limited\"\nmax_running = 2\n", 6);
  int submitted = 0;
  const auto submit_with = [&](const std::string& most) {
    const nlohmann::json task{
        {"type", "test.counted"}, {"payload", "k " + most}, {"partition_key", "k"}};
    submit(std::vector<nlohmann::json>(static_cast<std::size_t>(tasks), task));
    submitted += tasks;
  };
  const auto all_done = [&] {
    return eventually([&] { return daemon_->count("task") == 0; },
                      std::chrono::seconds(30 + submitted / 50));
  };
  submit_with("3");
  for (const char* next : {"3", "1", "3", "2", "1"}) {
    daemon_->must({"queue", "max-running", "keyed", next});
    submit_with("3");
  }
  ASSERT_TRUE(all_done()) << daemon_->log();
  submit_with("1");
  ASSERT_TRUE(all_done()) << daemon_->log();
  std::map<std::string, int> lines;
  for (const std::string& line : done()) ++lines[line];
  EXPECT_EQ(lines.size(), 1U) << "none was too many";
  EXPECT_EQ(lines["k done"], submitted);
}

// A light tenant's first task waits for one round of blocks, however much the heavy one has.
TEST_F(KeyTest, AHeavyTenantDoesNotDelayALightOne) {
  const int heavy = environment_or("ALLOT_TEST_HEAVY", 20'000);
  start("partitions = 8\nplacement = \"fair\"\nblock_seconds = \"200ms\"\n", 2);
  daemon_->must({"queue", "pause", "keyed"});
  std::vector<nlohmann::json> batch;
  for (int i = 0; i < heavy; ++i) {
    batch.push_back({{"type", "test.counted"}, {"payload", "heavy 9"}, {"partition_key", "heavy"}});
    if (batch.size() == 10'000) {
      submit(batch);
      batch.clear();
    }
  }
  submit(batch);
  daemon_->must({"queue", "resume", "keyed"});
  ASSERT_TRUE(eventually([&] { return done().size() > 100; })) << daemon_->log();
  submit({keyed("light", 0)});
  const std::size_t before = done().size();  // including tasks done while it was being submitted
  ASSERT_TRUE(eventually([&] {
    const auto lines = done();
    return std::find(lines.begin(), lines.end(), "light 0") != lines.end();
  })) << daemon_->log();
  const auto lines = done();
  const auto at = std::find(lines.begin(), lines.end(), "light 0") - lines.begin();
  // 2 ms each and 200 ms for a round.
  EXPECT_LT(static_cast<std::size_t>(at), before + 1'000) << "of " << heavy;
  EXPECT_GT(daemon_->count("task"), 0U) << "the heavy one is not through";
}

// Measured by the clock of the database, which is this host's here. The doorbell is not rung for
// the task.
TEST(Delay, ADelayedTaskStartsSoonAfterItsTime) {
  Daemon daemon;
  wait_ready(daemon, 2);
  std::vector<std::int64_t> due;
  for (const char* delay : {"700ms", "1200ms", "1900ms", "2500ms"}) {
    const auto done = daemon.allot({"submit", "default", "test.stamp", "", "--delay", delay});
    const auto id = queue::TaskId::parse(done.out.substr(0, done.out.find('\n')));
    ASSERT_TRUE(id) << done.err;
    due.push_back(static_cast<std::int64_t>(id->first_key >> 12));
  }
  ASSERT_TRUE(eventually([&] { return daemon.written().size() == due.size(); })) << daemon.log();
  constexpr std::int64_t kSince1970 = 1'735'689'600'000'000;  // since 2025, in microseconds
  std::vector<std::int64_t> late;
  for (std::size_t i = 0; i < due.size(); ++i) {
    late.push_back(std::stoll(daemon.written()[i]) - kSince1970 - due[i]);
    std::printf("late by %.1f ms\n", static_cast<double>(late.back()) / 1000);
    EXPECT_GE(late.back(), 0);
  }
  // 1 s on an idle machine. A machine that stops for a moment delays the tasks that are due then.
  std::sort(late.begin(), late.end());
  EXPECT_LT(late[1], 3'000'000);
}

TEST_F(KeyTest, TaskThatDidNotStartInTimeIsDead) {
  start("", 2);
  daemon_->must({"queue", "pause", "keyed"});
  submit({{{"type", "test.counted"}, {"payload", "late 1"}, {"expires_in", "1ms"}},
          {{"type", "unknown.type"}, {"expires_at", "2026-01-01T00:00:00Z"}},
          {{"type", "test.counted"}, {"payload", "good 1"}, {"expires_in", "1h"}}});
  daemon_->must({"queue", "resume", "keyed"});
  ASSERT_TRUE(daemon_->drains()) << daemon_->log();
  EXPECT_EQ(done(), std::vector<std::string>{"good done"});
  const auto dead = nlohmann::json::parse(daemon_->allot({"dead", "list", "--json"}).out);
  ASSERT_EQ(dead.size(), 2U);
  for (const auto& task : dead) {
    EXPECT_EQ(task.at("cause"), "expired");
    EXPECT_TRUE(daemon_->task(task.at("task")).at("attempts").empty());
  }
  // A task that is retried by hand has its full time again.
  daemon_->must({"dead", "retry", "--queue", "keyed", "--all", "--yes"});
  EXPECT_TRUE(eventually([&] { return done().size() == 2; })) << daemon_->log();
}

}  // namespace
}  // namespace allot::e2e::key_test
