// SPDX-License-Identifier: Apache-2.0
// The steward reports stuck tasks to the hook of their queue (C9).
#include <nlohmann/json.hpp>

#include "db/steward/steward_host.h"
#include "db/worker/loop_fixture.h"
#include "peer/steward_board.h"
#include "queue/operate/cancel.h"
#include "queue/views/task_lists.h"
#include "steward/chores.h"
#include "support/eventually.h"

namespace allot::steward {
namespace {

using nlohmann::json;

using worker::LoopWorker;

class StuckReportsTest : public worker::LoopTest {
 protected:
  StuckReportsTest() : ops_(queue::ensure_queue(db_, "ops", {1})) {
    config_.on_stuck = "ops/alert";
    config_.stuck_after = std::chrono::hours(1);
  }
  struct Host : StewardHost {
    Host(LoopWorker& worker, process::SlotWriter& slot, ipc::Board& board,
         const std::vector<Served>& queues)
        : StewardHost(worker.session(), slot), served(queues), unknown(board) {
      loop.add(stuck_reports(worker.session(), board, unknown, served));
    }
    std::vector<Served> served;
    UnknownTasks unknown;
  };
  std::unique_ptr<Host> host(LoopWorker& worker) {
    return std::make_unique<Host>(worker, slot_, *board_, std::vector<Served>{{queue_, &config_}});
  }
  // Connected as in run_worker().
  std::unique_ptr<LoopWorker> worker() {
    auto worker = LoopTest::worker();
    worker->on_unknown([this](const queue::TaskId& id, const std::string& type) {
      ++unknown_;
      peer::note_unknown(
          *board_, {id.partition.queue_id, id.partition.partition_no, id.prio, id.first_key}, type);
    });
    return worker;
  }
  // Reports so far, oldest first.
  std::vector<json> alerts() {
    auto results =
        db_.execute("SELECT payload FROM task WHERE queue_id = " + std::to_string(ops_.queue_id) +
                    " ORDER BY run_key");
    std::vector<json> all;
    while (const auto row = results.front().next()) all.push_back(json::parse(row->text(0)));
    return all;
  }
  std::string looked_at() {
    return value("SELECT COALESCE(MAX(last_run), 'never') FROM queue_duty WHERE duty = 'stuck'");
  }

  queue::QueueInfo ops_;
  std::size_t unknown_ = 0;
};

// Each time it is put back it has a new due time, half a minute ahead.
TEST_F(StuckReportsTest, ATaskOfAnUnknownTypeIsReportedByItsFirstKey) {
  put_tasks(0, 2, "test.unknown");  // due since 2025
  const auto worker = this->worker();
  const auto host = this->host(*worker);
  auto block = worker->find();
  ASSERT_TRUE(block);
  worker->work(std::move(*block));
  ASSERT_EQ(value("SELECT COUNT(*) FROM task WHERE flags & 128 AND first_key IN (1, 2)"), "2");
  host->loop.round();
  const auto told = alerts();
  ASSERT_EQ(told.size(), 1U) << "once for all tasks of a type";
  EXPECT_EQ(told[0].at("state"), "no_handler");
  EXPECT_EQ(told[0].at("type"), "test.unknown");
  EXPECT_EQ(told[0].at("task"), (queue::TaskId{partition(0), 1, 1}.text())) << "the oldest";
  EXPECT_EQ(told[0].at("since").get<std::string>().substr(0, 10), "2025-01-01");
}

TEST_F(StuckReportsTest, AYoungOneIsNot) {
  db_.execute("INSERT INTO task (queue_id, partition_no, prio, run_key, type, payload) VALUES (" +
              std::to_string(queue_.queue_id) +
              ", 0, 1, TIMESTAMPDIFF(MICROSECOND, '2025-01-01', UTC_TIMESTAMP(6)) << 12,"
              " 'test.unknown', '')");
  const auto worker = this->worker();
  const auto host = this->host(*worker);
  auto block = worker->find();
  ASSERT_TRUE(block);
  worker->work(std::move(*block));
  EXPECT_EQ(unknown_, 1U);
  host->loop.round();
  EXPECT_TRUE(alerts().empty());
}

// The key of a dead task is free; a report whose handler fails must not be repeated every ten
// seconds.
TEST_F(StuckReportsTest, AReportThatIsDeadIsNotRepeated) {
  put_tasks(0, 1);
  const auto hour = [] {
    return std::chrono::floor<std::chrono::hours>(std::chrono::system_clock::now());
  };
  const auto first_hour = hour();
  const auto worker = this->worker();
  const auto host = this->host(*worker);
  host->loop.round();
  ASSERT_EQ(alerts().size(), 1U);
  const queue::TaskId report = queue::list_tasks(db_, ops_, 1).at(0).id;
  ASSERT_TRUE(queue::cancel_task(db_, report, "").done);
  ASSERT_TRUE(support::eventually([&] {
    host->loop.round();
    return looked_at() != "never";
  }));
  const std::string first = looked_at();
  ASSERT_TRUE(support::eventually(
      [&] {
        host->loop.round();
        return looked_at() != first;
      },
      std::chrono::seconds(30)));
  EXPECT_TRUE(alerts().empty() || hour() != first_hour) << "a queue is reported once an hour";
}

// A failed report is in the duty's row until it succeeds.
TEST_F(StuckReportsTest, FailuresAreWritten) {
  config_.on_stuck = "nowhere/alert";
  put_tasks(0, 1);
  const auto worker = this->worker();
  auto host = this->host(*worker);
  host->loop.round();
  host->leadership.leave();
  EXPECT_EQ(value("SELECT CONCAT(duty, ' ', last_error) FROM queue_duty"
                  " WHERE last_error IS NOT NULL"),
            "stuck on_stuck: nowhere is not there");
  config_.on_stuck = "ops/alert";
  host = this->host(*worker);
  host->loop.round();
  host->leadership.leave();
  EXPECT_EQ(value("SELECT COUNT(*) FROM queue_duty WHERE last_error IS NOT NULL"), "0");
}

TEST_F(StuckReportsTest, UnservedQueueIsCheckedOnlyForItsHook) {
  config::Settings settings;
  for (const char* name : {"a", "b", "c", "d"}) settings.queues.emplace_back().name = name;
  settings.queues[2].on_stuck = settings.queues[3].on_stuck = "ops/alert";
  settings.pools.emplace_back().queues = {"a"};
  settings.pools.emplace_back().queues = {"d"};
  settings.pools[0].size = 1;
  settings.pools[1].size = 0;
  const auto worker = this->worker();
  const auto served = served_by(worker->session(), settings);
  ASSERT_EQ(served.size(), 3U);
  EXPECT_EQ(served[0].info.name, "a");
  EXPECT_TRUE(served[0].by_this_host);
  EXPECT_EQ(served[1].info.name, "c");
  EXPECT_FALSE(served[1].by_this_host);
  EXPECT_EQ(served[2].info.name, "d");
  EXPECT_FALSE(served[2].by_this_host) << "its pool has no workers";
}

}  // namespace
}  // namespace allot::steward
