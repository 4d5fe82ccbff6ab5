// SPDX-License-Identifier: Apache-2.0
// Several tasks in one call of their handler (A13), with the promises of single tasks: none is
// lost, and none is charged for another.
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "e2e/daemon.h"

namespace allot::e2e::batch_test {
namespace {

using std::chrono::milliseconds;
using support::eventually;

// A handler's own record of a call.
struct Line {
  bool many = false;
  pid_t pid = 0;
  std::vector<std::pair<std::string, unsigned>> tasks;  // name and attempt
};

class BatchE2e : public testing::Test {
 protected:
  // The test starts the daemon, once its tasks wait.
  void make(const std::string& queue_keys = {}, const std::string& more = {}, unsigned workers = 1,
            const std::string& pool_keys = {}) {
    daemon_.emplace(DaemonOptions{.workers = workers,
                                  .queue_keys = "partitions = 1\n" + queue_keys,
                                  .pool_keys = pool_keys,
                                  .more = "[plugins.batch]\noutput = \"" + output_ + "\"\n" + more,
                                  .plugins = ALLOT_BATCH_FOLDER,
                                  .start = false});
  }
  [[nodiscard]] std::vector<Line> lines() const {
    std::vector<Line> all;
    std::ifstream file(output_);
    for (std::string text; std::getline(file, text);) {
      std::istringstream words(text);
      Line line;
      std::string word;
      words >> word >> line.pid;
      line.many = word == "many";
      while (words >> word) {
        const auto colon = word.find(':');
        line.tasks.emplace_back(word.substr(0, colon),
                                static_cast<unsigned>(std::stoul(word.substr(colon + 1))));
      }
      all.push_back(line);
    }
    return all;
  }
  // Number of starts of each.
  [[nodiscard]] std::map<std::string, unsigned> begun() const {
    std::map<std::string, unsigned> times;
    for (const Line& line : lines()) {
      for (const auto& [name, attempt] : line.tasks) ++times[name];
    }
    return times;
  }
  void submit(int count, const std::string& type, const std::string& words = {},
              const std::string& name = "t") {
    std::vector<std::string> payloads;
    for (int i = 0; i < count; ++i) payloads.push_back(name + std::to_string(i) + " " + words);
    daemon_->submit_many(type, payloads);
  }
  [[nodiscard]] std::string gate() const { return "gate " + daemon_->gate(); }

  support::TempDir folder_;
  std::string output_ = folder_ / "batch";
  std::optional<Daemon> daemon_;
};

TEST_F(BatchE2e, AThousandArriveInCallsOfSeveralAndEachOnce) {
  make();
  submit(1'000, "batch.fifty");
  daemon_->start();
  ASSERT_TRUE(daemon_->drains()) << daemon_->log();
  const auto times = begun();
  EXPECT_EQ(times.size(), 1'000U);
  for (const auto& [name, count] : times) EXPECT_EQ(count, 1U) << name;
  EXPECT_LE(lines().size(), 25U) << "calls";
  EXPECT_EQ(daemon_->status()["workers"][0]["done"], 1'000);
  EXPECT_EQ(daemon_->count("task_attempt"), 0U);
  EXPECT_EQ(daemon_->count("task_dead"), 0U);
}

// B14: each thread has a quarter of the worker's places.
TEST_F(BatchE2e, InAPoolWithConcurrencyEachThreadCallsWithSeveral) {
  make({}, {}, 1, "concurrency = 4");
  submit(40, "batch.concurrent");
  submit(40, "batch.fifty", "", "u");
  daemon_->start();
  ASSERT_TRUE(daemon_->drains()) << daemon_->log();
  EXPECT_EQ(begun().size(), 80U);
  std::size_t most = 0;
  for (const Line& line : lines()) most = std::max(most, line.tasks.size());
  EXPECT_GT(most, 1U);
  EXPECT_LE(most, 16U);
}

// The task at fault is identified when each runs alone.
TEST_F(BatchE2e, OneThatCrashesTheCallDiesOfItselfAndNoNeighbourIsCharged) {
  make("max_attempts = 3\n");
  submit(3, "batch.fifty", "ok", "before");
  const auto poison = daemon_->submit("batch.fifty", "poison segv");
  submit(6, "batch.fifty", "ok", "behind");
  daemon_->start();
  ASSERT_TRUE(daemon_->drains()) << daemon_->log();
  EXPECT_EQ(daemon_->count("task_dead"), 1U);
  EXPECT_EQ(daemon_->task(poison)["cause"], "signal");
  EXPECT_EQ(daemon_->task(poison)["attempts"].size(), 3U);
  const auto all = lines();
  ASSERT_FALSE(all.empty());
  EXPECT_TRUE(all[0].many);
  EXPECT_EQ(all[0].tasks.size(), 10U);
  for (std::size_t i = 1; i < all.size(); ++i) {
    EXPECT_EQ(all[i].tasks.size(), 1U) << "alone, by line " << i;
    if (all[i].tasks[0].first == "poison") continue;
    EXPECT_EQ(all[i].tasks[0].second, 1U) << all[i].tasks[0].first;
  }
  for (const auto& [name, count] : begun()) EXPECT_EQ(count, name == "poison" ? 4U : 2U) << name;
  EXPECT_TRUE(eventually([&] { return daemon_->times_logged("task.crashed") == 3; }))
      << daemon_->log();
  EXPECT_EQ(daemon_->times_logged("task.crashed task=" + poison), 3U) << daemon_->log();
}

// All of them exceed their time because of one of them.
TEST_F(BatchE2e, ATimeLimitAppliesToTheCallAndIsChargedToTheTaskThatHangs) {
  make("max_attempts = 1\n", "[types.\"batch.fifty\"]\ntask_timeout = \"2s\"\n");
  submit(4, "batch.fifty", "ok");
  const auto hanging = daemon_->submit("batch.fifty", "hangs hang");
  submit(4, "batch.fifty", "ok", "u");
  daemon_->start();
  ASSERT_TRUE(daemon_->drains()) << daemon_->log();
  EXPECT_EQ(daemon_->count("task_dead"), 1U);
  EXPECT_EQ(daemon_->task(hanging)["cause"], "timeout");
  for (const auto& [name, count] : begun()) EXPECT_EQ(count, 2U) << name;
  EXPECT_TRUE(eventually([&] { return daemon_->times_logged("task.crashed") == 1; }))
      << daemon_->log();
  EXPECT_EQ(daemon_->times_logged("suspected=true"), 9U) << daemon_->log();
}

// B3
TEST_F(BatchE2e, AHeartbeatOfOneCountsForAll) {
  make();
  std::ofstream(daemon_->gate() + ".beat").close();
  submit(5, "batch.steady", gate());
  daemon_->start();
  ASSERT_TRUE(eventually([&] { return lines().size() == 1; })) << daemon_->log();
  EXPECT_FALSE(eventually([&] { return lines().size() > 1; }, milliseconds(6'000)))
      << daemon_->log();
  daemon_->open_gate();
  ASSERT_TRUE(daemon_->drains()) << daemon_->log();
  EXPECT_EQ(lines().size(), 1U);
  EXPECT_FALSE(daemon_->logged("worker.kill")) << daemon_->log();
}

// B11
TEST_F(BatchE2e, OneOfACallIsCancelled) {
  make("detach_after = \"300ms\"\n");
  submit(2, "batch.fifty", gate());
  const auto unwanted = daemon_->submit("batch.fifty", "unwanted " + gate());
  submit(2, "batch.fifty", gate(), "u");
  daemon_->start();
  ASSERT_TRUE(eventually([&] {
    return daemon_->number("SELECT COUNT(*) FROM task WHERE flags & 64 <> 0") == 5;
  })) << daemon_->log();
  EXPECT_EQ(daemon_->status()["workers"][0]["running"].size(), 5U);
  EXPECT_EQ(daemon_->count("task_running"), 0U) << "a call of several is not detached";
  EXPECT_EQ(daemon_->allot({"task", "cancel", unwanted, "--reason", "no more"}).status.code, 0);
  ASSERT_TRUE(daemon_->drains()) << daemon_->log();
  EXPECT_EQ(daemon_->count("task_dead"), 1U);
  EXPECT_EQ(daemon_->task(unwanted)["cause"], "cancelled");
  EXPECT_EQ(daemon_->count("task_cancel"), 0U);
  EXPECT_EQ(lines().size(), 1U) << "the others succeeded in it";
  EXPECT_EQ(daemon_->number("SELECT COUNT(*) FROM task_attempt WHERE cause <> 'cancelled'"), 0U);
}

// It does not run by itself after a failed call.
TEST_F(BatchE2e, ACancelledOneOfAFailedCallIsDead) {
  make();
  const auto unwanted = daemon_->submit("batch.fifty", "unwanted " + gate());
  submit(2, "batch.fifty", "refuse");
  daemon_->start();
  ASSERT_TRUE(eventually([&] {
    return daemon_->number("SELECT COUNT(*) FROM task WHERE flags & 64 <> 0") == 3;
  })) << daemon_->log();
  EXPECT_EQ(daemon_->allot({"task", "cancel", unwanted, "--reason", "no more"}).status.code, 0);
  ASSERT_TRUE(daemon_->drains()) << daemon_->log();
  EXPECT_EQ(daemon_->task(unwanted)["cause"], "cancelled");
  EXPECT_TRUE(daemon_->logged("task.call_failed")) << daemon_->log();
  const auto times = begun();
  EXPECT_EQ(times.at("unwanted"), 1U);
  EXPECT_EQ(times.at("t0"), 2U);
  EXPECT_EQ(times.at("t1"), 2U);
  EXPECT_EQ(daemon_->count("task_cancel"), 0U);
}

TEST_F(BatchE2e, ADeafCallIsKilledForTheCancelledOneOnly) {
  make("cancel_grace = \"200ms\"\nmax_attempts = 1\n");
  submit(2, "batch.fifty", "ok");
  const auto unwanted = daemon_->submit("batch.fifty", "unwanted hang");
  submit(2, "batch.fifty", "ok", "u");
  daemon_->start();
  ASSERT_TRUE(eventually([&] {
    return daemon_->number("SELECT COUNT(*) FROM task WHERE flags & 64 <> 0") == 5;
  })) << daemon_->log();
  EXPECT_EQ(daemon_->allot({"task", "cancel", unwanted, "--reason", "no more"}).status.code, 0);
  ASSERT_TRUE(daemon_->drains()) << daemon_->log();
  EXPECT_EQ(daemon_->count("task_dead"), 1U);
  EXPECT_EQ(daemon_->task(unwanted)["cause"], "cancelled");
  EXPECT_EQ(daemon_->times_logged("suspected=true"), 0U) << daemon_->log();
  const auto all = lines();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[1].tasks.size(), 4U) << "in one call again";
}

TEST_F(BatchE2e, AStopReachesAllOfThem) {
  make();
  submit(20, "batch.fifty", gate());
  daemon_->start();
  ASSERT_TRUE(eventually([&] { return lines().size() == 1; })) << daemon_->log();
  EXPECT_EQ(daemon_->stop(), (support::ExitStatus{0, 0})) << daemon_->log();
  EXPECT_EQ(begun().size(), 20U);
  EXPECT_EQ(daemon_->count("task"), 20U);
  EXPECT_EQ(daemon_->number("SELECT SUM(attempt) FROM task"), 0U);
  EXPECT_EQ(daemon_->leases(), 0U);
}

TEST_F(BatchE2e, NoTaskIsLostWhileWorkersAreKilled) {
  make("max_attempts = 20\n", "", 2);
  constexpr int kBatch = 1'500;
  std::size_t tasks = kBatch;
  submit(kBatch, "batch.fifty", "nap");
  daemon_->start();
  unsigned kills = 0;
  std::size_t seen = 0;
  ASSERT_TRUE(eventually(
      [&] {
        const std::size_t now = lines().size();
        const auto busy = daemon_->busy_workers();
        if (kills < 10 && now > seen && !busy.empty()) {
          seen = now;
          if (support::send_signal(busy[0], SIGKILL) == 0) ++kills;
        }
        if (!daemon_->drained()) return false;
        if (kills > 4) return true;
        // They were done before enough had been killed.
        submit(kBatch, "batch.fifty", "nap", "more" + std::to_string(tasks) + "-");
        tasks += kBatch;
        return false;
      },
      milliseconds(120'000)))
      << daemon_->log();
  EXPECT_EQ(daemon_->count("task_dead"), 0U);
  EXPECT_EQ(begun().size(), tasks);
  EXPECT_EQ(daemon_->leases(), 0U);
}

}  // namespace
}  // namespace allot::e2e::batch_test
