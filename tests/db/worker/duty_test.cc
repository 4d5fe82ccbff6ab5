// SPDX-License-Identifier: Apache-2.0
// on_stuck (C9): what a worker finds and reports beside its work.
#include "worker/duty/duty.h"

#include <nlohmann/json.hpp>

#include "db/worker/loop_fixture.h"
#include "queue/operate/cancel.h"
#include "support/eventually.h"

namespace allot::worker {
namespace {

using nlohmann::json;

class DutyTest : public LoopTest {
 protected:
  DutyTest() : ops_(queue::ensure_queue(db_, "ops", {1})) {
    config_.on_stuck = "ops/alert";
    config_.stuck_after = std::chrono::hours(1);
  }
  Duties duties(LoopWorker& worker) { return {worker.session(), *board_, {{queue_, &config_}}}; }
  // What was reported, the first one first.
  std::vector<json> alerts() {
    auto results =
        db_.execute("SELECT payload FROM task WHERE queue_id = " + std::to_string(ops_.queue_id) +
                    " ORDER BY run_key");
    std::vector<json> all;
    while (const auto row = results.front().next()) all.push_back(json::parse(row->text(0)));
    return all;
  }
  std::string looked_until() {
    return value("SELECT MAX(free_at) FROM queue_duty WHERE duty = 'stuck'");
  }

  queue::QueueInfo ops_;
};

// Each time it is put back it has a new due time, half a minute ahead.
TEST_F(DutyTest, ATaskOfAnUnknownTypeIsReportedByItsFirstKey) {
  put_tasks(0, 2, "test.nobody");  // due since 2025
  const auto worker = this->worker();
  Duties work = duties(*worker);
  worker->on_unknown(
      [&](const queue::TaskId& id, const std::string& type) { work.unknown_type(id, type); });
  auto block = worker->find();
  ASSERT_TRUE(block);
  worker->work(std::move(*block));
  ASSERT_EQ(value("SELECT COUNT(*) FROM task WHERE flags & 128 AND first_key IN (1, 2)"), "2");
  work.look();
  const auto told = alerts();
  ASSERT_EQ(told.size(), 1U) << "once for all tasks of a type";
  EXPECT_EQ(told[0].at("what"), "no_handler");
  EXPECT_EQ(told[0].at("type"), "test.nobody");
  EXPECT_EQ(told[0].at("task"), (queue::TaskId{partition(0), 1, 1}.text())) << "the oldest";
  EXPECT_EQ(told[0].at("since").get<std::string>().substr(0, 10), "2025-01-01");
}

TEST_F(DutyTest, AYoungOneIsNot) {
  db_.execute("INSERT INTO task (queue_id, partition_no, prio, run_key, type, payload) VALUES (" +
              std::to_string(queue_.queue_id) +
              ", 0, 1, TIMESTAMPDIFF(MICROSECOND, '2025-01-01', UTC_TIMESTAMP(6)) << 12,"
              " 'test.nobody', '')");
  const auto worker = this->worker();
  Duties work = duties(*worker);
  std::size_t unknown = 0;
  worker->on_unknown([&](const queue::TaskId& id, const std::string& type) {
    ++unknown;
    work.unknown_type(id, type);
  });
  auto block = worker->find();
  ASSERT_TRUE(block);
  worker->work(std::move(*block));
  EXPECT_EQ(unknown, 1U);
  work.look();
  EXPECT_TRUE(alerts().empty());
}

// The key of a dead task is free; a report whose handler fails must not come again every ten
// seconds.
TEST_F(DutyTest, AReportThatIsDeadIsNotRepeated) {
  put_tasks(0, 1);
  const auto worker = this->worker();
  Duties work = duties(*worker);
  work.look();
  ASSERT_EQ(alerts().size(), 1U);
  const queue::TaskId report = queue::list_tasks(db_, ops_, 1).at(0).id;
  ASSERT_TRUE(queue::cancel_task(db_, report, "").done);
  const std::string first = looked_until();
  ASSERT_TRUE(support::eventually(
      [&] {
        work.look();
        return looked_until() != first;
      },
      std::chrono::seconds(30)));
  EXPECT_TRUE(alerts().empty());
}

TEST(UnservedTest, AreThoseThatNoPoolWithWorkersHas) {
  config::Settings settings;
  for (const char* name : {"a", "b", "c"}) settings.queues.emplace_back().name = name;
  settings.pools.emplace_back().queues = {"a"};
  settings.pools.emplace_back().queues = {"b"};
  settings.pools[0].size = 1;
  settings.pools[1].size = 0;
  const auto left = unserved(settings);
  ASSERT_EQ(left.size(), 2U);
  EXPECT_EQ(left[0]->name, "b");
  EXPECT_EQ(left[1]->name, "c");
}

}  // namespace
}  // namespace allot::worker
