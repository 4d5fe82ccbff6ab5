// SPDX-License-Identifier: Apache-2.0
// Ordered and limited queues are resized while tasks arrive, wait and run, and while workers and
// the command itself are killed. ALLOT_TEST_KEYS and ALLOT_TEST_TASKS (of a key) make the tests
// larger.
// Rule: S17.
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <random>
#include <thread>

#include "allot/client.h"
#include "db/connection.h"
#include "e2e/keyed.h"
#include "support/environment.h"

namespace allot::e2e::resize_test {
namespace {

using nlohmann::json;
using support::environment_or;
using support::eventually;

class ResizeTest : public KeyedTest {
 protected:
  void start(const std::string& shape, unsigned workers) {
    KeyedTest::start(shape, workers);
    ASSERT_TRUE(eventually([&] { return daemon_->count("queue WHERE name = 'keyed'") == 1; }));
  }
  static std::string payload(int key, int number) {
    const char* const verbs[] = {"", "", "", "crash", "", "release"};
    const auto* verb = (number + key) % 10 == 0 ? verbs[(number * 7 + key) % 6] : "";
    // Its partition waits, so that others are free for some time, perhaps partitions of the next
    // layout, too.
    if (number == 0 && key % 8 == 0) verb = "retry";
    return "k" + std::to_string(key) + " " + std::to_string(number) + " " + verb;
  }
  // Kills the command at a random instruction, or not at all, until the queue has that number.
  void resize(int partitions, std::mt19937& dice) const {
    const std::string number = std::to_string(partitions);
    for (int i = 0; i < 3; ++i) {
      support::Process process({program("allot"), "--config", daemon_->config_file(), "queue",
                                "resize", "keyed", number, "--yes"});
      const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(dice() % 40);
      (void)eventually([&] { return std::chrono::steady_clock::now() > until; });
      process.kill9();
    }
    ASSERT_TRUE(eventually(
        [&] {
          return daemon_->allot({"queue", "resize", "keyed", number, "--yes"}).status.code == 0;
        },
        std::chrono::seconds(60)))
        << daemon_->allot({"queue", "resize", "keyed", number, "--yes"}).err;
  }
  void kill_one(std::mt19937& dice) const {
    const auto workers = daemon_->workers();
    if (!workers.empty()) support::send_signal(workers[dice() % workers.size()], SIGKILL);
  }
  [[nodiscard]] bool resizing() const {
    for (const json& queue : json::parse(daemon_->allot({"queue", "list", "--json"}).out)) {
      if (queue.at("name") == "keyed") return queue.at("resizing").get<bool>();
    }
    return false;
  }
};

// Three submitters, each with separate keys: the command, the client, and the procedure in a
// transaction whose view is older than its tasks.
class Submitters {
 public:
  Submitters(const Daemon& daemon, int keys, int tasks, std::string (*payload)(int, int))
      : daemon_(daemon), keys_(keys), tasks_(tasks), payload_(payload) {
    threads_.emplace_back([this] { by_command(); });
    threads_.emplace_back([this] { by_client(); });
    threads_.emplace_back([this] { by_procedure(); });
  }
  ~Submitters() { join(); }
  Submitters(const Submitters&) = delete;
  Submitters& operator=(const Submitters&) = delete;

  void join() {
    for (std::thread& thread : threads_) {
      if (thread.joinable()) thread.join();
    }
  }
  [[nodiscard]] int rounds() const { return rounds_; }
  [[nodiscard]] int running() const { return 3 - ended_; }

 private:
  template <typename Round>
  void each_round(int mine, Round&& round) {
    for (int number = 0; number < tasks_; ++number) {
      std::vector<int> keys;
      for (int key = mine; key < keys_; key += 3) keys.push_back(key);
      round(keys, number);
      ++rounds_;
    }
    ++ended_;
  }
  void by_command() {
    each_round(0, [&](const std::vector<int>& keys, int number) {
      std::string lines;
      for (const int key : keys) {
        lines += json{{"queue", "keyed"},
                      {"type", "test.keyed"},
                      {"payload", payload_(key, number)},
                      {"partition_key", "k" + std::to_string(key)}}
                     .dump() +
                 "\n";
      }
      const auto done = daemon_.allot({"submit", "--ndjson", "-"}, lines);
      EXPECT_EQ(done.status.code, 0) << done.err;
    });
  }
  void by_client() {
    Client client = Client::from_file(daemon_.config_file());
    each_round(1, [&](const std::vector<int>& keys, int number) {
      std::vector<NewTask> tasks;
      for (const int key : keys) {
        NewTask& task = tasks.emplace_back();
        task.queue = "keyed";
        task.type = "test.keyed";
        task.payload = payload_(key, number);
        task.options.partition_key = "k" + std::to_string(key);
      }
      client.submit_many(tasks);
    });
  }
  void by_procedure() {
    db::Connection db = daemon_.connect();
    db.execute("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ");
    each_round(2, [&](const std::vector<int>& keys, int number) {
      for (int tries = 0; tries < 20; ++tries) {
        try {
          db.execute("BEGIN");
          db.execute("SELECT COUNT(*) FROM queue");
          for (const int key : keys) {
            db.execute("CALL allot_submit('keyed', 'test.keyed', '" + payload_(key, number) +
                       "', '{\"partition_key\": \"k" + std::to_string(key) + "\"}', @id, @e)");
          }
          db.execute("COMMIT");
          return;
        } catch (const db::DbError& error) {
          db.execute("ROLLBACK");
          EXPECT_EQ(error.error_class(), db::ErrorClass::kRetryable) << error.what();
        }
      }
      ADD_FAILURE() << "never submitted";
    });
  }

  const Daemon& daemon_;
  int keys_;
  int tasks_;
  std::string (*payload_)(int, int);
  std::atomic<int> rounds_{0};
  std::atomic<int> ended_{0};
  std::vector<std::thread> threads_;
};

TEST_F(ResizeTest, EachKeyRunsInOrderThroughResizesAndKills) {
  const int keys = environment_or("ALLOT_TEST_KEYS", 60);
  const int tasks = environment_or("ALLOT_TEST_TASKS", 30);
  start("partitions = 4\nplacement = \"ordered\"\n", 4);
  std::mt19937 dice(7);
  // For a backlog on both sides of a resize.
  daemon_->must({"queue", "pause", "keyed"});
  Submitters submitters(*daemon_, keys, tasks, payload);
  const int sizes[] = {7, 3, 5};
  for (std::size_t i = 0; i < std::size(sizes); ++i) {
    const int from = submitters.rounds() + 3 * tasks / 4;
    ASSERT_TRUE(eventually([&] { return submitters.rounds() >= from || submitters.running() == 0; },
                           std::chrono::seconds(120)))
        << daemon_->log();
    if (i == 1) daemon_->must({"queue", "resume", "keyed"});
    kill_one(dice);
    resize(sizes[i], dice);
    kill_one(dice);
  }
  submitters.join();
  ASSERT_TRUE(eventually(
      [&] {
        if (dice() % 20 == 0) kill_one(dice);
        return daemon_->count("task") == 0;
      },
      std::chrono::seconds(240)))
      << daemon_->count("task") << daemon_->log();
  expect_in_order(done(), keys, tasks);
  EXPECT_EQ(daemon_->count("task_dead"), 0U);
  EXPECT_EQ(daemon_->count("queue WHERE name = 'keyed' AND partitions = 5 AND layout = 3"), 1U);
  EXPECT_TRUE(eventually([&] { return !resizing(); }));
}

TEST_F(ResizeTest, NeverMoreThanMaxRunningThroughTwoResizes) {
  start("partitions = 4\nplacement = \"limited\"\nmax_running = 2\n", 6);
  int submitted = 0;
  const auto some = [&](int count) {
    json batch = json::array();
    for (int i = 0; i < count; ++i) {
      const std::string key = "k" + std::to_string(i % 3);
      batch.push_back({{"type", "test.counted"}, {"payload", key + " 2"}, {"partition_key", key}});
    }
    submit(batch);
    submitted += count;
  };
  some(900);
  std::mt19937 dice(3);
  for (const int size : {7, 3}) {
    resize(size, dice);
    some(600);
  }
  ASSERT_TRUE(eventually([&] { return daemon_->count("task") == 0; }, std::chrono::seconds(120)))
      << daemon_->log();
  std::map<std::string, int> lines;
  for (const std::string& line : done()) ++lines[line];
  EXPECT_EQ(lines.size(), 3U) << "none was too many";
  EXPECT_EQ(lines["k0 done"] + lines["k1 done"] + lines["k2 done"], submitted);
}

// Messages about a resize, and that workers do not lease partitions that wait.
TEST_F(ResizeTest, ItIsShownAndCalm) {
  start("partitions = 4\nplacement = \"ordered\"\n", 2);
  daemon_->must({"queue", "pause", "keyed"});
  submit({{{"type", "unknown.type"}, {"payload", ""}, {"partition_key", "k"}}});
  const auto resized = daemon_->allot({"queue", "resize", "keyed", "7"});
  EXPECT_EQ(resized.out,
            "queue keyed has 7 partitions (before: 4)\n"
            "new tasks wait until all earlier tasks have run\n");
  daemon_->must({"queue", "resume", "keyed"});
  const auto submitted =
      daemon_->allot({"submit", "keyed", "test.keyed", "k 1", "--partition-key", "k"});
  const std::string id = submitted.out.substr(0, submitted.out.find('\n'));
  ASSERT_TRUE(eventually([&] { return daemon_->logged("task.no_handler"); })) << daemon_->log();
  const auto why = daemon_->allot({"why", id});
  EXPECT_EQ(why.out.find("queue keyed is being resized: tasks submitted before the change"), 0U)
      << why.out << why.err;
  EXPECT_TRUE(resizing());
  EXPECT_NE(daemon_->allot({"queue", "list"}).out.find("7, being resized"), std::string::npos);
  const auto again = daemon_->allot({"queue", "resize", "keyed", "3"});
  EXPECT_EQ(again.status.code, 1);
  EXPECT_NE(again.err.find("is being resized to 7 partitions"), std::string::npos) << again.err;
  EXPECT_EQ(daemon_->count("q_lock_table WHERE epoch > 0 AND partition_no >= 4"), 0U)
      << "waiting partitions were not leased";
  EXPECT_TRUE(done().empty());
  daemon_->connect().execute("DELETE FROM task WHERE type = 'unknown.type' AND queue_id > 0");
  ASSERT_TRUE(eventually([&] { return done().size() == 1; }, std::chrono::seconds(20)))
      << daemon_->log();
  EXPECT_FALSE(resizing());
}

TEST_F(ResizeTest, ADeadTaskComesBackWhereItsKeyIs) {
  start("partitions = 4\nplacement = \"ordered\"\n", 2);
  submit({{{"type", "test.keyed"}, {"payload", "k 0 fail"}, {"partition_key", "k"}},
          {{"type", "test.keyed"}, {"payload", "k 1"}, {"partition_key", "k"}}});
  ASSERT_TRUE(eventually([&] { return daemon_->drained(); })) << daemon_->log();
  daemon_->must({"queue", "resize", "keyed", "7"});
  EXPECT_FALSE(resizing()) << "it was empty";
  daemon_->connect().execute("UPDATE task_dead SET payload = 'k 2' WHERE queue_id > 0");
  const auto retried = daemon_->allot({"dead", "retry", "--queue", "keyed", "--all", "--yes"});
  EXPECT_EQ(retried.out, "retried 1 dead task\n") << retried.err;
  // Reported by the process that did the work: the steward, or the command if no steward led yet.
  EXPECT_TRUE(retried.err.find(" now: its queue was resized") != std::string::npos ||
              eventually([&] { return daemon_->logged("bulk.moved action="); }))
      << retried.err << daemon_->log();
  ASSERT_TRUE(eventually([&] { return done().size() == 2; })) << daemon_->log();
  EXPECT_EQ(done().back(), "k 2");
}

// A queue whose last task is due tomorrow would wait until then.
TEST_F(ResizeTest, AQueueWithALateTaskIsAskedFor) {
  start("partitions = 4\nplacement = \"limited\"\nmax_running = 2\n", 1);
  daemon_->must({"submit", "keyed", "test.keyed", "k 0", "--partition-key", "k", "--delay", "24h"});
  const auto refused = daemon_->allot({"queue", "resize", "keyed", "7"});
  EXPECT_NE(refused.status.code, 0);
  EXPECT_NE(refused.err.find("whose last task is due at"), std::string::npos) << refused.err;
  daemon_->must({"queue", "resize", "keyed", "7", "--yes"});
  EXPECT_TRUE(resizing());
}

}  // namespace
}  // namespace allot::e2e::resize_test
