// SPDX-License-Identifier: Apache-2.0
// Several tasks in one call of their handler, run by the block loop with a real database.
// Rule: S63.
#include <fstream>
#include <future>
#include <set>
#include <sstream>

#include "db/worker/loop_fixture.h"
#include "db/worker/run_fixture.h"
#include "peer/drain_budget.h"
#include "queue/model/compression.h"
#include "support/eventually.h"
#include "support/slot_runs.h"
#include "support/temp_dir.h"
#include "support/text.h"

namespace allot::worker {
namespace {

using Result = TaskEnd::Result;

class BatchLoopTest : public OutputFile, public LoopTest {
 protected:
  BatchLoopTest() : LoopTest(ALLOT_BATCH_FOLDER, {{"batch", {{"output", output_}}}}) {
    config_.max_attempts = 3;
    config_.block_seconds = std::chrono::minutes(10);
  }

  // In partition 0 of queue "q"; `columns` and `values` are additional ones, each after a comma.
  void put_one(std::uint64_t key, const std::string& type, const std::string& payload,
               const std::string& columns = {}, const std::string& values = {}) {
    put_into(queue_, key, type, payload, columns, values);
  }
  void put_into(const queue::QueueInfo& queue, std::uint64_t key, const std::string& type,
                const std::string& payload, const std::string& columns = {},
                const std::string& values = {}) {
    std::ostringstream hex;
    for (const char one : payload) {
      const auto byte = static_cast<unsigned char>(one);
      hex << "0123456789abcdef"[byte >> 4] << "0123456789abcdef"[byte & 15];
    }
    db_.execute("INSERT INTO task (queue_id, partition_no, prio, run_key, type, payload" + columns +
                ") VALUES (" + std::to_string(queue.queue_id) + "," +
                std::to_string(queue.first_partition) + ",1," + std::to_string(key) + ",'" + type +
                "',x'" + hex.str() + "'" + values + ")");
  }
  // One for each of `words`, with the names a, b, c ...
  void put_all(const std::string& type, const std::vector<std::string>& words) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      put_one(i + 1, type, std::string(1, static_cast<char>('a' + i)) + " " + words[i]);
    }
  }
  // One lease, from its block to its end.
  void work_once(LoopWorker& worker) {
    std::optional<queue::Block> block;
    ASSERT_TRUE(support::eventually([&] {
      block = worker.find();
      return block.has_value();
    }));
    worker.work(std::move(*block));
  }
  void work_once() {
    const auto one = worker();
    work_once(*one);
    EXPECT_EQ(support::runs_in(one->slot()), 0U);
    EXPECT_EQ(one->slot().finished_count, 0U);
  }
  // The calls: "many a:1 b:1; one c:1".
  [[nodiscard]] std::string calls() const {
    std::string all;
    std::ifstream file(output_);
    for (std::string line; std::getline(file, line);) {
      const auto pid = line.find(' ');
      line.erase(pid, line.find(' ', pid + 1) - pid);
      all += (all.empty() ? "" : "; ") + line;
    }
    return all;
  }
  // The waiting tasks: "b:1" is the second one with an attempt charged.
  std::string waiting() {
    return value(
        "SELECT COALESCE(GROUP_CONCAT(SUBSTRING(payload, 1, 1), ':', attempt"
        " ORDER BY payload SEPARATOR ' '), '') FROM task");
  }
  std::string dead() {
    return value(
        "SELECT COALESCE(GROUP_CONCAT(SUBSTRING(payload, 1, 1), ' ', cause, ' ', error"
        " ORDER BY payload SEPARATOR '; '), '') FROM task_dead");
  }
};

TEST_F(BatchLoopTest, CallTakesOneTypeUpToTheLimitOfTheHandler) {
  put_one(1, "batch.three", "a");
  put_one(2, "batch.fifty", "b");
  put_one(3, "batch.three", "c");
  put_one(4, "batch.three", "d");
  put_one(5, "batch.fifty", "e");
  put_one(6, "batch.three", "f");
  work_once();
  EXPECT_EQ(calls(), "many a:1 c:1 d:1; many b:1 e:1; one f:1");
  EXPECT_EQ(waiting(), "");
  EXPECT_EQ(value("SELECT state FROM q_lock_table WHERE partition_no = 0"), "FREE");
}

TEST_F(BatchLoopTest, EachHasItsOwnVerdict) {
  config_.history = std::chrono::hours(1);
  put_all("batch.fifty", {"retry", "ok", "fail", "snooze", "log", "release", "ok"});
  work_once();
  EXPECT_EQ(calls(), "many a:1 b:1 c:1 d:1 e:1 f:1 g:1");
  EXPECT_EQ(waiting(), "a:1 d:0 f:0");
  EXPECT_EQ(dead(), "c fail never");
  EXPECT_EQ(value("SELECT GROUP_CONCAT(first_key, ' ', attempt, ' ', cause ORDER BY first_key) FROM"
                  " task_attempt"),
            "1 1 retry,3 1 fail");
  EXPECT_EQ(value("SELECT GROUP_CONCAT(first_key, ' ', attempt ORDER BY first_key) FROM"
                  " task_history"),
            "2 1,5 1,7 1");
  EXPECT_EQ(value("SELECT COUNT(*) FROM task_attempt WHERE cpu_us IS NULL"), "0");
}

TEST_F(BatchLoopTest, TasksWithoutAVerdictRunAlone) {
  for (const std::string word : {"refuse", "odd"}) {
    SCOPED_TRACE(word);
    std::ofstream(output_, std::ios::trunc).close();
    put_all("batch.fifty", {"ok", word, "ok"});
    put_one(9, "batch.three", "z");
    work_once();
    EXPECT_EQ(calls(), "many a:1 b:1 c:1; one a:1; one b:1; one c:1; one z:1");
    EXPECT_EQ(waiting(), "");
    EXPECT_EQ(value("SELECT COUNT(*) FROM task_attempt"), "0");
  }
}

// One of them runs, however long the call took: otherwise the next lease would repeat the call, and
// so on for ever.
TEST_F(BatchLoopTest, AFailedCallIsFollowedByOneTaskAlsoWhenTheTimeOfTheBlockIsOver) {
  config_.block_seconds = std::chrono::milliseconds(0);
  put_all("batch.fifty", {"ok", "refuse", "ok"});
  work_once();
  EXPECT_EQ(calls(), "many a:1 b:1 c:1; one a:1");
  EXPECT_EQ(waiting(), "b:0 c:0");
  work_once();
  EXPECT_EQ(calls(), "many a:1 b:1 c:1; one a:1; many b:1 c:1; one b:1");
}

// A14: they had begun with the call.
TEST_F(BatchLoopTest, TasksOfAFailedCallDoNotExpireInTheNextLease) {
  config_.block_seconds = std::chrono::milliseconds(0);
  put_all("batch.fifty", {"ok", "refuse", "ok"});
  db_.execute("UPDATE task SET expires_at = UTC_TIMESTAMP(6) + INTERVAL 1 HOUR");
  work_once();
  EXPECT_EQ(waiting(), "b:0 c:0");
  db_.execute("UPDATE task SET expires_at = expires_at - INTERVAL 2 HOUR");
  work_once();
  work_once();
  EXPECT_EQ(waiting(), "");
  EXPECT_EQ(dead(), "");
}

TEST_F(BatchLoopTest, SpecialTasksRunAlone) {
  const std::string long_payload = "e ok " + std::string(1 << 20, ' ');
  put_one(1, "batch.fifty", "a");
  put_one(2, "batch.fifty", "b", ", flags", ", 1");    // suspect
  put_one(3, "batch.fifty", "c", ", attempt", ", 3");  // spent
  put_one(4, "batch.fifty", "d", ", expires_at", ", UTC_TIMESTAMP(6) - INTERVAL 1 SECOND");
  put_one(5, "batch.fifty", long_payload);  // not stored in the fetched row
  put_one(6, "batch.fifty", "f", ", attempt", ", 2");
  put_one(7, "batch.fifty", "g");
  work_once();
  EXPECT_EQ(calls(), "many a:1 f:3 g:1; one b:1; one e:1");
  EXPECT_EQ(waiting(), "");
  EXPECT_EQ(value("SELECT GROUP_CONCAT(SUBSTRING(payload, 1, 1), cause ORDER BY payload)"
                  " FROM task_dead"),
            "clost,dexpired");
}

TEST_F(BatchLoopTest, ATaskOfNoPlainKindThatComesFirstRunsByItself) {
  put_one(1, "batch.fifty", "a", ", flags", ", 1");
  put_one(2, "batch.fifty", "b");
  put_one(3, "batch.fifty", "c");
  work_once();
  EXPECT_EQ(calls(), "one a:1; many b:1 c:1");
}

// 12 MiB fit next to another 3, but not next to 5.
TEST_F(BatchLoopTest, PayloadsOfACallAreBoundedOnceTheyAreDecompressed) {
  const auto put_packed = [&](std::uint64_t key, const std::string& name, std::size_t mib) {
    const auto packed = queue::compress(name + " ok" + std::string(mib << 20, ' '));
    put_one(key, "batch.fifty", packed.value(), ", flags", ", " + std::to_string(queue::kZstdFlag));
  };
  put_packed(1, "a", 12);
  put_packed(2, "b", 3);
  put_packed(3, "c", 5);
  put_packed(4, "d", 12);
  put_one(5, "batch.fifty", "e");
  // Under a sanitizer this amount of data may take longer than the time of a block.
  for (int leases = 0; leases < 5 && tasks_left() != "0"; ++leases) work_once();
  EXPECT_EQ(calls(), "many a:1 b:1; one c:1; many d:1 e:1");
  EXPECT_EQ(tasks_left(), "0");
  EXPECT_EQ(dead(), "");
}

// It runs like a single task, while the others are called together.
TEST_F(BatchLoopTest, TaskThatEndsWithoutItsHandlerIsNotInTheCall) {
  put_one(1, "batch.fifty", "a");
  put_one(2, "batch.fifty", "damaged", ", flags", ", " + std::to_string(queue::kGzipFlag));
  put_one(3, "batch.fifty", "c", ", flags", ", 64");
  put_one(4, "batch.fifty", "d");
  db_.execute(
      "INSERT INTO task_cancel SELECT queue_id, partition_no, prio, run_key, 'enough',"
      " UTC_TIMESTAMP(6), 0 FROM task WHERE run_key = 3");
  work_once();
  EXPECT_EQ(calls(), "many a:1 d:1");
  EXPECT_EQ(value("SELECT GROUP_CONCAT(first_key, ' ', cause ORDER BY first_key) FROM task_dead"),
            "2 payload,3 cancelled");
  EXPECT_EQ(value("SELECT COUNT(*) FROM task_cancel"), "0");
}

TEST_F(BatchLoopTest, TheOneThatIsLeftOfACallRunsByItself) {
  put_one(1, "batch.fifty", "damaged", ", flags", ", " + std::to_string(queue::kGzipFlag));
  put_one(2, "batch.fifty", "b retry");
  work_once();
  EXPECT_EQ(calls(), "one b:1");
  EXPECT_EQ(waiting(), "b:1");
  EXPECT_EQ(value("SELECT GROUP_CONCAT(first_key, cause) FROM task_dead"), "1payload");
}

TEST_F(BatchLoopTest, AFailedCallOfCompressedTasksRunsThemAll) {
  for (std::uint64_t key = 1; key <= 2; ++key) {
    const auto packed = queue::compress("a refuse" + std::string(1'000, ' '));
    put_one(key, "batch.fifty", packed.value(), ", flags", ", " + std::to_string(queue::kZstdFlag));
  }
  work_once();
  EXPECT_EQ(calls(), "many a:1 a:1; one a:1; one a:1");
  EXPECT_EQ(tasks_left(), "0");
  EXPECT_EQ(value("SELECT COUNT(*) FROM task_dead"), "0");
}

// S16, S5
TEST_F(BatchLoopTest, OrderedLimitedAndExclusiveQueuesStayAtOne) {
  using queue::Placement;
  for (const auto placement : {Placement::kOrdered, Placement::kLimited}) {
    const auto name = std::string(queue::name_of(placement));
    const auto queue = queue::ensure_queue(db_, name, {1, placement, 1});
    put_into(queue, 1, "batch.fifty", "a");
    put_into(queue, 2, "batch.fifty", "b");
    const auto one = worker(queue);
    work_once(*one);
  }
  EXPECT_EQ(calls(), "one a:1; one b:1; one a:1; one b:1");
  config_.exclusive = true;
  put_all("batch.fifty", {"ok", "ok"});
  work_once();
  EXPECT_EQ(calls(), "one a:1; one b:1; one a:1; one b:1; one a:1; one b:1");
}

// Each thread has an eighth of the entries of the slot, so a call has at most eight tasks.
TEST_F(BatchLoopTest, ThreadsEachCallWithSeveral) {
  std::vector<std::string> words(20, "ok");
  put_all("batch.concurrent", words);
  const auto one = worker(queue_, 8);
  work_once(*one);
  std::size_t called = 0;
  std::istringstream all(calls());
  for (std::string call; std::getline(all, call, ';');) {
    const std::size_t tasks = support::times_in(call, ":1");
    EXPECT_TRUE(tasks == 8 || tasks == 4) << call;
    called += tasks;
  }
  EXPECT_EQ(called, 20U);
  EXPECT_EQ(waiting(), "");
  EXPECT_EQ(support::runs_in(one->slot()), 0U);
}

// Tasks without a result in a failed call run by themselves there, too, and none runs twice.
TEST_F(BatchLoopTest, AFailedCallOfAThreadIsFollowedByItsTasks) {
  put_all("batch.concurrent", {"ok", "refuse", "ok", "ok"});
  const auto one = worker(queue_, 8);
  work_once(*one);
  EXPECT_EQ(support::times_in(calls(), "many "), 1U);
  EXPECT_EQ(support::times_in(calls(), "one "), 4U);
  EXPECT_EQ(waiting(), "");
  EXPECT_EQ(one->slot().tasks_done, 4U);
}

// S7: tasks that may have killed the host run by themselves, the others do not.
TEST_F(BatchLoopTest, AfterALostHostItsBlockRunsOneByOne) {
  put_all("batch.fifty", {"ok", "ok", "ok", "ok", "ok"});
  const queue::LeaseStore lost(queue::make_holder("lost", "/"), kTtl);
  ASSERT_TRUE(lost.lease(db_, partition(0), {.block_size = 2}));
  const auto one = worker();
  work_once(*one);
  EXPECT_EQ(one->slot().takeovers, 1U);
  EXPECT_EQ(calls(), "one a:1; one b:1; many c:1 d:1 e:1");
  EXPECT_EQ(value("SELECT COUNT(*) FROM task_attempt"), "0");
  EXPECT_EQ(value("SELECT suspect_n FROM q_lock_table WHERE partition_no = 0"), "0");
}

// The limit of a drain: each task of a call counts, and in a failed call only those that ran.
TEST_F(BatchLoopTest, ADrainCountsTheTasksOfACall) {
  peer::DrainBudget budget{};
  budget.allowed = 3;
  put_all("batch.fifty", {"ok", "ok", "ok", "ok"});
  const auto one = worker();
  one->use(&budget);
  work_once(*one);
  EXPECT_EQ(calls(), "many a:1 b:1 c:1");
  EXPECT_EQ(budget.started, 3U);
  EXPECT_EQ(budget.done, 3U);
  EXPECT_EQ(waiting(), "d:0");
}

TEST_F(BatchLoopTest, ADrainCountsAFailedCallOnce) {
  peer::DrainBudget budget{};
  budget.allowed = 10;
  put_all("batch.fifty", {"ok", "refuse", "ok"});
  const auto one = worker();
  one->use(&budget);
  work_once(*one);
  EXPECT_EQ(budget.started, 3U);
  EXPECT_EQ(budget.done, 3U);
  EXPECT_EQ(budget.allowed, 7);
}

TEST_F(BatchLoopTest, OnlySubmissionsAreWrittenInACall) {
  put_all("batch.fifty", {"writes", "submit", "submit"});
  work_once();
  EXPECT_EQ(calls(), "many a:1 b:1 c:1");
  const std::string no = "2 not in a call with several tasks: ";
  EXPECT_EQ(dead(),
            "a fail " + no + "a checkpoint is only for a task that runs alone|" + no +
                "replace_with is only for a task that runs alone; submit works immediately|" + no +
                "a transaction is only for a task that runs alone");
  EXPECT_EQ(value("SELECT GROUP_CONCAT(payload ORDER BY payload) FROM task"
                  " WHERE type = 'unknown.type'"),
            "b,c");
}

// The tasks share the worker's connection.
TEST_F(BatchLoopTest, ThreadsMaySubmitByTheHostsOfOneCallAtOnce) {
  put_all("batch.fifty", {"crowd", "ok", "ok", "ok"});
  work_once();
  EXPECT_EQ(calls(), "many a:1 b:1 c:1 d:1");
  EXPECT_EQ(value("SELECT COUNT(*) FROM task WHERE type = 'unknown.type'"), "80");
}

// The time of a task that waits for a renewal does not count. A renewal waits for a second, which a
// busy machine may use up before the call has ended: then the test tries once more.
TEST_F(BatchLoopTest, TheTimeOfAllEndsWithTheCallAlsoWhileTheKeeperIsBusy) {
  bool ended_before = false;
  for (int tries = 0; tries < 10 && !ended_before; ++tries) {
    const std::string gate = output_folder_ / ("gate" + std::to_string(tries));
    put_all("batch.fifty", {"gate " + gate, "ok", "ok"});
    const auto one = worker();
    auto worked = std::async(std::launch::async, [&] { work_once(*one); });
    ASSERT_TRUE(support::eventually([&] { return support::runs_in(one->slot()) == 3; }));
    db::Connection holding(options());
    holding.execute(
        "BEGIN; SELECT * FROM q_lock_table WHERE queue_id > 0 AND partition_no = 0 FOR UPDATE");
    const std::string renewals =
        "SELECT COUNT(*) FROM information_schema.processlist WHERE command = 'Query'"
        " AND info LIKE 'UPDATE q_lock_table%' AND db = '" +
        name_ + "'";
    ASSERT_TRUE(support::eventually([&] { return value(renewals) != "0"; }));
    static_cast<void>(output_folder_.write("gate" + std::to_string(tries), ""));
    const auto returned = [&] {
      return support::runs_in(one->slot(), ipc::RunState::kReturned) == 3;
    };
    const bool seen = support::eventually(returned, std::chrono::seconds(3));
    ended_before = seen && value(renewals) != "0" && returned();
    holding.execute("COMMIT");
    worked.get();
    db_.execute("DELETE FROM task");
  }
  EXPECT_TRUE(ended_before);
}

// Only the call, under a lease that comes and goes.
class BatchRunTest : public RunTest {
 protected:
  BatchRunTest() : RunTest(ALLOT_BATCH_FOLDER, "batch") {}

  queue::Block lease_of(const std::vector<std::string>& words) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      put(partition(0), {1, i + 1}, "t " + words[i]);
    }
    db_.execute("UPDATE task SET type = 'batch.fifty' WHERE queue_id > 0");
    auto block = leases_.lease(db_, partition(0), {});
    EXPECT_TRUE(block && block->tasks.size() == words.size());
    return std::move(*block);
  }
  std::vector<Result> results_of(queue::Block& block) {
    std::vector<Result> results;
    for (const TaskEnd& end : run_all(block)) results.push_back(end.result);
    return results;
  }
};

TEST_F(BatchRunTest, WithoutALeaseTheHandlerIsNotCalled) {
  auto block = lease_of({"ok", "ok"});
  const auto results = results_of(block);
  ASSERT_EQ(results.size(), 2U);
  for (const auto& result : results) EXPECT_EQ(result, Result::kLeaseGone);
  EXPECT_EQ(support::runs_in(*raw_slot_), 0U);
  EXPECT_EQ(raw_slot_->finished_count, 0U);
}

// Otherwise one would exceed its time before the others, and be charged for them.
TEST_F(BatchRunTest, AllOfACallHaveTheSameDeadline) {
  const support::TempDir folder;
  const std::string gate = folder / "gate";
  auto block = lease_of({"gate " + gate, "ok", "ok"});
  keeper_.keep(block.lease, boot_ns());
  auto results = std::async(std::launch::async, [&] { return results_of(block); });
  EXPECT_TRUE(support::eventually([&] { return support::runs_in(*raw_slot_) == 3; }));
  std::set<std::uint64_t> deadlines;
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(raw_slot_->run_states[i].load(), ipc::RunState::kRunning);
    deadlines.insert(support::hard_deadline(*raw_slot_, i));
  }
  EXPECT_EQ(deadlines.size(), 1U);
  EXPECT_GT(*deadlines.begin(), boot_ns());
  static_cast<void>(folder.write("gate", ""));
  EXPECT_EQ(results.get(), std::vector<Result>(3, Result::kFinished));
  EXPECT_EQ(raw_slot_->finished_count, 3U);
  EXPECT_EQ(support::runs_in(*raw_slot_), 0U);
}

// If the worker dies while another verdict waits for the database, this one does not run again.
TEST_F(BatchRunTest, SuccessesAreWrittenBeforeOtherVerdicts) {
  auto block = lease_of({"retry", "ok"});
  keeper_.keep(block.lease, boot_ns());
  db::Connection holding(options());
  holding.execute("BEGIN; SELECT * FROM task WHERE queue_id > 0 AND run_key = 1 FOR UPDATE");
  auto results = std::async(std::launch::async, [&] { return results_of(block); });
  EXPECT_TRUE(support::eventually([&] { return raw_slot_->finished_count == 1; }));
  EXPECT_EQ(raw_slot_->run_states[0].load(), ipc::RunState::kReturned);
  EXPECT_EQ(results.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  holding.execute("COMMIT");
  const std::vector<Result> expected = {Result::kWritten, Result::kFinished};
  EXPECT_EQ(results.get(), expected);
}

// Successes need no lease (S6); verdicts after the first that found the lease gone are dropped.
TEST_F(BatchRunTest, ALeaseThatIsLostInTheMiddleDropsTheRest) {
  auto block = lease_of({"retry", "fail", "ok"});
  keeper_.keep(block.lease, boot_ns());
  db_.execute("UPDATE q_lock_table SET epoch = epoch + 1 WHERE queue_id > 0");
  const auto results = results_of(block);
  const std::vector<Result> expected = {Result::kLeaseGone, Result::kLeaseGone, Result::kFinished};
  EXPECT_EQ(results, expected);
  EXPECT_EQ(raw_slot_->finished_count, 1U);
  EXPECT_EQ(raw_slot_->leases_lost, 1U);
  EXPECT_EQ(value("SELECT COUNT(*) FROM task WHERE attempt = 0"), "3");
  EXPECT_EQ(value("SELECT COUNT(*) FROM task_dead"), "0");
}

}  // namespace
}  // namespace allot::worker
