// SPDX-License-Identifier: Apache-2.0
// Writes of handlers in addition to their verdict, while their workers are killed at any
// instruction.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <thread>

#include "e2e/daemon.h"

namespace allot::e2e::writes_test {
namespace {

using std::chrono::milliseconds;
using support::eventually;

class Writes : public testing::Test {
 protected:
  void begin(unsigned workers, const std::string& queue_keys = "retry_delays = [\"10ms\"]") {
    daemon_ = std::make_unique<Daemon>(
        DaemonOptions{.workers = workers,
                      .queue_keys = "partitions = 4\nmax_attempts = 100\n" + queue_keys,
                      .more = "[plugins.writes]\noutput = \"" + output_.path() + "/runs\"\n",
                      .plugins = ALLOT_WRITES_FOLDER,
                      .log_level = "info",
                      .start = false});
    daemon_->connect().execute(
        "CREATE TABLE effect (task VARCHAR(32) NOT NULL, note VARCHAR(255) NOT NULL) "
        "ENGINE=InnoDB");
    daemon_->start();
  }
  [[nodiscard]] std::string runs() const { return support::read_file(output_.path() + "/runs"); }
  // SIGKILLs a worker inside a handler, or in its acknowledgement, repeatedly until all is done,
  // after up to `pause`. Returns the number of hits.
  std::size_t massacre(std::chrono::milliseconds pause) {
    std::minstd_rand dice(4711);
    std::size_t kills = 0;
    const bool done = eventually(
        [&] {
          const auto busy = daemon_->busy_workers();
          if (!busy.empty()) {
            std::this_thread::sleep_for(pause * (dice() % 100) / 100);
            if (support::send_signal(busy[dice() % busy.size()], SIGKILL) == 0) ++kills;
          }
          return daemon_->drained();
        },
        std::chrono::seconds(240));
    EXPECT_TRUE(done) << daemon_->log();
    return kills;
  }

  // Repeats a round until ten kills have hit, however fast the tasks are compared with the killer.
  // Returns the number of rounds.
  static int until_killed(const std::function<std::size_t()>& round) {
    constexpr std::size_t kEnough = 10;
    constexpr int kMostRounds = 10;
    std::size_t kills = 0;
    int rounds = 0;
    for (; kills < kEnough && rounds < kMostRounds; ++rounds) kills += round();
    EXPECT_GE(kills, kEnough);
    return rounds;
  }

  support::TempDir output_;
  std::unique_ptr<Daemon> daemon_;
};

TEST_F(Writes, ACheckpointSurvivesAKillRightAfterTheCall) {
  begin(1);
  std::vector<std::string> payloads;
  std::string wanted;
  for (int i = 0; i < 5; ++i) {
    payloads.push_back("die " + std::to_string(i));
    wanted += "kept " + std::to_string(i) + "\n";
  }
  daemon_->submit_many("writes.checkpoint", payloads);
  ASSERT_TRUE(daemon_->drains()) << daemon_->log();
  for (int i = 0; i < 5; ++i) {
    const std::string number = std::to_string(i) + "\n";
    EXPECT_NE(runs().find("die " + number), std::string::npos);
    EXPECT_NE(runs().find("kept " + number), std::string::npos) << runs();
  }
  EXPECT_TRUE(eventually([&] { return daemon_->times_logged("task.crashed") == 5; }))
      << daemon_->log();
}

TEST_F(Writes, AKilledHandlerHasReplacedNothing) {
  begin(1, "retry_delays = [\"1h\"]");
  daemon_->submit_many("writes.replace", {"die 3"});
  ASSERT_TRUE(eventually([&] { return daemon_->times_logged("task.crashed") >= 2; }))
      << daemon_->log();
  EXPECT_EQ(daemon_->value("SELECT COUNT(*) FROM task WHERE type = 'writes.effect'"), "0");
  EXPECT_EQ(daemon_->value("SELECT COUNT(*) FROM task"), "1");
}

// B8, B9: each task writes one row and replaces itself by one task, which writes one more row.
TEST_F(Writes, EveryEffectHappensOnceUnderKills) {
  constexpr int kTasks = 250;
  begin(3, "block_size = 10\nretry_delays = [\"10ms\"]");
  const int rounds = until_killed([&] {
    daemon_->submit_many("writes.effect", std::vector<std::string>(kTasks, "child"));
    daemon_->submit_many("writes.effect", std::vector<std::string>(kTasks, "slow"));
    return massacre(milliseconds(25));
  });
  const std::string each = std::to_string(rounds * kTasks);
  for (const char* note : {"note = 'child'", "note = 'slow'", "note LIKE 'of %'"}) {
    EXPECT_EQ(daemon_->value(std::string("SELECT COUNT(*) FROM effect WHERE ") + note), each)
        << note;
    EXPECT_EQ(daemon_->value(std::string("SELECT COUNT(DISTINCT task) FROM effect WHERE ") + note),
              each)
        << note;
  }
  EXPECT_EQ(daemon_->value("SELECT COUNT(DISTINCT note) FROM effect WHERE note LIKE 'of %'"), each)
      << "one child for each";
  EXPECT_EQ(daemon_->count("task_dead"), 0U);
  EXPECT_EQ(daemon_->count("task_attempt"), 0U) << "no record outlives its task";
}

// B8 without a transaction of the handler.
TEST_F(Writes, EveryReplacementHappensOnceUnderKills) {
  constexpr int kTasks = 200;
  begin(3, "block_size = 10\nretry_delays = [\"10ms\"]");
  daemon_->submit_many("writes.replace", std::vector<std::string>(kTasks, "done 2"));
  massacre(milliseconds(25));
  EXPECT_EQ(daemon_->value("SELECT COUNT(*) FROM effect"), std::to_string(2 * kTasks));
  EXPECT_EQ(daemon_->value("SELECT COUNT(DISTINCT note) FROM effect"), std::to_string(kTasks));
  EXPECT_EQ(daemon_->count("task_dead"), 0U);
}

// The worker is killed after the task was detached.
TEST_F(Writes, EveryEffectOfADetachedTaskHappensOnceUnderKills) {
  constexpr int kTasks = 100;
  begin(3, "block_size = 10\ndetach_after = \"1ms\"\nretry_delays = [\"10ms\"]");
  const int rounds = until_killed([&] {
    daemon_->submit_many("writes.effect", std::vector<std::string>(kTasks, "nap"));
    return massacre(milliseconds(300));
  });
  const std::string each = std::to_string(rounds * kTasks);
  EXPECT_EQ(daemon_->value("SELECT COUNT(*) FROM effect"), each);
  EXPECT_EQ(daemon_->value("SELECT COUNT(DISTINCT task) FROM effect"), each);
  EXPECT_EQ(daemon_->count("task_running"), 0U);
  EXPECT_EQ(daemon_->count("task_dead"), 0U) << daemon_->log();
  EXPECT_TRUE(daemon_->logged("task.detached"));
}

// The database is restarted under an open transaction.
TEST_F(Writes, AnEffectIsNotLostWithItsConnection) {
  begin(1);
  const std::string gate = output_.path() + "/gate";
  daemon_->submit_many("writes.effect", {"wait " + gate});
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(gate + ".here"); }))
      << daemon_->log();
  auto db = daemon_->connect();
  auto found = db.execute(
      "SELECT trx_mysql_thread_id FROM information_schema.innodb_trx WHERE trx_rows_modified > 0"
      " AND trx_mysql_thread_id IN (SELECT id FROM information_schema.processlist WHERE db ="
      " DATABASE())");
  db.execute("KILL " + std::string(found.front().next()->text(0)));
  ASSERT_TRUE(std::ofstream(gate).good());
  ASSERT_TRUE(eventually([&] { return daemon_->drained(); })) << daemon_->log();
  EXPECT_EQ(daemon_->value("SELECT COUNT(*) FROM effect"), "1");
  EXPECT_EQ(daemon_->count("task_dead"), 0U);
}

}  // namespace
}  // namespace allot::e2e::writes_test
