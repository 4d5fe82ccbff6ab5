// SPDX-License-Identifier: Apache-2.0
// allot queue resize and allot queue move, without a daemon.
// Rule: S17.
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <stop_token>
#include <thread>

#include "base/exit_codes.h"
#include "db/cli/fixture.h"
#include "support/eventually.h"
#include "support/terminal.h"

namespace allot::cli {
namespace {

using nlohmann::json;

class QueueChangeTest : public CliTest {
 protected:
  QueueChangeTest() { must({"migrate"}); }

  std::string id_of(const std::string& queue) {
    return value("SELECT queue_id FROM queue WHERE name = '" + queue + "'");
  }
  std::uint64_t waiting(const std::string& queue) {
    return count("task WHERE queue_id = " + id_of(queue));
  }
  std::uint64_t partitions_used(const std::string& queue) {
    return std::stoull(
        value("SELECT COUNT(DISTINCT partition_no) FROM task WHERE queue_id = " + id_of(queue)));
  }
  // The one of "wide", for an hour.
  void lease_partition_2() {
    observer_.execute(
        "UPDATE q_lock_table SET state = 'LOCKED', lock_by = 1, epoch = 5,"
        " expire_at = UTC_TIMESTAMP(6) + INTERVAL 1 HOUR WHERE partition_no = 2"
        " AND queue_id = " +
        id_of("wide"));
  }
  json move(const Words& more) {
    Words words{"queue", "move"};
    words.insert(words.end(), more.begin(), more.end());
    words.insert(words.end(), {"--yes", "--json"});
    return json::parse(must(words));
  }
};

TEST_F(QueueChangeTest, ResizeGrowsAndShrinksAndKeepsEveryLeaseRow) {
  EXPECT_EQ(must({"queue", "resize", "wide", "12"}), "queue wide has 12 partitions (before: 8)\n");
  const std::string leases = "q_lock_table WHERE queue_id = " + id_of("wide");
  EXPECT_EQ(count(leases), 12U);
  must({"submit", "--ndjson", "-"}, numbered(1, 60, "wide"));
  EXPECT_EQ(partitions_used("wide"), 12U);
  const json shrunk = json::parse(must({"queue", "resize", "wide", "3", "--json"}));
  EXPECT_EQ(shrunk, json::parse(R"({"name": "wide", "partitions": 3, "partitions_before": 12,
                                    "retired_tasks": 45, "retired_tasks_at_least": false})"));
  EXPECT_EQ(count(leases), 12U) << "never deleted";
  must({"submit", "--ndjson", "-"}, numbered(1, 60, "wide"));
  EXPECT_EQ(count("task WHERE partition_no >= 3 AND queue_id = " + id_of("wide")), 45U);
  must({"queue", "resize", "wide", "12"});
  EXPECT_EQ(count(leases), 12U);
  must({"migrate"});  // the database owns the number
  EXPECT_EQ(value("SELECT partitions FROM queue WHERE name = 'wide'"), "12");
}

TEST_F(QueueChangeTest, MoveTakesAllOfAType) {
  must({"submit", "--ndjson", "-"}, numbered(1, 40, "wide"));
  const std::string type = value("SELECT type FROM task LIMIT 1");
  must({"submit", "wide", "other", "stays"});
  must({"submit", "wide", type, "later", "--delay", "1h", "--prio", "3"});
  const std::string due = value("SELECT MAX(run_key) >> 12 FROM task");
  EXPECT_EQ(move({"wide", "default", "--type", type}),
            json::parse(R"({"tasks": 41, "moved": 41, "gone": 0, "leased": 0, "unique": 0})"));
  EXPECT_EQ(waiting("default"), 41U);
  EXPECT_EQ(waiting("wide"), 1U);
  EXPECT_LE(std::stoull(value("SELECT (MAX(run_key) >> 12) - " + due + " FROM task")), 1U)
      << "due when it was";
  EXPECT_EQ(value("SELECT COUNT(DISTINCT payload) FROM task"), "42");
  EXPECT_EQ(count("q_lock_table WHERE state <> 'FREE'"), 0U);
  move({"default", "wide"});
  EXPECT_GE(partitions_used("wide"), 7U) << "spread (S18)";
}

TEST_F(QueueChangeTest, MoveTakesAttemptsAndWhatWasRecordedOfThem) {
  const std::string moved = must({"submit", "wide", "t", "moved"});
  must({"submit", "wide", "t", "charged"});
  // A task after a retry, and one after a first crash, which keeps its key.
  observer_.execute(
      "UPDATE task SET first_key = run_key, run_key = run_key + 4096, attempt = 2,"
      " flags = 128 WHERE payload = 'moved'");
  observer_.execute(
      "INSERT INTO task_moved SELECT queue_id, partition_no, prio, first_key, run_key"
      " FROM task WHERE payload = 'moved'");
  observer_.execute("UPDATE task SET attempt = 1 WHERE payload = 'charged'");
  observer_.execute(
      "INSERT INTO task_attempt (queue_id, partition_no, prio, first_key, attempt,"
      " ended_at, cause, error, lock_host, lock_pid) SELECT queue_id, partition_no, prio,"
      " COALESCE(first_key, run_key), attempt, UTC_TIMESTAMP(6), 'retry', payload, 'h', 1"
      " FROM task");
  EXPECT_EQ(move({"wide", "default"})["moved"], 2);
  EXPECT_EQ(waiting("default"), 2U);
  EXPECT_EQ(count("task_moved WHERE queue_id = " + id_of("wide")), 0U);
  EXPECT_EQ(count("task_attempt WHERE queue_id = " + id_of("wide")), 0U);
  const json list = json::parse(must({"tasks", "--queue", "default", "--json"}));
  ASSERT_EQ(list.size(), 2U);
  for (const json& task : list) {
    const json shown = json::parse(must({"task", "show", task["task"], "--json"}));
    EXPECT_EQ(shown["queue"], "default");
    ASSERT_EQ(shown["attempts"].size(), 1U) << shown;
    EXPECT_EQ(shown["attempts"][0]["error"], shown["payload"]);
  }
  EXPECT_EQ(allot({"task", "show", moved.substr(0, moved.size() - 1)}).status.code, 1)
      << "an id names its queue";
}

// A worker that has the partition may have started any of them.
TEST_F(QueueChangeTest, MoveSkipsLeasedPartitions) {
  must({"submit", "--ndjson", "-"}, numbered(1, 16, "wide"));
  lease_partition_2();
  const auto done = allot({"queue", "move", "wide", "default", "--yes", "--json"});
  EXPECT_EQ(done.status.code, kExitFailure) << done.err;
  EXPECT_EQ(json::parse(done.out),
            json::parse(R"({"tasks": 16, "moved": 14, "gone": 0, "leased": 2, "unique": 0})"));
  EXPECT_TRUE(has(done.err, "2 tasks stay"));
  EXPECT_EQ(count("task WHERE partition_no = 2 AND queue_id = " + id_of("wide")), 2U);
  EXPECT_EQ(value("SELECT epoch FROM q_lock_table WHERE lock_by = 1"), "5");
}

TEST_F(QueueChangeTest, MoveEndsAlthoughTasksKeepArriving) {
  must({"submit", "--ndjson", "-"}, numbered(1, 16, "wide"));
  lease_partition_2();
  db::Connection other = server_.connect(name_);
  const std::string movable =
      "SELECT COUNT(*) FROM task WHERE partition_no <> 2 AND queue_id = " + id_of("wide");
  const std::jthread submitter([&](const std::stop_token& over) {
    while (!over.stop_requested()) {
      other.execute("CALL allot_submit('wide', 't', 'x', NULL, @id, @existed)");
      EXPECT_TRUE(support::eventually(
          [&] { return over.stop_requested() || support::number_of(other, movable) == 0; }));
    }
  });
  const auto done = allot({"queue", "move", "wide", "default", "--yes", "--json"});
  EXPECT_EQ(done.status.code, kExitFailure) << done.err;
  EXPECT_GE(json::parse(done.out)["leased"], 2);
}

TEST_F(QueueChangeTest, MoveWorksInAPausedQueue) {
  must({"submit", "wide", "t", "x"});
  must({"queue", "pause", "wide"});
  EXPECT_EQ(move({"wide", "default"})["moved"], 1);
}

TEST_F(QueueChangeTest, MoveLeavesUniqueKeysWhereTheyAre) {
  must({"submit", "wide", "t", "x", "--unique-key", "k"});
  must({"submit", "wide", "t", "y"});
  const json done = move({"wide", "default"});
  EXPECT_EQ(done["unique"], 1);
  EXPECT_EQ(done["moved"], 1);
  EXPECT_EQ(payloads(), (Words{"y", "x"})) << "of default, then of wide";
  EXPECT_TRUE(has(must({"queue", "move", "wide", "default", "--yes"}), "\n1 task stays: "));
}

TEST_F(QueueChangeTest, MoveAsksAndBadInputIsNamed) {
  must({"submit", "wide", "t", "x"});
  const std::string before = everything();
  const auto unasked = allot({"queue", "move", "wide", "default"});
  EXPECT_EQ(unasked.status.code, kExitUsage);
  EXPECT_TRUE(has(unasked.err, "move would affect 1 task from queue wide to queue default"));
  EXPECT_EQ(allot({"queue", "move", "wide", "wide", "--yes"}).status.code, kExitBadInput);
  EXPECT_EQ(allot({"queue", "move", "wide", "nope", "--yes"}).status.code, kExitBadInput);
  EXPECT_EQ(allot({"queue", "move", "' OR 1 --", "default", "--yes"}).status.code, kExitBadInput);
  EXPECT_EQ(allot({"queue", "move", "wide", "default", "--type", "' OR 1 --", "--yes"}).status.code,
            kExitBadInput);
  EXPECT_EQ(everything(), before);
}

TEST_F(QueueChangeTest, OnATerminalABarShowsHowFarAMoveIs) {
  must({"submit", "--ndjson", "-"}, numbered(1, 60, "default"));
  support::Terminal terminal;
  const Words words{ALLOT_PROGRAM, "--config", config(), "queue",
                    "move",        "default",  "wide",   "--yes"};
  EXPECT_EQ(terminal.run(words, {}, {STDERR_FILENO}).status.code, kExitOk);
  EXPECT_TRUE(has(terminal.written(), "\r[")) << terminal.written();
  EXPECT_TRUE(has(terminal.written(), " tasks  "));
  EXPECT_EQ(terminal.seen(), Words{"move: 60 tasks from queue default to queue wide"})
      << "it is wiped out at the end";
}

TEST_F(QueueChangeTest, MoveKeepsItsRate) {
  must({"submit", "--ndjson", "-"}, numbered(1, 60, "default"));
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(move({"default", "wide", "--rate", "50"})["moved"], 60);
  EXPECT_GE(std::chrono::steady_clock::now() - began, std::chrono::milliseconds(950));
}

}  // namespace
}  // namespace allot::cli
