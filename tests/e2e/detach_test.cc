// SPDX-License-Identifier: Apache-2.0
// A slow task does not delay its neighbours (B12). Whatever kills it on its way out of the
// partition, it is neither lost nor in two places, and never runs twice at once. ALLOT_TEST_KILLS
// makes the massacre larger.
// Rules: S11, S20.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <random>
#include <set>

#include "e2e/daemon.h"
#include "support/environment.h"

namespace allot::e2e::detach_test {
namespace {

using std::chrono::seconds;
using std::chrono::steady_clock;
using support::eventually;

const std::string kOnePartition = "partitions = 1\n";

TEST(Detach, ASlowTaskDoesNotHoldUpItsNeighbours) {
  Daemon daemon({.workers = 2, .queue_keys = kOnePartition});
  const auto slow = daemon.submit("test.sleep", "600000");
  daemon.submit_many("test.write", numbered(200));
  // The slow one has left the table task, and the others are acknowledged some time after they have
  // written.
  ASSERT_TRUE(eventually([&] {
    return daemon.written().size() == 200 && daemon.count("task") == 0;
  })) << daemon.log();
  EXPECT_TRUE(eventually([&] { return daemon.logged("task.detached task=" + slow); }))
      << daemon.log();
  const auto shown = daemon.task(slow);
  EXPECT_EQ(shown["state"], "running") << shown;
  EXPECT_EQ(shown["attempts_charged"], 1) << shown;
  const auto listed = nlohmann::json::parse(daemon.allot({"tasks", "--json"}).out);
  ASSERT_EQ(listed.size(), 1U);
  EXPECT_EQ(listed[0]["task"], slow);
  EXPECT_EQ(listed[0]["running_on"], shown["running_on"]);
  const auto status = daemon.status();
  EXPECT_EQ(status["queues"][0]["detached"], 1) << status;
  const auto busy = std::find_if(status["workers"].begin(), status["workers"].end(),
                                 [](const auto& worker) { return !worker["running"].empty(); });
  ASSERT_NE(busy, status["workers"].end()) << status;
  EXPECT_EQ((*busy)["running"][0]["task"], slow);
  EXPECT_EQ((*busy)["running"][0]["detached"], true);
  // It stops on request: it goes back to its place, and nothing is charged.
  EXPECT_EQ(daemon.stop(), (support::ExitStatus{0, 0}));
  EXPECT_EQ(daemon.task(slow)["state"], "waiting");
  EXPECT_EQ(daemon.task(slow)["attempts_charged"], 0);
  EXPECT_EQ(daemon.count("task_running"), 0U);
}

// They are acknowledged late, in batches, and before that the slow task's detach releases the
// partition.
TEST(Detach, FinishedTasksOfTheBlockAreNotRepeated) {
  Daemon daemon({.workers = 2, .queue_keys = kOnePartition});
  std::vector<nlohmann::json> tasks;
  for (int i = 0; i < 41; ++i) {
    const bool slow = i == 20;
    tasks.push_back({{"type", slow ? "test.gate" : "test.write"},
                     {"payload", slow ? "success " + daemon.gate() : std::to_string(i)}});
  }
  daemon.submit_all(tasks);
  ASSERT_TRUE(detached(daemon)) << daemon.log();
  daemon.open_gate();
  ASSERT_TRUE(eventually([&] { return daemon.drained(); })) << daemon.log();
  EXPECT_GE(daemon.times_logged("task.detached"), 1U) << daemon.log();
  EXPECT_EQ(daemon.written().size(), 40U);
}

// No worker is idle: only the time decides, and the neighbours are for other hosts.
TEST(Detach, AfterItsTimeItLeavesABusyPoolToo) {
  Daemon daemon({.workers = 1, .queue_keys = kOnePartition + "detach_after = \"300ms\""});
  const auto slow = daemon.submit("test.gate", "success " + daemon.gate());
  ASSERT_TRUE(detached(daemon)) << daemon.log();
  EXPECT_EQ(daemon.value("SELECT state FROM q_lock_table"), "FREE");
  daemon.open_gate();
  ASSERT_TRUE(eventually([&] { return daemon.drained(); })) << daemon.log();
  EXPECT_TRUE(daemon.task(slow).is_null()) << "finished";
}

TEST(Detach, AnExclusiveQueueKeepsItsTasks) {
  Daemon daemon(
      {.workers = 2, .queue_keys = kOnePartition + "exclusive = true\ndetach_after = \"100ms\""});
  (void)daemon.submit("test.stay", "2000");
  (void)daemon.submit("test.write", "after");
  ASSERT_TRUE(eventually([&] { return daemon.drained(); })) << daemon.log();
  EXPECT_FALSE(daemon.logged("task.detached")) << daemon.log();
  EXPECT_EQ(daemon.written().size(), 1U);
}

// Attempts do not end before all attempts of the same number are detached.
TEST(Detach, EveryVerdictIsGivenFromThere) {
  Daemon daemon({.workers = 6, .queue_keys = "max_attempts = 2\ndetach_after = \"1ms\""});
  const auto put = [&](const std::string& verdict) {
    return daemon.submit("test.gate", verdict + " " + daemon.gate());
  };
  const auto failing = put("fail");
  const auto retrying = put("retry");
  const auto throwing = put("throw");
  const auto snoozing = put("hibernate");
  const auto crashing = put("crash");
  (void)put("success");
  ASSERT_TRUE(detached(daemon, 6)) << daemon.log();
  daemon.open_gate(1);
  ASSERT_TRUE(eventually([&] {
    return daemon.value("SELECT COUNT(*) FROM task_running WHERE attempt = 2") == "3";
  })) << daemon.log();
  daemon.open_gate(2);
  ASSERT_TRUE(eventually([&] { return daemon.count("task_dead") == 4; })) << daemon.log();
  for (const auto& [id, cause, attempts] : {std::tuple{failing, "fail", 1},
                                            {retrying, "retry", 2},
                                            {throwing, "exception", 2},
                                            {crashing, "signal", 2}}) {
    const auto shown = daemon.task(id);
    EXPECT_EQ(shown["state"], "dead") << shown;
    EXPECT_EQ(shown["cause"], cause) << shown;
    EXPECT_EQ(shown["attempts"].size(), static_cast<std::size_t>(attempts)) << shown;
  }
  ASSERT_TRUE(detached(daemon, 0)) << daemon.log();
  EXPECT_EQ(daemon.task(snoozing)["attempts_charged"], 0);
  EXPECT_EQ(daemon.task(snoozing)["state"], "waiting");
  EXPECT_EQ(daemon.count("task"), 1U) << "what has succeeded is gone";
}

TEST(Detach, AKilledWorkersDetachedTaskStartsAgainAtOnce) {
  Daemon daemon({.workers = 2});
  const auto id = daemon.submit("test.hang_once", "x");
  ASSERT_TRUE(detached(daemon)) << daemon.log();
  const auto busy = daemon.busy_workers();
  ASSERT_EQ(busy.size(), 1U);
  support::send_signal(busy.front(), SIGKILL);
  ASSERT_TRUE(eventually([&] { return daemon.written().size() == 2; })) << daemon.log();
  EXPECT_EQ(daemon.written(), (std::vector<std::string>{"x attempt 1", "x attempt 2"}));
  EXPECT_TRUE(eventually([&] { return daemon.logged("task.crashed task=" + id); })) << daemon.log();
  ASSERT_TRUE(eventually([&] { return daemon.drained(); }));
  EXPECT_EQ(daemon.count("task_attempt"), 0U);
}

TEST(Detach, ANewLifeOfTheDaemonChargesWhatTheFormerHadDetached) {
  Daemon daemon({.workers = 2, .daemon_keys = "lease_ttl = \"1h\""});
  const auto id = daemon.submit("test.hang_once", "x");
  ASSERT_TRUE(detached(daemon)) << daemon.log();
  kill_all_of(daemon);
  daemon.start();
  ASSERT_TRUE(eventually([&] { return daemon.written().size() == 2; })) << daemon.log();
  EXPECT_TRUE(eventually([&] { return daemon.logged("task.recovered task=" + id); }))
      << daemon.log();
  EXPECT_EQ(daemon.written().back(), "x attempt 2");
}

TEST(Detach, AnotherHostRecoversWhatALostOneHadDetached) {
  Daemon daemon({.workers = 2, .daemon_keys = "lease_ttl = \"6s\""});
  const auto id = daemon.submit("test.hang_once", "x");
  ASSERT_TRUE(detached(daemon)) << daemon.log();
  kill_all_of(daemon);
  daemon.connect().execute("UPDATE task_running SET lock_origin = lock_origin + 1");
  daemon.start();
  ASSERT_TRUE(eventually([&] { return daemon.written().size() == 2; })) << daemon.log();
  EXPECT_TRUE(eventually([&] { return daemon.logged("task.recovered task=" + id); }))
      << daemon.log();
  EXPECT_EQ(daemon.written().back(), "x attempt 2");
}

// S7: a recovered task is not in a block of suspects. Its second attempt kills its host before it
// is detached again, and is still charged.
TEST(Detach, TaskThatMayKillHostsIsChargedForEach) {
  Daemon daemon({.workers = 1,
                 .queue_keys = kOnePartition + "max_attempts = 2\ndetach_after = \"8s\"",
                 .daemon_keys = "lease_ttl = \"1h\""});
  const auto id = daemon.submit("test.stay", "600000");
  ASSERT_TRUE(detached(daemon)) << daemon.log();
  kill_all_of(daemon);
  daemon.start();
  ASSERT_TRUE(eventually([&] { return daemon.busy_workers().size() == 1; })) << daemon.log();
  EXPECT_EQ(daemon.count("task_running"), 0U) << "too slow to see it in its block";
  EXPECT_EQ(daemon.task(id)["attempts_charged"], 2) << "written before it runs";
  kill_all_of(daemon);
  daemon.start();
  ASSERT_TRUE(eventually([&] { return daemon.count("task_dead") == 1; })) << daemon.log();
  const auto shown = daemon.task(id);
  EXPECT_EQ(shown["cause"], "lost") << shown;
  EXPECT_EQ(shown["attempts"].size(), 2U) << shown;
}

// Its neighbours are finished when it starts, and their attempts are not recorded first.
TEST(Detach, OnlyASuspectRunsWithCare) {
  Daemon daemon({.workers = 1, .queue_keys = kOnePartition});
  (void)daemon.submit("test.write", "first");
  ASSERT_TRUE(eventually([&] { return daemon.drained(); })) << daemon.log();
  auto db = daemon.connect();
  db.execute(
      "CREATE TABLE announced (first_key BIGINT UNSIGNED NOT NULL);"
      "CREATE TRIGGER announced BEFORE INSERT ON task_attempt FOR EACH ROW"
      " INSERT INTO announced VALUES (NEW.first_key);"
      "INSERT INTO task (queue_id, partition_no, prio, run_key, flags, type, payload) VALUES"
      " (1, 0, 1, 1, 0, 'test.write', 'before'), (1, 0, 1, 2, 1, 'test.gate', 'success " +
      daemon.gate() +
      "'),"
      " (1, 0, 1, 3, 0, 'test.write', 'after')");
  ASSERT_TRUE(eventually([&] { return daemon.count("task_attempt") == 1; })) << daemon.log();
  EXPECT_EQ(daemon.count("task"), 2U) << "what was done before it is acknowledged";
  daemon.open_gate();
  ASSERT_TRUE(eventually([&] { return daemon.drained(); })) << daemon.log();
  EXPECT_EQ(daemon.written(), (std::vector<std::string>{"first", "before", "after"}));
  EXPECT_EQ(daemon.value("SELECT GROUP_CONCAT(first_key) FROM announced"), "2");
  EXPECT_EQ(daemon.count("task_attempt"), 0U);
}

TEST(Detach, TheDatabaseMayGoAway) {
  support::Database& server = support::Database::shared();
  Daemon daemon({.workers = 2, .queue_keys = kOnePartition});
  wait_ready(daemon, 2);  // it leaves its partition to the idle one
  (void)daemon.submit("test.alone", "x 4000");
  ASSERT_TRUE(detached(daemon)) << daemon.log();
  server.kill9();
  server.start();
  ASSERT_TRUE(daemon.drains()) << daemon.log();
  EXPECT_EQ(daemon.written(), (std::vector<std::string>{"x done"})) << daemon.log();
}

// Kills at any point of a detach: before, within, and after it, and of the verb that ends the task.
// The point is random, because the tasks take a random time.
class Massacre {
 public:
  Massacre(int tasks, const std::string& keys)
      : daemon_({.workers = 4,
                 .queue_keys = "partitions = 8\nmax_attempts = 100\n" + keys,
                 .log_level = "info"}) {
    submit(tasks);
  }

  void submit(int tasks) {
    std::vector<std::string> payloads;
    for (const std::string& number : numbered(tasks_ + tasks)) {
      payloads.push_back(number + " " + std::to_string(20 + dice_() % 150));
    }
    payloads.erase(payloads.begin(), payloads.begin() + tasks_);
    daemon_.submit_many("test.alone", payloads);
    tasks_ += tasks;
  }

  Daemon& daemon() { return daemon_; }
  unsigned roll(unsigned most) { return static_cast<unsigned>(dice_() % most); }

  // Kills half of the workers that have a task; returns their number. They are stopped first, to
  // see which of them have ended it by then: of those, which are idle for the supervisor, one dies
  // in two seconds. If all of them died, it would wait for up to 30 s before it starts the next
  // ones.
  int kill_some() {
    std::vector<pid_t> chosen = daemon_.busy_workers();
    chosen.erase(std::remove_if(chosen.begin(), chosen.end(), [&](pid_t) { return roll(2) == 0; }),
                 chosen.end());
    for (const pid_t pid : chosen) support::send_signal(pid, SIGSTOP);
    const auto busy = chosen.empty() ? chosen : daemon_.busy_workers();
    int kills = 0;
    for (const pid_t pid : chosen) {
      const bool idle = std::find(busy.begin(), busy.end(), pid) == busy.end();
      const bool dies = !idle || steady_clock::now() >= next_idle_;
      if (idle && dies) next_idle_ = steady_clock::now() + seconds(2);
      support::send_signal(pid, dies ? SIGKILL : SIGCONT);
      kills += dies ? 1 : 0;
    }
    return kills;
  }

  // Calls the step, which returns whether it has seen progress, until it has. A busy machine is
  // slow overall, so only a minute without any progress is a failure.
  template <typename Step>
  [[nodiscard]] testing::AssertionResult goes_on(Step step) {
    const bool went_on = eventually(
        [&] {
          const bool progress = step();
          expect_no_task_twice();
          return progress;
        },
        seconds(60));
    if (went_on) return testing::AssertionSuccess();
    return testing::AssertionFailure() << daemon_.log();
  }

  void expect_no_task_twice() {
    auto db = daemon_.connect();
    EXPECT_EQ(db.execute("SELECT COUNT(*) FROM task JOIN task_running USING (queue_id,"
                         " partition_no, prio) WHERE task_running.first_key ="
                         " COALESCE(task.first_key, task.run_key)")
                  .front()
                  .next()
                  ->u64(0),
              0U);
  }

  // All tasks are done, and those that were done twice were killed in between.
  void expect_all_done(int kills) {
    ASSERT_TRUE(eventually([&] { return daemon_.drained(); }, seconds(120))) << daemon_.log();
    std::multiset<std::string> done;
    for (const std::string& line : daemon_.written()) {
      const std::size_t space = line.find(' ');
      EXPECT_EQ(line.substr(space), " done") << line;
      done.insert(line.substr(0, space));
    }
    const auto all = numbered(tasks_);
    EXPECT_EQ(std::set<std::string>(done.begin(), done.end()),
              std::set<std::string>(all.begin(), all.end()));
    EXPECT_LE(done.size(), static_cast<std::size_t>(tasks_ + kills));
    EXPECT_EQ(daemon_.count("task_dead"), 0U);
    EXPECT_EQ(daemon_.count("task_moved") + daemon_.count("task_attempt"), 0U);
    EXPECT_GT(daemon_.times_logged("task.detached"), static_cast<std::size_t>(kills) / 4);
    report(kills, done.size());
  }

 private:
  void report(int kills, std::size_t done) {
    std::printf("%d kills, %zu detached, %zu ran again after they had ended, %zu pauses\n", kills,
                daemon_.times_logged("task.detached"), done - static_cast<std::size_t>(tasks_),
                daemon_.times_logged("worker.throttled"));
  }

  std::minstd_rand dice_{20261121};
  Daemon daemon_;
  int tasks_ = 0;
  steady_clock::time_point next_idle_{};  // next kill of a worker without a task
};

TEST(Detach, WorkersMayDieAtAnyPointOfIt) {
  const int most = support::environment_or("ALLOT_TEST_KILLS", 75);
  Massacre massacre(4 * most, "detach_after = \"1ms\"");
  int kills = 0;
  while (kills < most) {
    const int before = kills;
    ASSERT_TRUE(massacre.goes_on([&] {
      kills += massacre.kill_some();
      if (massacre.daemon().drained()) massacre.submit(300);  // a slow build kills less often
      return kills > before;
    }));
  }
  massacre.expect_all_done(kills);
}

// Replies are lost, including replies to detaches: the worker learns the results and, because no
// process died, every task runs once.
TEST(Detach, ConnectionsMayBreakAtAnyPointOfIt) {
  Massacre massacre(400, "detach_after = \"1ms\"");
  auto db = massacre.daemon().connect();
  int broken = 0;
  const auto break_one = [&] {
    auto open = db.execute(
        "SELECT id FROM information_schema.processlist WHERE db = DATABASE()"
        " AND id <> CONNECTION_ID() AND command <> 'Killed' ORDER BY RAND() LIMIT 1");
    const auto row = open.front().next();
    if (!row) return;
    try {
      db.execute("KILL CONNECTION " + std::string(row->text(0)));
      ++broken;
    } catch (const db::DbError&) {
      // It was gone already.
    }
  };
  while (!massacre.daemon().drained()) {
    const auto before = massacre.daemon().written().size();
    ASSERT_TRUE(massacre.goes_on([&] {
      break_one();
      return massacre.daemon().written().size() > before || massacre.daemon().drained();
    }));
  }
  const auto unanswered = massacre.daemon().times_logged("task.detach_failed");
  std::printf("%d connections broken, %zu detaches without an answer\n", broken, unanswered);
  EXPECT_GT(unanswered, 10U);
  massacre.expect_all_done(0);
}

TEST(Detach, TheWholeDaemonMayDieAtAnyPointOfIt) {
  Massacre massacre(150, "detach_after = \"1ms\"");
  constexpr int kRounds = 5;
  int kills = 0;
  int round = 0;
  for (; round < 15; ++round) {
    const auto so_many = massacre.daemon().written().size() + 1U + massacre.roll(20);
    ASSERT_TRUE(eventually([&] {
      return massacre.daemon().written().size() >= so_many || massacre.daemon().drained();
    })) << massacre.daemon().log();
    if (massacre.daemon().drained()) {  // a slow build has more time between two kills
      if (round >= kRounds) break;
      massacre.submit(60);
      continue;
    }
    kills += static_cast<int>(massacre.daemon().busy_workers().size());
    kill_all_of(massacre.daemon());
    massacre.expect_no_task_twice();
    massacre.daemon().start();
  }
  EXPECT_GE(round, kRounds);
  massacre.expect_all_done(kills + round * 4);
}

}  // namespace
}  // namespace allot::e2e::detach_test
