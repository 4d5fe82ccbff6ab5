// SPDX-License-Identifier: Apache-2.0
// The steward raises notices, and clears them (C9).
#include <nlohmann/json.hpp>

#include "db/steward/steward_host.h"
#include "db/worker/loop_fixture.h"
#include "peer/steward_board.h"
#include "queue/model/duty.h"
#include "queue/notices/notice.h"
#include "queue/operate/dead_tasks.h"
#include "steward/chores.h"

namespace allot::steward {
namespace {

using nlohmann::json;
using worker::LoopTest;
using worker::LoopWorker;

class NoticesTest : public LoopTest {
 protected:
  NoticesTest() {
    ops_ = queue::ensure_queue(db_, "ops", {4});
    config_.name = "q";
    settings_.notices.on_change = "ops/tell";
  }

  // Steward of one host.
  struct Host : StewardHost {
    Host(LoopWorker& worker, process::SlotWriter& slot, ipc::Board& board,
         const config::Settings& settings, const std::vector<Served>& queues)
        : StewardHost(worker.session(), slot),
          served(queues),
          unknown(board),
          servers(db::ConnectOptions{}) {
      loop.add(notices({worker.session(), board, settings, served, unknown, servers}));
    }
    // One round, whether it is due or not.
    void poll() { loop.finish(); }
    std::vector<Served> served;
    UnknownTasks unknown;
    OtherServers servers;
  };
  std::unique_ptr<Host> host(LoopWorker& worker) {
    return std::make_unique<Host>(worker, slot_, *board_, settings_,
                                  std::vector<Served>{{queue_, &config_}});
  }
  // Reports so far, oldest first: "raised dead q".
  std::vector<std::string> told() {
    auto results =
        db_.execute("SELECT payload FROM task WHERE queue_id = " + std::to_string(ops_.queue_id) +
                    " ORDER BY run_key");
    std::vector<std::string> all;
    while (const auto row = results.front().next()) {
      const json text = json::parse(row->text(0));
      all.push_back(text.at("state").get<std::string>() + " " + text.at("kind").get<std::string>() +
                    " " + text.at("subject").get<std::string>());
    }
    return all;
  }
  void put_overdue(const std::string& interval) {
    db_.execute("INSERT INTO task (queue_id, partition_no, prio, run_key, type, payload) VALUES (" +
                std::to_string(queue_.queue_id) +
                ", 0, 1, TIMESTAMPDIFF(MICROSECOND, '2025-01-01', UTC_TIMESTAMP(6) - INTERVAL " +
                interval + ") << 12, 't', 'x')");
  }
  void put_dead() {
    db_.execute(
        "INSERT INTO task_dead (queue_id, partition_no, prio, first_key, attempt, type, payload,"
        " cause, error, died_at) VALUES (" +
        std::to_string(queue_.queue_id) +
        ", 0, 1, 7, 1, 't', 'x', 'failed', '', UTC_TIMESTAMP(6))");
  }

  queue::QueueInfo ops_;
  config::Settings settings_;
  config::Queue config_;
};

TEST_F(NoticesTest, AStateChangeIsReportedOnceOverAllHosts) {
  auto one = worker();
  auto two = worker();
  const auto first = host(*one);
  const auto second = host(*two);
  first->poll();
  second->poll();
  EXPECT_TRUE(told().empty());
  put_dead();
  first->poll();
  second->poll();
  first->poll();
  EXPECT_EQ(told(), std::vector<std::string>{"raised dead q"});
  db_.execute("DELETE FROM task_dead");
  second->poll();
  EXPECT_EQ(told().size(), 1U) << "it does not lead";
  first->poll();
  EXPECT_EQ(told(), (std::vector<std::string>{"raised dead q", "cleared dead q"}));
  EXPECT_TRUE(queue::list_notices(db_).empty());
}

TEST_F(NoticesTest, WithoutAQueueToTellItIsOnlyRaised) {
  settings_.notices.on_change.clear();
  settings_.notices.dead = 2;
  auto one = worker();
  const auto first = host(*one);
  put_dead();
  first->poll();
  EXPECT_TRUE(queue::list_notices(db_).empty()) << "one is not enough";
  settings_.notices.dead = 1;
  first->poll();
  EXPECT_EQ(queue::list_notices(db_).size(), 1U);
  EXPECT_TRUE(told().empty());
}

TEST_F(NoticesTest, AQueueWithoutAPool) {
  auto one = worker();
  const auto first = host(*one);
  put_overdue("11 MINUTE");
  db_.execute("UPDATE q_lock_table SET expire_at = UTC_TIMESTAMP(6) - INTERVAL 1 HOUR");
  first->poll();
  EXPECT_EQ(told(), std::vector<std::string>{"raised unserved q"});
  // A worker starts with a backlog.
  db_.execute("UPDATE q_lock_table SET expire_at = UTC_TIMESTAMP(6)");
  first->poll();
  EXPECT_EQ(told(), (std::vector<std::string>{"raised unserved q", "raised waiting q",
                                              "cleared unserved q"}));
}

// Only this host knows the task; the leader clears the notice when the task has found a handler.
TEST_F(NoticesTest, ATypeThatNoHandlerKnows) {
  auto one = worker();
  auto two = worker();
  const auto leader = host(*one);
  const auto other = host(*two);
  leader->poll();
  const std::uint64_t id = 1 << 12;
  const std::string at = std::to_string(queue_.queue_id) + ", 0, 1, ";
  db_.execute(
      "INSERT INTO task (queue_id, partition_no, prio, run_key, first_key, flags, type,"
      " payload) VALUES (" +
      at + "(TIMESTAMPDIFF(MICROSECOND, '2025-01-01', UTC_TIMESTAMP(6)) + 3600000000) << 12, " +
      std::to_string(id) + ", 128, 'strange', 'x')");
  db_.execute(
      "INSERT INTO task_moved SELECT queue_id, partition_no, prio, first_key, run_key FROM"
      " task WHERE type = 'strange'");
  peer::note_unknown(*board_, {queue_.queue_id, 0, 1, id}, "strange");
  other->poll();
  EXPECT_EQ(told(), std::vector<std::string>{"raised no_handler q/strange"});
  leader->poll();
  EXPECT_EQ(told().size(), 1U) << "the task waits yet";
  db_.execute("UPDATE task SET flags = 0 WHERE type = 'strange'");
  leader->poll();
  EXPECT_EQ(told(), (std::vector<std::string>{"raised no_handler q/strange",
                                              "cleared no_handler q/strange"}));
}

TEST_F(NoticesTest, ADutyWithoutALeaderAndAPurgeThatIsBehind) {
  config_.history = std::chrono::hours(1);
  auto one = worker();
  const auto first = host(*one);
  db_.execute(
      "INSERT INTO queue_duty (queue_id, duty, holder, free_at) VALUES (0, 'schedules', 77,"
      " UTC_TIMESTAMP(6) - INTERVAL 1 MINUTE)");
  db_.execute(
      "INSERT INTO task_history (queue_id, partition_no, prio, first_key, attempt, type,"
      " ended_at, lock_host, lock_pid) VALUES (" +
      std::to_string(queue_.queue_id) +
      ", 0, 1, 7, 1, 't', UTC_TIMESTAMP(6) - INTERVAL 3 HOUR, 'h', 1)");
  first->poll();
  EXPECT_EQ(told(), (std::vector<std::string>{"raised leader schedules", "raised purge q"}));
  db_.execute("UPDATE queue_duty SET holder = NULL WHERE duty = 'schedules'");
  db_.execute("DELETE FROM task_history");
  first->poll();
  EXPECT_TRUE(queue::list_notices(db_).empty());
}

}  // namespace
}  // namespace allot::steward
