// SPDX-License-Identifier: Apache-2.0
// Effects of a pool's keys on its workers: their replacement and their limits.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>

#include "e2e/daemon.h"
#include "plugins/side_output.h"

namespace allot::e2e::pool_test {
namespace {

using support::eventually;

// A daemon whose handler keeps memory, and records which worker ran it.
class Hoard : public testing::Test {
 protected:
  Daemon& start(unsigned workers, const std::string& pool_keys,
                const std::string& queue_keys = {}) {
    daemon_.emplace(DaemonOptions{.workers = workers,
                                  .queue_keys = queue_keys,
                                  .pool_keys = pool_keys,
                                  .more = "[plugins.hoard]\noutput = \"" + output_ + "\"\n",
                                  .plugins = ALLOT_HOARD_FOLDER});
    return *daemon_;
  }
  void submit(std::size_t count, const std::string& mib) {
    daemon_->submit_many("hoard.keep", std::vector<std::string>(count, mib));
  }
  // Number of tasks by pid of the worker.
  [[nodiscard]] std::map<std::string, std::size_t> tasks_by_worker() const {
    std::map<std::string, std::size_t> tasks;
    for (const std::string& pid : support::read_lines(output_)) ++tasks[pid];
    return tasks;
  }

  support::TempDir folder_;
  std::string output_ = folder_ / "hoard";
  std::optional<Daemon> daemon_;
};

std::size_t left_by(const Daemon& daemon, const std::string& limit) {
  return daemon.times_logged("reason=" + limit + " ");
}

// Nothing looks like a crash, and no task was charged.
void expect_in_order(const Daemon& daemon) {
  EXPECT_FALSE(daemon.logged("worker.throttled")) << daemon.log();
  EXPECT_FALSE(daemon.logged("worker.died")) << daemon.log();
  EXPECT_FALSE(daemon.logged("worker.settled")) << daemon.log();
  EXPECT_EQ(daemon.count("task_attempt"), 0U);
  EXPECT_EQ(daemon.count("task_dead"), 0U);
}

class Replace : public Hoard {};

TEST_F(Replace, AfterANumberOfTasks) {
  Daemon& daemon = start(2, "max_tasks = 3");
  submit(30, "0");
  ASSERT_TRUE(daemon.drains()) << daemon.log();
  const auto workers = tasks_by_worker();
  std::size_t all = 0;
  for (const auto& [pid, tasks] : workers) {
    EXPECT_LE(tasks, 3U) << pid;
    all += tasks;
  }
  EXPECT_EQ(all, 30U) << "each once";
  EXPECT_TRUE(eventually([&] { return left_by(daemon, "max_tasks") >= 9; })) << daemon.log();
  expect_in_order(daemon);
  EXPECT_EQ(daemon.stop(), (support::ExitStatus{0, 0}));
}

TEST_F(Replace, ACallOfSeveralTasksKeepsToTheNumber) {
  Daemon daemon({.workers = 1,
                 .queue_keys = "partitions = 1",
                 .pool_keys = "max_tasks = 7",
                 .more = "[plugins.batch]\noutput = \"" + (folder_ / "batch") + "\"\n",
                 .plugins = ALLOT_BATCH_FOLDER});
  daemon.submit_many("batch.fifty", std::vector<std::string>(20, "ok"));
  ASSERT_TRUE(daemon.drains()) << daemon.log();
  EXPECT_EQ(daemon.times_logged("worker.stopped done=7 "), 2U) << daemon.log();
  expect_in_order(daemon);
}

TEST_F(Replace, AfterSomeTimeAndNotInsideAHandler) {
  Daemon daemon({.workers = 1, .pool_keys = "max_age = \"1s\""});
  (void)daemon.submit("test.stay", "2500");
  ASSERT_TRUE(daemon.drains()) << daemon.log();
  EXPECT_TRUE(eventually([&] { return left_by(daemon, "max_age") >= 1; })) << daemon.log();
  EXPECT_TRUE(eventually([&] { return daemon.logged("worker.stopped done=1 "); }))
      << "the task has ended before\n"
      << daemon.log();
  EXPECT_TRUE(eventually([&] { return left_by(daemon, "max_age") >= 3; }))
      << "the next ones leave without having a task\n"
      << daemon.log();
  expect_in_order(daemon);
}

TEST_F(Replace, WhenItHasGrown) {
  Daemon& daemon = start(1, "max_memory = 64");
  submit(4, "64");
  ASSERT_TRUE(daemon.drains()) << daemon.log();
  EXPECT_EQ(tasks_by_worker().size(), 4U) << "each task made its worker too large";
  EXPECT_TRUE(eventually([&] { return left_by(daemon, "max_memory") == 4; })) << daemon.log();
  expect_in_order(daemon);
}

// With max_memory below the memory of an empty worker.
TEST_F(Replace, AWorkerRunsATaskBeforeItIsTooLarge) {
  Daemon& daemon = start(1, "max_memory = 1");
  submit(3, "0");
  ASSERT_TRUE(daemon.drains()) << daemon.log();
  ASSERT_TRUE(eventually([&] { return daemon.times_logged("worker.left") >= 1; }));
  EXPECT_FALSE(daemon.logged("worker.stopped done=0 ")) << daemon.log();
  expect_in_order(daemon);
}

// Concurrent tasks, which have left their partition: their worker waits for all of them.
TEST_F(Replace, WaitsForTheOtherRunningTasks) {
  const std::string output = folder_ / "side";
  Daemon daemon({.workers = 1,
                 .queue_keys = "partitions = 4\ndetach_after = \"100ms\"",
                 .pool_keys = "concurrency = 8\nmax_tasks = 5",
                 .more = "[plugins.side]\noutput = \"" + output + "\"\n",
                 .plugins = ALLOT_SIDE_FOLDER});
  daemon.submit_many("side.wait", std::vector<std::string>(20, "t 700"));
  ASSERT_TRUE(daemon.drains()) << daemon.log();
  const auto lines = side::read_lines(output);
  EXPECT_EQ(side::begun(lines), 20U) << "each once";
  EXPECT_TRUE(daemon.logged("task.detached")) << daemon.log();
  EXPECT_TRUE(eventually([&] {
    return daemon.times_logged("worker.stopped done=5 reason=max_tasks ") == 4;
  })) << daemon.log();
  expect_in_order(daemon);
}

// The niceness of each thread of a process, the main one first.
std::vector<int> niceness(pid_t pid) {
  const std::string tasks = "/proc/" + std::to_string(pid) + "/task/";
  std::vector<int> all{::getpriority(PRIO_PROCESS, static_cast<id_t>(pid))};
  for (const auto& entry : std::filesystem::directory_iterator(tasks)) {
    const int thread = std::stoi(entry.path().filename().string());
    if (thread != pid) all.push_back(::getpriority(PRIO_PROCESS, static_cast<id_t>(thread)));
  }
  return all;
}

class PoolLimit : public Hoard {
 protected:
  pid_t ready_worker() {
    wait_ready(*daemon_, 1);
    return daemon_->workers().at(0);
  }
};

TEST_F(PoolLimit, AWorkerIsAsNiceAsItsPool) {
  Daemon& daemon = start(1, "nice = 5");
  const int own = ::getpriority(PRIO_PROCESS, static_cast<id_t>(daemon.process().pid()));
  const std::vector<int> threads = niceness(ready_worker());
  EXPECT_EQ(threads.at(0), own + 5) << daemon.log();
  EXPECT_EQ(std::count(threads.begin(), threads.end(), own), 1) << "the thread that beats";
}

TEST_F(PoolLimit, WithoutTheKeyItIsAsNiceAsTheDaemon) {
  Daemon& daemon = start(1, "");
  const int own = ::getpriority(PRIO_PROCESS, static_cast<id_t>(daemon.process().pid()));
  const std::vector<int> threads = niceness(ready_worker());
  EXPECT_EQ(std::count(threads.begin(), threads.end(), own), std::ssize(threads));
}

// Only the task that allocated too much is charged.
TEST_F(PoolLimit, AnAllocationBeyondTheLimitFailsItsTask) {
  if (!std::string(ALLOT_SANITIZERS).empty())
    GTEST_SKIP() << "a sanitizer's own memory is data, too";
  Daemon& daemon = start(1, "memory_limit = 256", "max_attempts = 1");
  const pid_t worker = ready_worker();
  submit(1, "64");
  submit(1, "1024");
  ASSERT_TRUE(eventually([&] { return daemon.count("task_dead") == 1; })) << daemon.log();
  submit(1, "1");
  ASSERT_TRUE(daemon.drains()) << daemon.log();
  EXPECT_NE(daemon.value("SELECT error FROM task_dead").find("bad_alloc"), std::string::npos);
  const auto workers = tasks_by_worker();
  EXPECT_EQ(workers.size(), 1U);
  EXPECT_EQ(workers.begin()->first, std::to_string(worker)) << "it lives";
  EXPECT_EQ(workers.begin()->second, 2U);
  EXPECT_FALSE(daemon.logged("worker.died")) << daemon.log();
}

// Its own threads and connections fit into the smallest permitted limit.
TEST_F(PoolLimit, AWorkerFitsIntoTheLeastThatIsAllowed) {
  if (!std::string(ALLOT_SANITIZERS).empty())
    GTEST_SKIP() << "a sanitizer's own memory is data, too";
  Daemon& daemon = start(1, "memory_limit = 80\nconcurrency = 2");
  submit(20, "0");
  ASSERT_TRUE(daemon.drains()) << daemon.log();
  EXPECT_FALSE(daemon.logged("worker.died")) << daemon.log();
  EXPECT_EQ(daemon.count("task_attempt"), 0U);
}

}  // namespace
}  // namespace allot::e2e::pool_test
