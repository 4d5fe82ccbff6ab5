// SPDX-License-Identifier: Apache-2.0
// allot drain: tasks run without a daemon, and everything ends.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "e2e/daemon.h"

namespace allot::e2e::drain_test {
namespace {

using nlohmann::json;
using support::eventually;
using Words = std::vector<std::string>;

class Drain : public testing::Test {
 protected:
  static DaemonOptions options() {
    return {.queue_keys = "max_attempts = 3\nretry_delays = [\"10ms\"]", .start = false};
  }

  [[nodiscard]] Words command(const Words& more) const {
    Words words{program("allot"), "--config", daemon_.config_file(), "drain", "--queue",
                "default",        "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  // Runs one drain to its end.
  [[nodiscard]] json drain(const Words& more = {}) const {
    const auto done = support::run_program(command(more), {}, std::chrono::seconds(120));
    json view = json::parse(done.out, nullptr, false);
    EXPECT_FALSE(view.is_discarded()) << done.out << done.err << daemon_.log();
    if (view.is_object() && view.contains("exit_code")) {
      EXPECT_EQ(done.status.code, view["exit_code"]) << done.err;
    }
    return view;
  }
  // Contents of its slots while it runs.
  [[nodiscard]] json workers(int place = 1) const {
    const std::string file =
        daemon_.folder() + "/run/drain/default." + std::to_string(place) + "/allot.drain";
    const auto done =
        support::run_program({program("allot"), "--config", file, "status", "--json"});
    const json view = json::parse(done.out, nullptr, false);
    return view.is_object() ? view["instance"]["running"] == true ? view : json() : json();
  }
  [[nodiscard]] std::vector<pid_t> busy() const {
    std::vector<pid_t> pids;
    const json view = workers();
    if (view.is_null()) return pids;
    for (const auto& worker : view["workers"]) {
      if (!worker["running"].empty()) pids.push_back(worker["pid"].get<pid_t>());
    }
    return pids;
  }
  void submit(const std::string& type, int count, const std::string& payload = {}) const {
    Words payloads;
    for (int i = 0; i < count; ++i) {
      payloads.push_back(payload.empty() ? std::to_string(i) : payload);
    }
    daemon_.submit_many(type, payloads);
  }
  [[nodiscard]] std::set<std::string> written() const {
    const auto lines = daemon_.written();
    return {lines.begin(), lines.end()};
  }

  Daemon daemon_{options()};
};

TEST_F(Drain, RunsWhatIsDueAndEnds) {
  submit("test.write", 300);
  const auto later = daemon_.allot({"submit", "default", "test.write", "later", "--delay", "1h"});
  ASSERT_EQ(later.status.code, 0) << later.err;
  const json done = drain();
  EXPECT_EQ(done, json::parse(R"({"queue": "default", "started": 300, "done": 300, "failed": 0,
                                  "remaining": 1, "remaining_at_least": false, "reason": "empty",
                                  "exit_code": 0})"))
      << daemon_.log();
  EXPECT_EQ(daemon_.written().size(), 300U);
  EXPECT_EQ(written().size(), 300U);
  EXPECT_EQ(daemon_.leases(), 0U);
  EXPECT_TRUE(workers().is_null()) << "its daemon still runs";
  const auto text = daemon_.allot({"drain", "--queue", "default"});
  EXPECT_EQ(text.out, "queue default: 0 attempts, 0 done, 0 failed; 1 left (empty)\n");
  EXPECT_EQ(text.err, "");
}

TEST_F(Drain, CountsWhatFailed) {
  submit("test.fail", 2);
  submit("test.ok", 3);
  const json failed = drain();
  EXPECT_EQ(failed["started"], 5);
  EXPECT_EQ(failed["done"], 3);
  EXPECT_EQ(failed["failed"], 2);
  EXPECT_EQ(failed["exit_code"], 1);
  EXPECT_EQ(daemon_.count("task_dead"), 2U);
}

// A worker that dies in a handler is settled, and the attempt counted, as under the daemon.
TEST_F(Drain, ACrashIsSettledAndCounted) {
  submit("test.crash", 1);
  submit("test.write", 50);
  const json done = drain({"--jobs", "2"});
  EXPECT_EQ(done["done"], 50) << daemon_.log();
  EXPECT_GE(done["failed"], 1) << daemon_.log();
  EXPECT_EQ(done["started"], done["done"].get<int>() + done["failed"].get<int>());
  EXPECT_EQ(written().size(), 50U);
  EXPECT_EQ(daemon_.leases(), 0U);
}

TEST_F(Drain, UnknownTypesStayAndAreNotCounted) {
  submit("unknown.type", 3);
  submit("test.ok", 2);
  const json done = drain({"--max-tasks", "4"});
  EXPECT_EQ(done["started"], 2) << daemon_.log();
  EXPECT_EQ(done["remaining"], 3);
  EXPECT_EQ(done["exit_code"], 0);
}

TEST_F(Drain, MaxTasksIsKeptByAllWorkersTogether) {
  submit("test.write", 200);
  const json done = drain({"--max-tasks", "50", "--jobs", "4"});
  EXPECT_EQ(done["started"], 50) << daemon_.log();
  EXPECT_EQ(done["done"], 50);
  EXPECT_EQ(done["remaining"], 150);
  EXPECT_EQ(done["reason"], "max_tasks");
  EXPECT_EQ(done["exit_code"], 0);
  EXPECT_EQ(daemon_.written().size(), 50U);
  EXPECT_EQ(drain()["done"], 150);
  EXPECT_EQ(written().size(), 200U);
}

TEST_F(Drain, MaxSecondsLetsWhatRunsFinish) {
  submit("test.sleep", 400, "50");
  const json done = drain({"--max-seconds", "2", "--jobs", "2"});
  EXPECT_EQ(done["reason"], "max_seconds") << daemon_.log();
  EXPECT_EQ(done["exit_code"], 0);
  EXPECT_EQ(done["failed"], 0);
  EXPECT_EQ(done["done"], done["started"]);
  EXPECT_EQ(done["remaining"].get<int>() + done["done"].get<int>(), 400);
  EXPECT_EQ(daemon_.leases(), 0U);
}

TEST_F(Drain, NoMoreThanAtMostRunAtATime) {
  submit("test.gate", 1, "success " + daemon_.gate());
  support::Process first(command({}));
  ASSERT_TRUE(eventually([&] { return !busy().empty(); })) << first.err() << daemon_.log();
  EXPECT_EQ(drain()["reason"], "busy");
  submit("test.write", 5);
  const json second = drain({"--at-most", "2"});
  EXPECT_EQ(second["reason"], "empty") << daemon_.log();
  daemon_.open_gate();
  ASSERT_TRUE(first.wait(std::chrono::seconds(60)));
  EXPECT_EQ(written().size(), 5U);
  EXPECT_EQ(drain()["reason"], "empty") << "its place is free again";
}

TEST_F(Drain, AWorkerThatIsKilledLosesNothing) {
  submit("test.gate", 1,
         "success " + daemon_.gate());  // one is working, however late it is checked
  submit("test.sleep", 300, "10");
  support::Process process(command({"--jobs", "3"}));
  int kills = 0;
  ASSERT_TRUE(eventually([&] {
    for (const pid_t pid : busy()) {
      if (kills < 5 && support::send_signal(pid, SIGKILL) == 0) ++kills;
    }
    if (kills > 0) daemon_.open_gate();
    return kills >= 5 || !process.running();
  })) << daemon_.log();
  ASSERT_TRUE(process.wait(std::chrono::seconds(60))) << daemon_.log();
  EXPECT_GE(kills, 1);
  const json done = json::parse(process.out());
  EXPECT_EQ(done["reason"], "empty") << process.err() << daemon_.log();
  EXPECT_EQ(done["remaining"], 0);
  EXPECT_GE(done["done"], 301);
  EXPECT_EQ(daemon_.count("task"), 0U);
  EXPECT_EQ(daemon_.count("task_dead"), 0U);
}

// A host may only run drains from cron.
TEST_F(Drain, PurgesBeforeItLeaves) {
  const std::string text = support::read_file(daemon_.config_file());
  const std::string section = "[queues.default]\n";
  const std::size_t at = text.find(section);
  ASSERT_NE(at, std::string::npos);
  std::ofstream(daemon_.config_file())
      << text.substr(0, at) << section << "dead_retention = \"1h\"\n"
      << text.substr(at + section.size());
  ASSERT_EQ(daemon_.allot({"check"}).status.code, 0);
  daemon_.connect().execute(
      "INSERT INTO task_dead (queue_id, partition_no, prio, first_key, attempt, type, payload, "
      "cause, error, died_at) SELECT queue_id, 0, 1, seq, 1, 'old', '', 'fail', '',"
      " UTC_TIMESTAMP(6) - INTERVAL 2 HOUR FROM queue, " +
      support::numbers(1, 3000) + " WHERE name = 'default'");
  EXPECT_EQ(drain()["reason"], "empty") << daemon_.log();
  EXPECT_EQ(daemon_.count("task_dead"), 0U) << daemon_.log();
  EXPECT_EQ(
      daemon_.number("SELECT COUNT(*) FROM queue_duty WHERE last_run IS NOT NULL AND queue_id > 0"),
      2U)
      << "its purge, and the sweep of its unique keys";
}

// The tasks of a dead worker remain leased until it is settled, however long that takes.
TEST_F(Drain, WaitsForWhatADeadWorkerHeld) {
  submit("test.hang_once", 1, "first");
  support::Process process(command({"--jobs", "2"}));
  ASSERT_TRUE(eventually([&] { return !busy().empty() && !written().empty(); })) << daemon_.log();
  auto blocker = daemon_.connect();
  blocker.execute("START TRANSACTION");
  blocker.execute("SELECT * FROM q_lock_table WHERE state <> 'FREE' FOR UPDATE");
  blocker.execute("SELECT * FROM task_running FOR UPDATE");  // where it goes when it is detached
  for (const pid_t pid : busy()) support::send_signal(pid, SIGKILL);
  ASSERT_TRUE(eventually([&] { return daemon_.times_logged("worker.start") == 4; }))
      << daemon_.log();
  EXPECT_FALSE(eventually([&] { return daemon_.logged("supervisor.signal"); },
                          std::chrono::milliseconds(1'500)))
      << "it took the queue for empty";
  blocker.execute("ROLLBACK");
  ASSERT_TRUE(process.wait(std::chrono::seconds(60))) << daemon_.log();
  const json done = json::parse(process.out());
  EXPECT_EQ(done["reason"], "empty") << process.err() << daemon_.log();
  EXPECT_EQ(done["done"], 1);
  EXPECT_EQ(done["remaining"], 0);
}

// Its daemon gets the signal, gives everything back and exits; the next one continues.
TEST_F(Drain, WhenItIsKilledItsDaemonLeaves) {
  submit("test.sleep", 100, "100");
  support::Process process(command({"--jobs", "2"}));
  ASSERT_TRUE(eventually([&] { return !busy().empty(); })) << daemon_.log();
  process.kill9();
  ASSERT_TRUE(eventually([&] { return workers().is_null(); })) << daemon_.log();
  ASSERT_TRUE(eventually([&] { return daemon_.leases() == 0; })) << daemon_.log();
  const auto left = daemon_.count("task");
  EXPECT_GT(left, 0U);
  EXPECT_EQ(drain()["done"], left) << daemon_.log();
  EXPECT_EQ(daemon_.count("task_dead"), 0U);
}

// S11: the next drain in the same place is the same instance, and does not wait for a lease to
// expire.
TEST_F(Drain, AfterAKillOfAllProcessesTheNextDrainContinuesAtOnce) {
  submit("test.sleep", 100, "100");
  support::Process process(command({"--jobs", "2"}));
  ASSERT_TRUE(eventually([&] { return !busy().empty(); })) << daemon_.log();
  const json view = workers();
  ASSERT_FALSE(view.is_null());
  const pid_t supervisor = view["instance"]["supervisor_pid"].get<pid_t>();
  support::send_signal(supervisor, SIGSTOP);  // must settle nothing
  for (const auto& worker : view["workers"]) {
    support::send_signal(worker["pid"].get<pid_t>(), SIGKILL);
  }
  support::send_signal(supervisor, SIGKILL);
  process.kill9();
  ASSERT_TRUE(eventually([&] { return support::gone(supervisor); })) << "it has the place";
  EXPECT_GT(daemon_.leases(), 0U);
  const auto began = std::chrono::steady_clock::now();
  const json done = drain();
  EXPECT_EQ(done["reason"], "empty") << daemon_.log();
  EXPECT_EQ(done["remaining"], 0);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(25))
      << "lease_ttl is 30 s";
  EXPECT_EQ(daemon_.count("task"), 0U);
}

TEST_F(Drain, TermGivesBackWhatRuns) {
  submit("test.sleep", 100, "600");
  support::Process process(command({"--jobs", "2"}));
  ASSERT_TRUE(eventually([&] { return !busy().empty(); })) << daemon_.log();
  process.signal(SIGTERM);
  const auto ended = process.wait(std::chrono::seconds(60));
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->code, 1) << process.err();
  EXPECT_EQ(json::parse(process.out())["reason"], "interrupted");
  EXPECT_EQ(daemon_.leases(), 0U);
  EXPECT_EQ(daemon_.count("task_dead"), 0U);
}

TEST_F(Drain, ErrorsAreReported) {
  const auto unknown = daemon_.allot({"drain", "--queue", "nope"});
  EXPECT_EQ(unknown.status.code, 65);
  EXPECT_NE(unknown.err.find("queue 'nope' does not exist"), std::string::npos) << unknown.err;
  EXPECT_EQ(daemon_.allot({"drain", "--queue", "../x"}).status.code, 65);
  EXPECT_EQ(daemon_.allot({"drain"}).status.code, 64);
}

// A private database needs no daemon either.
TEST(DrainEmbedded, StartsThePrivateDatabase) {
  const support::TempDir folder;
  Daemon daemon({.workers = 0, .database_keys = "embedded = \"" + folder / "db" + "\""});
  const std::chrono::seconds patience(60);  // it makes a server
  ASSERT_TRUE(eventually([&] { return daemon.logged("supervisor.ready"); }, patience))
      << daemon.log();
  daemon.submit_many("test.write", {"1", "2", "3"});
  const Words words{"drain", "--queue", "default", "--json"};
  ASSERT_TRUE(daemon.stop());
  const auto done = daemon.allot(words);
  EXPECT_EQ(done.status.code, 0) << done.err << daemon.log();
  EXPECT_EQ(json::parse(done.out)["done"], 3) << done.out;
  EXPECT_EQ(daemon.written().size(), 3U);
  const auto ready = daemon.times_logged("supervisor.ready");  // the drain's daemon as well
  daemon.start();
  ASSERT_TRUE(
      eventually([&] { return daemon.times_logged("supervisor.ready") > ready; }, patience));
  daemon.submit_many("test.write", {"4"});
  const auto second = daemon.allot(words);  // the daemon keeps the database
  EXPECT_EQ(json::parse(second.out)["done"], 1) << second.out << second.err << daemon.log();
}

}  // namespace
}  // namespace allot::e2e::drain_test
