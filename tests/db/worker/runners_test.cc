// SPDX-License-Identifier: Apache-2.0
// Workers that run several tasks at a time (B14), each in its own thread, with a real database:
// shared state must be thread-safe, which ThreadSanitizer checks.
#include <csignal>
#include <future>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "db/worker/loop_fixture.h"
#include "plugins/side_output.h"
#include "support/eventually.h"
#include "support/process.h"
#include "support/slot_runs.h"
#include "support/text.h"
#include "worker/job/executor.h"

namespace allot::worker {
namespace {

using support::eventually;

constexpr std::size_t kAtATime = 8;

class RunnersTest : public OutputFile, public LoopTest {
 protected:
  RunnersTest() : LoopTest(ALLOT_SIDE_FOLDER, {{"side", {{"output", output_}}}}) {
    config_.max_attempts = 2;
    config_.retry_delay = std::chrono::milliseconds(1);
  }

  std::unique_ptr<LoopWorker> crowded_worker() { return worker(queue_, kAtATime); }
  // With the names t1, t2 ...; `word` is SQL, in which seq is the number of the task.
  void put_side(std::uint32_t partition_no, std::uint64_t count, const std::string& type,
                const std::string& word) {
    db_.execute("INSERT INTO task (queue_id, partition_no, prio, run_key, type, payload) SELECT " +
                std::to_string(queue_.queue_id) + ", " + std::to_string(partition_no) +
                ", 1, seq, '" + type + "', CONCAT('t" + std::to_string(partition_no) +
                "x', seq, ' ', " + word + ") FROM " + support::numbers(1, count));
  }
  bool all_ended() {
    return value("SELECT (SELECT COUNT(*) FROM task) + COUNT(*) FROM task_running") == "0";
  }
  bool work_until_all_ended(LoopWorker& worker) {
    return eventually(
        [&] {
          if (auto block = worker.find()) worker.work(std::move(*block));
          return all_ended();
        },
        std::chrono::seconds(60));
  }
  [[nodiscard]] std::size_t begun() const { return side::begun(side::read_lines(output_)); }
  [[nodiscard]] std::set<std::string> names_of_the_ended() const {
    std::set<std::string> names;
    for (const side::Line& line : side::read_lines(output_)) {
      if (!line.begins) names.insert(line.name);
    }
    return names;
  }
  static void expect_idle(const ipc::Slot& slot) {
    EXPECT_EQ(support::runs_in(slot), 0U);
    EXPECT_EQ(slot.finished_count, 0U);
  }
};

// They end while the block loop collects, acknowledges and hands out.
TEST_F(RunnersTest, EachEndIsCollectedOnce) {
  for (const std::uint32_t number : {0U, 1U, 2U, 3U}) {
    put_side(number, 75, "side.wait", "seq % 3");
  }
  const auto one = crowded_worker();
  ASSERT_TRUE(work_until_all_ended(*one));
  EXPECT_EQ(begun(), 300U);
  EXPECT_EQ(names_of_the_ended().size(), 300U);
  EXPECT_EQ(one->slot().tasks_done, 300U);
  EXPECT_EQ(one->slot().leases_lost, 0U);
  expect_idle(one->slot());
}

TEST_F(RunnersTest, EachVerdictIsWrittenWithTheOthers) {
  db_.execute("CREATE TABLE effect (id VARCHAR(32) PRIMARY KEY) ENGINE=InnoDB");
  put_side(0, 40, "side.verdict", "ELT(1 + seq % 4, 'effect', 'retry', 'fail', 'throw')");
  const auto one = crowded_worker();
  ASSERT_TRUE(work_until_all_ended(*one));
  EXPECT_EQ(value("SELECT COUNT(*) FROM effect"), "10");
  EXPECT_EQ(value("SELECT GROUP_CONCAT(cause, ' ', n ORDER BY cause) FROM"
                  " (SELECT cause, COUNT(*) AS n FROM task_dead GROUP BY cause) AS dead"),
            "exception 10,fail 10,retry 10");
  EXPECT_GT(side::overlap(side::read_lines(output_)), 1U);
  expect_idle(one->slot());
}

// A suspect runs alone: a task that ended right before it must be collected first.
TEST_F(RunnersTest, AnEndRightBeforeACarefulTaskIsCollected) {
  for (const std::uint32_t number : {0U, 1U, 2U, 3U}) {
    put_side(number, 250, "side.wait", "seq % 2");
  }
  db_.execute("UPDATE task SET flags = flags | 1 WHERE run_key % 5 = 0");
  const auto one = crowded_worker();
  ASSERT_TRUE(work_until_all_ended(*one));
  EXPECT_EQ(begun(), 1000U) << "each once";
  EXPECT_EQ(one->slot().tasks_done, 1000U);
  expect_idle(one->slot());
}

// S7: exactly the tasks of the lost holder's block run alone, however many leases that takes.
TEST_F(RunnersTest, AfterALostHostTheBlockOfItsHolderRunsAloneAndNoMore) {
  config_.block_seconds = std::chrono::milliseconds(100);
  put_side(0, 12, "side.wait", "200");
  const queue::LeaseStore lost(queue::make_holder("lost", "/"), kTtl);
  ASSERT_TRUE(lost.lease(db_, partition(0), {.block_size = 3}));
  const auto one = crowded_worker();
  ASSERT_TRUE(work_until_all_ended(*one));
  EXPECT_EQ(one->slot().takeovers, 1U);
  EXPECT_EQ(begun(), 12U) << "each once";
  EXPECT_EQ(side::alone_at_first(side::read_lines(output_)), 3U);
}

// A detached task may come back into the partition at once. In the same lease it would look as if
// it had never left.
TEST_F(RunnersTest, ALeaseFetchesNothingMoreOnceATaskLeftIt) {
  config_.detach_after = std::chrono::milliseconds(50);
  config_.block_size = 2;
  put_side(0, 6, "side.wait", "IF(seq = 1, 4000, 0)");
  const auto one = worker(queue_, 2);
  auto block = one->find();
  ASSERT_TRUE(block && block->tasks.size() == 2);
  one->work(std::move(*block));
  EXPECT_EQ(value("SELECT GROUP_CONCAT(run_key ORDER BY run_key) FROM task"), "3,4,5,6");
  EXPECT_EQ(value("SELECT state FROM q_lock_table WHERE partition_no = 0"), "FREE");
  ASSERT_TRUE(work_until_all_ended(*one));
  EXPECT_EQ(begun(), 6U);
}

// The keeper's thread takes them out of their partition while they end.
TEST_F(RunnersTest, DetachesMeetEnds) {
  config_.detach_after = std::chrono::milliseconds(5);
  for (const std::uint32_t number : {0U, 1U}) put_side(number, 60, "side.wait", "seq % 15");
  const auto one = crowded_worker();
  ASSERT_TRUE(work_until_all_ended(*one));
  EXPECT_EQ(begun(), 120U) << "each once";
  EXPECT_EQ(one->slot().leases_lost, 0U);
}

// S16, S5: however many threads there are, and however long it runs.
TEST_F(RunnersTest, OrderedAndLimitedQueuesRunOneAtATimeAndDetachNothing) {
  using queue::Placement;
  config_.detach_after = std::chrono::milliseconds(1);
  for (const auto placement : {Placement::kOrdered, Placement::kLimited}) {
    const std::string name(queue::name_of(placement));
    queue_ = queue::ensure_queue(db_, name, {1, placement, 1});
    const std::size_t before = begun();
    put_side(0, 4, "side.gate", "'" + (output_folder_ / name) + "'");
    const auto one = crowded_worker();
    std::optional<queue::Block> block;
    ASSERT_TRUE(eventually([&] { return (block = one->find()).has_value(); })) << name;
    ASSERT_EQ(block->tasks.size(), 4U) << name;
    auto worked = std::async(std::launch::async, [&] { one->work(std::move(*block)); });
    EXPECT_TRUE(eventually([&] { return begun() == before + 1; })) << name;
    EXPECT_FALSE(eventually(
        [&] { return begun() > before + 1 || value("SELECT COUNT(*) FROM task_running") != "0"; },
        std::chrono::milliseconds(500)))
        << name;
    static_cast<void>(output_folder_.write(name, ""));
    worked.get();
    EXPECT_EQ(one->slot().tasks_done, 4U) << name;
  }
  EXPECT_EQ(side::overlap(side::read_lines(output_)), 1U);
}

TEST_F(RunnersTest, ALeaseThatIsLostUnderAllOfThem) {
  const std::string gate = output_folder_ / "gate";
  put_side(0, 20, "side.gate", "'" + gate + "'");
  {
    const auto one = crowded_worker();
    auto block = one->find();
    ASSERT_TRUE(block && block->tasks.size() == 20);
    auto worked = std::async(std::launch::async, [&] { one->work(std::move(*block)); });
    ASSERT_TRUE(eventually([&] { return begun() == kAtATime; }));
    db_.execute("UPDATE q_lock_table SET epoch = epoch + 1, lock_by = 7 WHERE partition_no = 0");
    ASSERT_TRUE(eventually([&] { return one->slot().leases_lost == 1; }));
    static_cast<void>(output_folder_.write("gate", ""));
    worked.get();
    EXPECT_EQ(begun(), kAtATime) << "none begins without a lease";
    EXPECT_EQ(one->slot().leases_lost, 1U);
    EXPECT_EQ(support::runs_in(one->slot()), 0U);
  }
  db_.execute("UPDATE q_lock_table SET state = 'FREE', lock_by = NULL WHERE partition_no = 0");
  const auto next = crowded_worker();
  ASSERT_TRUE(work_until_all_ended(*next));
  EXPECT_EQ(names_of_the_ended().size(), 20U);
  expect_idle(next->slot());
}

// Workers for which every task is short: more are handed out than there are threads.
class QuickRunnersTest : public RunnersTest {
 protected:
  QuickRunnersTest() { config_.block_seconds = std::chrono::minutes(10); }

  std::unique_ptr<LoopWorker> quick_worker() { return worker(queue_, kAtATime, 600 * kSecond); }
  // All its threads wait for the gate, and further tasks wait for a thread.
  std::future<void> work_at_the_gate(LoopWorker& worker, std::uint64_t behind) {
    put_side(0, kAtATime, "side.gate", "'" + gate_ + "'");
    db_.execute("INSERT INTO task (queue_id, partition_no, prio, run_key, type, payload) SELECT " +
                std::to_string(queue_.queue_id) +
                ", 0, 1, 1000 + seq, 'side.wait', CONCAT('b', seq, ' 0') FROM " +
                support::numbers(1, behind));
    auto block = worker.find();
    EXPECT_TRUE(block && block->tasks.size() == kAtATime + behind);
    auto worked = std::async(std::launch::async,
                             [&worker, found = std::move(*block)] { worker.work(found); });
    EXPECT_TRUE(eventually([&] { return begun() == kAtATime; }));
    return worked;
  }
  void open() { static_cast<void>(output_folder_.write("gate", "")); }

  std::string gate_ = output_folder_ / "gate";
};

// One of them runs for the whole lease, so every fetch sees it and the running ones.
TEST_F(QuickRunnersTest, TheNextBlockIsFetchedWhileTheLastTasksRun) {
  config_.block_size = 40;
  put_side(0, 400, "side.wait", "0");
  db_.execute("UPDATE task SET type = 'side.gate', payload = 'first " + gate_ +
              "' WHERE run_key = 1");
  const auto one = quick_worker();
  auto block = one->find();
  ASSERT_TRUE(block);
  auto worked = std::async(std::launch::async, [&] { one->work(std::move(*block)); });
  EXPECT_TRUE(eventually([&] { return begun() == 400; }));
  open();
  worked.get();
  EXPECT_EQ(begun(), 400U) << "each once";
  EXPECT_EQ(names_of_the_ended().size(), 400U);
  EXPECT_EQ(one->slot().tasks_done, 400U);
  EXPECT_EQ(one->slot().leases_taken, 1U) << "and in one lease";
  EXPECT_TRUE(all_ended());
  expect_idle(one->slot());
}

// The block loop's thread got no processor time. It would find all of them at the head of the
// partition, repeatedly, until the first one leaves it.
TEST_F(QuickRunnersTest, TheNextBlockIsFetchedAlsoIfTheLastOneHasEnded) {
  config_.block_size = 40;
  put_side(0, 80, "side.gate", "'" + output_folder_ / "others" + "'");
  db_.execute("UPDATE task SET payload = 'first " + gate_ + "' WHERE run_key = 1");
  const auto one = quick_worker();
  one->all_started([&](const Executor& executor) {
    static_cast<void>(output_folder_.write("others", ""));
    EXPECT_TRUE(eventually([&] { return executor.in_partition() == 1; }));
  });
  auto block = one->find();
  ASSERT_TRUE(block);
  auto worked = std::async(std::launch::async, [&] { one->work(std::move(*block)); });
  EXPECT_TRUE(eventually([&] { return begun() == 80; }));
  open();
  worked.get();
  EXPECT_EQ(begun(), 80U) << "each once";
  EXPECT_EQ(one->slot().leases_taken, 1U);
  EXPECT_TRUE(all_ended());
  expect_idle(one->slot());
}

TEST_F(QuickRunnersTest, WaitingTaskStartsOnlyWhileTheLeaseAllows) {
  config_.block_seconds = std::chrono::seconds(3);
  const auto one = quick_worker();
  auto worked = work_at_the_gate(*one, 20);
  const auto until = std::chrono::steady_clock::now() + config_.block_seconds;
  EXPECT_TRUE(eventually([&] { return std::chrono::steady_clock::now() > until; }));
  open();
  worked.get();
  EXPECT_EQ(begun(), kAtATime);
  EXPECT_EQ(value("SELECT CONCAT(COUNT(*), ' ', SUM(attempt)) FROM task"), "20 0");
  EXPECT_EQ(value("SELECT state FROM q_lock_table WHERE partition_no = 0"), "FREE");
  ASSERT_TRUE(work_until_all_ended(*one));
  EXPECT_EQ(begun(), kAtATime + 20) << "each once";
  expect_idle(one->slot());
}

// All threads have tasks that have left the partition: others may take the waiting ones.
TEST_F(QuickRunnersTest, TasksWaitingBehindDetachedOnesAreReturned) {
  config_.detach_after = std::chrono::milliseconds(50);
  const auto one = quick_worker();
  auto worked = work_at_the_gate(*one, 20);
  worked.get();
  EXPECT_EQ(begun(), kAtATime);
  EXPECT_EQ(value("SELECT COUNT(*) FROM task"), "20");
  const auto other = crowded_worker();
  ASSERT_TRUE(eventually([&] {
    if (auto block = other->find()) other->work(std::move(*block));
    return value("SELECT COUNT(*) FROM task") == "0";
  }));
  EXPECT_EQ(begun(), kAtATime + 20) << "each once";
  open();
  ASSERT_TRUE(work_until_all_ended(*one));
}

TEST_F(QuickRunnersTest, WithoutALeaseNothingThatWaitsStarts) {
  const auto one = quick_worker();
  auto worked = work_at_the_gate(*one, 20);
  db_.execute("UPDATE q_lock_table SET epoch = epoch + 1, lock_by = 7 WHERE partition_no = 0");
  ASSERT_TRUE(eventually([&] { return one->slot().leases_lost == 1; }));
  open();
  worked.get();
  EXPECT_EQ(begun(), kAtATime);
  EXPECT_EQ(support::runs_in(one->slot()), 0U);
}

// The real program, with its pulse, its signals and its log: started by hand, it is a worker by
// itself.
class RunnersProgramTest : public RunnersTest {
 protected:
  support::Process& start() {
    const std::string file = output_folder_.write(
        "allot.toml",
        "[database]\nsocket = \"" + options().socket + "\"\nuser = \"root\"\nname = \"" + name_ +
            "\"\n[daemon]\nruntime_dir = \"" + output_folder_.path() + "\"\n[queues.q]\n" +
            "[pools.default]\nconcurrency = " + std::to_string(kAtATime) +
            "\n[plugins]\nfolder = \"" ALLOT_SIDE_FOLDER "\"\n[plugins.side]\noutput = \"" +
            output_ + "\"\n[logging]\nlevel = \"debug\"\nfile = \"" + log_ + "\"\n");
    return program_.emplace(std::vector<std::string>{ALLOT_WORKER, "--run", "--config", file});
  }
  [[nodiscard]] std::size_t times_logged(const std::string& event) const {
    return support::times_in(support::read_file(log_), event);
  }

  std::string log_ = output_folder_ / "log";
  std::optional<support::Process> program_;
};

TEST_F(RunnersProgramTest, AStopReachesAllThatRun) {
  put_side(0, 20, "side.wait", "600000");
  auto& program = start();
  ASSERT_TRUE(eventually([&] { return begun() == kAtATime; })) << program.err();
  program.signal(SIGTERM);
  EXPECT_EQ(program.wait(), (support::ExitStatus{0, 0})) << program.err();
  EXPECT_EQ(begun(), kAtATime);
  EXPECT_EQ(value("SELECT CONCAT(COUNT(*), ' ', SUM(attempt)) FROM task"), "20 0");
  EXPECT_EQ(value("SELECT COUNT(*) FROM q_lock_table WHERE state <> 'FREE'"), "0");
}

// A running one ends by the stop: its thread takes no waiting task.
TEST_F(RunnersProgramTest, TaskWaitingForAThreadDoesNotStartAfterAStop) {
  const std::string gate = output_folder_ / "gate";
  put_side(0, 300, "side.wait", "0");
  db_.execute("UPDATE task SET payload = 'last 600000' WHERE run_key = 208");
  db_.execute("UPDATE task SET type = 'side.gate', payload = CONCAT('g', run_key, ' " + gate +
              "') WHERE run_key BETWEEN 201 AND 207");
  auto& program = start();
  ASSERT_TRUE(eventually([&] { return begun() == 208; }))
      << begun() << program.err() << support::read_file(log_);
  program.signal(SIGTERM);
  EXPECT_TRUE(eventually([&] { return names_of_the_ended().contains("last"); }));
  static_cast<void>(output_folder_.write("gate", ""));
  EXPECT_EQ(program.wait(), (support::ExitStatus{0, 0})) << program.err();
  EXPECT_EQ(begun(), 208U);
  EXPECT_EQ(value("SELECT CONCAT(COUNT(*), ' ', SUM(attempt)) FROM task"), "93 0");
}

// The pulse opens it while the others write to it.
TEST_F(RunnersProgramTest, TheLogIsOpenedAgainWhileTasksRun) {
  put_side(0, 400, "side.wait", "5 + seq % 5");
  auto& program = start();
  std::size_t asked = 0;
  while (asked < 5) {
    ASSERT_TRUE(eventually([&] { return begun() > 50 * asked; })) << program.err();
    program.signal(SIGUSR1);
    ++asked;
    ASSERT_TRUE(eventually([&] { return times_logged("log.reopened") == asked; }))
        << program.err() << support::read_file(log_);
  }
  ASSERT_TRUE(eventually([&] { return all_ended(); })) << program.err();
  program.signal(SIGTERM);
  EXPECT_EQ(program.wait(), (support::ExitStatus{0, 0})) << program.err();
  EXPECT_EQ(begun(), 400U);
}

}  // namespace
}  // namespace allot::worker
