// SPDX-License-Identifier: Apache-2.0
// Several tasks at a time inside a worker (B14), with the promises of single tasks: none is lost,
// and none is charged for another.
#include <gtest/gtest.h>

#include <csignal>
#include <set>

#include "e2e/daemon.h"
#include "plugins/side_output.h"

namespace allot::e2e::side_by_side_test {
namespace {

using std::chrono::milliseconds;
using support::eventually;

using side::Line;

class Side : public testing::Test {
 protected:
  Daemon& start(unsigned concurrency, const std::string& queue_keys = {},
                const std::string& more = {}, unsigned workers = 1) {
    daemon_.emplace(DaemonOptions{.workers = workers,
                                  .queue_keys = queue_keys,
                                  .pool_keys = "concurrency = " + std::to_string(concurrency),
                                  .more = "[plugins.side]\noutput = \"" + output_ + "\"\n" + more,
                                  .plugins = ALLOT_SIDE_FOLDER});
    return *daemon_;
  }
  [[nodiscard]] std::vector<Line> lines() const { return side::read_lines(output_); }
  [[nodiscard]] std::size_t begun() const { return side::begun(lines()); }
  [[nodiscard]] std::size_t overlap(const std::string& prefix = {}, std::size_t from = 0) const {
    return side::overlap(lines(), prefix, from);
  }
  void submit(int count, const std::string& type, const std::string& word,
              const std::string& name = "t") {
    std::vector<std::string> payloads;
    for (int i = 0; i < count; ++i) payloads.push_back(name + std::to_string(i) + " " + word);
    daemon_->submit_many(type, payloads);
  }

  // Suspects: a settler puts them back one after the other, and the first may run before the last.
  [[nodiscard]] std::uint64_t flagged() const {
    return daemon_->number(
        "SELECT (SELECT COUNT(*) FROM task WHERE flags & 1) +"
        " (SELECT COUNT(*) FROM task_running WHERE flags & 1)");
  }

  support::TempDir folder_;
  std::string output_ = folder_ / "side";
  std::optional<Daemon> daemon_;
};

const std::string kOnePartition = "partitions = 1\n";

TEST_F(Side, TasksThatWaitOverlap) {
  start(16, kOnePartition);
  submit(50, "side.wait", "300");
  ASSERT_TRUE(daemon_->drains()) << daemon_->log();
  EXPECT_EQ(begun(), 50U) << "each once";
  EXPECT_GT(overlap(), 8U);
  EXPECT_LE(overlap(), 16U);
  EXPECT_EQ(daemon_->status()["workers"][0]["done"], 50);
  EXPECT_EQ(daemon_->count("task_attempt"), 0U);
}

TEST_F(Side, AlsoWhenEachIsInAPartitionOfItsOwn) {
  start(16, "partitions = 16\n");
  submit(50, "side.wait", "2000");
  ASSERT_TRUE(daemon_->drains()) << daemon_->log();
  EXPECT_EQ(begun(), 50U);
  EXPECT_GT(overlap(), 8U);
  EXPECT_LE(overlap(), 16U);
}

TEST_F(Side, WithoutTheKeyThereIsOneAtATime) {
  start(1, kOnePartition);
  submit(5, "side.wait", "50");
  ASSERT_TRUE(daemon_->drains()) << daemon_->log();
  EXPECT_EQ(overlap(), 1U);
}

TEST_F(Side, AHandlerThatDoesNotSayThatItCanRunsAlone) {
  start(8, kOnePartition);
  submit(10, "side.serial", "50", "serial");
  submit(10, "side.wait", "200", "wait");
  ASSERT_TRUE(daemon_->drains()) << daemon_->log();
  EXPECT_EQ(begun(), 20U);
  EXPECT_EQ(overlap("serial"), 1U);
  EXPECT_GT(overlap(), 1U);
}

// It is unknown which task was at fault: none is charged, and each runs alone from then on.
TEST_F(Side, AKilledWorkerChargesNoTask) {
  start(8, kOnePartition);
  submit(5, "side.gate", daemon_->gate());
  ASSERT_TRUE(eventually([&] { return begun() == 5; })) << daemon_->log();
  const std::size_t before = lines().size();
  EXPECT_EQ(daemon_->status()["workers"][0]["running"].size(), 5U);
  ASSERT_EQ(support::send_signal(daemon_->busy_workers().at(0), SIGKILL), 0);
  ASSERT_TRUE(eventually([&] { return begun() == 6 && flagged() == 5; })) << daemon_->log();
  EXPECT_EQ(daemon_->number("SELECT SUM(attempt) FROM task"), 1U)
      << "the one that runs is announced";
  EXPECT_EQ(daemon_->number("SELECT COUNT(*) FROM task_attempt WHERE cause <> 'lost'"), 0U);
  EXPECT_FALSE(eventually([&] { return begun() > 6; }, milliseconds(300))) << "alone";
  daemon_->open_gate();
  ASSERT_TRUE(daemon_->drains()) << daemon_->log();
  EXPECT_EQ(begun(), 10U);
  EXPECT_EQ(overlap("", before), 1U);
  EXPECT_FALSE(daemon_->logged("task.crashed")) << daemon_->log();
}

TEST_F(Side, APoisonedTaskDiesOfItselfAndNoNeighbourIsCharged) {
  start(8, kOnePartition + "max_attempts = 3\n");
  const auto poison = daemon_->submit("side.poison", "poison 100");
  submit(12, "side.wait", "300");
  ASSERT_TRUE(eventually([&] { return daemon_->count("task_dead") == 1; }, milliseconds(60'000)))
      << daemon_->log();
  ASSERT_TRUE(daemon_->drains()) << daemon_->log();
  EXPECT_EQ(daemon_->task(poison)["attempts"].size(), 3U);
  EXPECT_EQ(daemon_->times_logged("task.crashed"), 3U) << daemon_->log();
  EXPECT_EQ(daemon_->times_logged("task.crashed task=" + poison), 3U) << daemon_->log();
  EXPECT_LE(daemon_->times_logged("worker.died"), 5U);
  std::set<std::string> ended;
  for (const Line& line : lines()) {
    if (!line.begins) ended.insert(line.name);
  }
  EXPECT_EQ(ended.size(), 12U);
}

TEST_F(Side, ATimeLimitIsChargedToTheOneThatRanOverIt) {
  start(8, kOnePartition + "max_attempts = 1\n", "[types.\"side.hang\"]\ntask_timeout = \"2s\"\n");
  std::vector<nlohmann::json> tasks{{{"type", "side.hang"}, {"payload", "hang"}}};
  for (int i = 0; i < 4; ++i) {
    tasks.push_back(
        {{"type", "side.gate"}, {"payload", "t" + std::to_string(i) + " " + daemon_->gate()}});
  }
  daemon_->submit_all(tasks);  // in one block, or they may begin after that limit
  ASSERT_TRUE(eventually([&] { return daemon_->count("task_dead") == 1; })) << daemon_->log();
  EXPECT_EQ(daemon_->value("SELECT CONCAT(type, ' ', cause) FROM task_dead"), "side.hang timeout");
  EXPECT_EQ(daemon_->number("SELECT COUNT(*) FROM task WHERE flags & 1 OR attempt > 0"), 0U);
  ASSERT_TRUE(eventually([&] { return begun() == 9; })) << daemon_->log();
  daemon_->open_gate();
  ASSERT_TRUE(daemon_->drains()) << daemon_->log();
  EXPECT_EQ(daemon_->times_logged("task.crashed"), 1U) << daemon_->log();
}

// S16
TEST_F(Side, AnOrderedQueueInTheSamePoolStaysInOrder) {
  start(8, kOnePartition, "[queues.line]\nplacement = \"ordered\"\npartitions = 1\n");
  submit(8, "side.wait", "300", "side");
  std::vector<nlohmann::json> tasks;
  for (int i = 0; i < 10; ++i) {
    tasks.push_back({{"queue", "line"},
                     {"type", "side.wait"},
                     {"partition_key", "k"},
                     {"payload", "line" + std::to_string(i) + " 40"}});
  }
  daemon_->submit_all(tasks);
  ASSERT_TRUE(daemon_->drains()) << daemon_->log();
  EXPECT_EQ(overlap("line"), 1U);
  EXPECT_GT(overlap("side"), 1U);
  int next = 0;
  for (const Line& line : lines()) {
    if (!line.begins || !line.name.starts_with("line")) continue;
    EXPECT_EQ(line.name, "line" + std::to_string(next++));
  }
  EXPECT_EQ(next, 10);
}

// Each task leaves its partition on its own, and the worker continues with its idle threads.
TEST_F(Side, SeveralAreDetached) {
  start(4, kOnePartition + "detach_after = \"300ms\"\n");
  submit(3, "side.gate", daemon_->gate());
  ASSERT_TRUE(detached(*daemon_, 3)) << daemon_->log();
  submit(5, "side.wait", "20", "quick");
  ASSERT_TRUE(eventually([&] {
    return begun() == 8 && daemon_->count("task") == 0 && daemon_->count("task_running") == 3;
  })) << daemon_->log();
  EXPECT_EQ(daemon_->status()["workers"][0]["running"].size(), 3U);
  daemon_->open_gate();
  ASSERT_TRUE(daemon_->drains()) << daemon_->log();
  EXPECT_EQ(begun(), 8U);
  EXPECT_EQ(daemon_->count("task_attempt"), 0U);
}

TEST_F(Side, AWorkerThatIsKilledPutsTheDetachedBack) {
  start(4, kOnePartition + "detach_after = \"300ms\"\n");
  submit(3, "side.gate", daemon_->gate());
  ASSERT_TRUE(detached(*daemon_, 3)) << daemon_->log();
  ASSERT_EQ(support::send_signal(daemon_->busy_workers().at(0), SIGKILL), 0);
  ASSERT_TRUE(eventually([&] { return begun() == 4 && flagged() == 3; })) << daemon_->log();
  daemon_->open_gate();
  ASSERT_TRUE(daemon_->drains()) << daemon_->log();
  EXPECT_EQ(begun(), 6U);
  EXPECT_FALSE(daemon_->logged("task.crashed")) << daemon_->log();
}

TEST_F(Side, EachHasAVerdictAndATransactionOfItsOwn) {
  start(8, kOnePartition + "max_attempts = 2\n");
  daemon_->connect().execute("CREATE TABLE effect (id VARCHAR(32) PRIMARY KEY)");
  submit(10, "side.verdict", "effect", "effect");
  submit(5, "side.verdict", "retry", "retry");
  submit(5, "side.verdict", "fail", "fail");
  submit(5, "side.verdict", "throw", "throw");
  ASSERT_TRUE(daemon_->drains()) << daemon_->log();
  EXPECT_EQ(daemon_->count("effect"), 10U);
  EXPECT_EQ(daemon_->number("SELECT COUNT(*) FROM task_dead WHERE cause = 'retry'"), 5U);
  EXPECT_EQ(daemon_->number("SELECT COUNT(*) FROM task_dead WHERE cause = 'fail'"), 5U);
  EXPECT_EQ(daemon_->number("SELECT COUNT(*) FROM task_dead WHERE cause = 'exception'"), 5U);
  EXPECT_EQ(begun(), 35U);
}

TEST_F(Side, AStopReachesAllOfThem) {
  start(8, kOnePartition);
  submit(20, "side.wait", "600000");
  ASSERT_TRUE(eventually([&] { return begun() == 8; })) << daemon_->log();
  EXPECT_EQ(daemon_->stop(), (support::ExitStatus{0, 0})) << daemon_->log();
  EXPECT_EQ(begun(), 8U);
  EXPECT_EQ(daemon_->count("task"), 20U);
  EXPECT_EQ(daemon_->number("SELECT SUM(attempt) FROM task"), 0U);
  EXPECT_EQ(daemon_->leases(), 0U);
}

}  // namespace
}  // namespace allot::e2e::side_by_side_test
