// SPDX-License-Identifier: Apache-2.0
// Bulk actions of the command line, processed by the steward, or by the command if none runs (S49).
#include <gtest/gtest.h>

#include <csignal>

#include "base/exit_codes.h"
#include "e2e/daemon.h"
#include "queue/operate/bulk_action.h"
#include "support/environment.h"

namespace allot::e2e::bulk_test {
namespace {

using nlohmann::json;
using support::eventually;

// Dead tasks of queue default, in all of its partitions.
void put_dead(const Daemon& daemon, unsigned tasks) {
  daemon.connect().execute(
      "INSERT INTO task_dead (queue_id, partition_no, prio, first_key, attempt, flags, type,"
      " payload, cause, error, died_at) SELECT queue_id, seq % partitions, 1, seq, 1, 0, 'test.ok',"
      " '', 'fail', '', UTC_TIMESTAMP(6) - INTERVAL 1 HOUR FROM queue, " +
      support::numbers(1, tasks) +
      " WHERE name = 'default';"
      " INSERT INTO task_attempt (queue_id, partition_no, prio, first_key, retries_since, attempt, "
      "ended_at,"
      " cause, error, lock_host, lock_pid) SELECT queue_id, partition_no, prio, first_key, 0, 1, "
      "died_at,"
      " 'fail', '', 'h', 1 FROM task_dead");
}

std::vector<std::string> retry_all(std::vector<std::string> more = {}) {
  std::vector<std::string> words{"dead", "retry", "--queue", "default", "--all", "--yes", "--json"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

json shown(const Daemon& daemon, std::uint64_t action_id) {
  return json::parse(daemon.must({"bulk", "show", std::to_string(action_id), "--json"}));
}

void expect_retried_once(const Daemon& daemon, unsigned tasks) {
  EXPECT_EQ(daemon.count("task_dead"), 0U) << "none is forgotten";
  EXPECT_EQ(daemon.count("task"), tasks) << "no worker runs them";
  EXPECT_EQ(daemon.count("task_attempt WHERE retries_since = 1"), tasks);
  EXPECT_EQ(daemon.count("task_attempt WHERE retries_since <> 1"), 0U) << "none was retried twice";
}

// Its leader is killed repeatedly.
TEST(Bulk, AKilledStewardNeitherRepeatsNorForgets) {
  const unsigned tasks = support::environment_or("ALLOT_TEST_TASKS", 2000U);
  Daemon daemon({.workers = 0, .log_level = "info"});
  ASSERT_TRUE(eventually([&] { return daemon.steward() != 0; })) << daemon.log();
  put_dead(daemon, tasks);
  const auto begun = daemon.allot(retry_all({"--no-wait", "--rate", "300"}));
  ASSERT_EQ(begun.status.code, kExitOk) << begun.err;
  const json answer = json::parse(begun.out);
  EXPECT_EQ(answer.at("tasks"), tasks);
  const auto action_id = answer.at("action").get<std::uint64_t>();
  const auto done = [&] {
    return daemon.number("SELECT done FROM bulk_action WHERE action_id = " +
                         std::to_string(action_id));
  };
  const unsigned most_kills = support::environment_or("ALLOT_TEST_KILLS", 2U);
  unsigned kills = 0;
  std::uint64_t before = 0;
  while (kills < most_kills) {
    ASSERT_TRUE(eventually([&] { return done() > before; })) << daemon.log();
    before = done();
    if (before == tasks) break;
    const pid_t steward = daemon.steward();
    if (steward == 0 || support::send_signal(steward, SIGKILL) != 0) continue;
    ++kills;
  }
  EXPECT_GE(kills, 1U);
  EXPECT_TRUE(eventually([&] { return shown(daemon, action_id).at("state") == "done"; }))
      << daemon.log();
  EXPECT_EQ(done(), tasks);
  expect_retried_once(daemon, tasks);
  daemon.stop();
}

// The command waits, and shows the steward's progress.
TEST(Bulk, TheCommandFollowsTheSteward) {
  Daemon daemon({.workers = 1, .log_level = "info"});
  ASSERT_TRUE(eventually([&] {
    return daemon.number(
               "SELECT COUNT(*) FROM queue_duty WHERE duty = 'bulk' AND holder IS NOT"
               " NULL AND free_at > UTC_TIMESTAMP(6)") == 1;
  })) << daemon.log();
  put_dead(daemon, 250);
  const auto done = daemon.allot(retry_all());
  ASSERT_EQ(done.status.code, kExitOk) << done.err;
  const json answer = json::parse(done.out);
  EXPECT_EQ(answer.at("tasks"), 250);
  EXPECT_EQ(answer.at("retried"), 250);
  EXPECT_EQ(answer.at("state"), "done");
  EXPECT_TRUE(eventually([&] { return daemon.logged("bulk.ended action="); })) << daemon.log();
  EXPECT_TRUE(daemon.drains());
  daemon.stop();
}

// Without a daemon the command processes it; when it is interrupted, another one continues.
TEST(Bulk, WithoutAStewardTheCommandWorksAndTheRestContinuesLater) {
  Daemon daemon({.workers = 0, .log_level = "info", .start = false});
  ASSERT_EQ(daemon.allot({"migrate"}).status.code, kExitOk);
  put_dead(daemon, 300);
  std::vector<std::string> words = retry_all({"--rate", "20"});
  words.insert(words.begin(), {program("allot"), "--config", daemon.config_file()});
  support::Process command(words);
  ASSERT_TRUE(eventually([&] { return daemon.count("task") > 0; }));
  ASSERT_EQ(support::send_signal(command.pid(), SIGINT), 0);
  const auto ended = command.wait();
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->code, kExitFailure);
  EXPECT_NE(command.err().find("interrupted; bulk action 1 continues"), std::string::npos)
      << command.err();
  EXPECT_LT(daemon.count("task"), 300U);
  EXPECT_EQ(shown(daemon, 1).at("state"), "running");
  daemon.connect().execute("UPDATE bulk_action SET rate = 0");
  daemon.start();
  EXPECT_TRUE(eventually([&] { return shown(daemon, 1).at("state") == "done"; })) << daemon.log();
  expect_retried_once(daemon, 300);
  daemon.stop();
}

TEST(Bulk, OneThatIsStoppedSaysHowFarItCame) {
  Daemon daemon({.workers = 0, .log_level = "info"});
  ASSERT_TRUE(eventually([&] { return daemon.steward() != 0; })) << daemon.log();
  put_dead(daemon, 300);
  std::vector<std::string> words = retry_all({"--rate", "20"});
  words.insert(words.begin(), {program("allot"), "--config", daemon.config_file()});
  support::Process command(words);
  ASSERT_TRUE(eventually([&] { return daemon.count("task") > 0; }));
  const auto stopped = daemon.allot({"bulk", "stop", "1"});
  EXPECT_EQ(stopped.status.code, kExitOk) << stopped.err;
  const auto tasks = daemon.count("task");
  EXPECT_EQ(stopped.out, "bulk action 1 stopped: retried " + std::to_string(tasks) +
                             " of 300 dead tasks of queue default\n");
  const auto ended = command.wait();
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->code, kExitFailure);
  EXPECT_NE(command.err().find("bulk action 1 was stopped by "), std::string::npos)
      << command.err();
  EXPECT_EQ(daemon.count("task_dead"), 300 - tasks);
  EXPECT_EQ(daemon.allot({"bulk", "stop", "1"}).status.code, kExitFailure);
  EXPECT_EQ(daemon.allot({"bulk", "show", "4711"}).status.code, kExitBadInput);
  const json list = json::parse(daemon.allot({"bulk", "list", "--json"}).out);
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0].at("state"), "stopped");
  EXPECT_EQ(daemon.count("task"), tasks) << "and no batch came behind it";
  daemon.stop();
}

}  // namespace
}  // namespace allot::e2e::bulk_test
