// SPDX-License-Identifier: Apache-2.0
// Headers stay with their task through each statement that copies it from one table to another,
// unchanged since its submission.
#include "queue/model/headers.h"

#include "db/queue/fixture.h"
#include "queue/model/task_facts.h"
#include "queue/operate/cancel.h"
#include "queue/operate/dead_tasks.h"
#include "queue/operate/move.h"
#include "queue/views/task_lists.h"

namespace allot::queue {
namespace {

using std::chrono::microseconds;

const std::string kParent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

class HeadersTest : public QueueTest {
 protected:
  TaskId submit_one() {
    Submission task{queue_, "t", "x", {}};
    task.options.max_attempts = 3;
    task.options.traceparent = kParent;
    task.options.tracestate = "a=1";
    return submit(observer_, {&task, 1}).front().id;
  }
  static Headers wanted() { return {3, {kParent, "a=1"}}; }
  // Compares the stored bytes, not the parsed headers.
  void expect_in(const std::string& table) {
    EXPECT_EQ(value("SELECT headers FROM " + table), wanted().text()) << table;
  }
  Task leased() {
    Block block = must_lease();
    lease_ = block.lease;
    EXPECT_EQ(block.tasks.size(), 1U);
    return block.tasks.empty() ? Task{} : block.tasks[0];
  }
  Fence detached() {
    const Task task = leased();
    const Fence mine = fence(*lease_, task);
    EXPECT_EQ(worker_.detached.detach(worker_.db, mine, 1, {}), Fenced::kWritten);
    return mine.once_detached();
  }
  Record record() { return {worker_.leases.holder().host, worker_.leases.holder().pid, 1, {}}; }

  std::optional<Lease> lease_;
};

TEST_F(HeadersTest, ATaskWithoutHasNone) {
  const TaskId id = put(1).front();
  EXPECT_EQ(number("SELECT headers IS NULL FROM task"), 1U);
  EXPECT_EQ(leased().headers, Headers{});
  EXPECT_EQ(show(observer_, id)->headers, Headers{});
}

TEST_F(HeadersTest, AWorkerGetsThemWithTheTask) {
  const TaskId id = submit_one();
  expect_in("task");
  const Task task = leased();
  EXPECT_EQ(task.headers, wanted());
  EXPECT_EQ(show(observer_, id)->headers, wanted());
  EXPECT_EQ(find_headers(observer_, id, task.key.run_key), wanted());
  EXPECT_EQ(find_headers(observer_, id, task.key.run_key + 1), Headers{});
}

TEST_F(HeadersTest, ATaskWithAUniqueKeyHasThemToo) {
  Submission task{queue_, "t", "x", {}};
  task.options.unique_key = "k";
  task.options.max_attempts = 3;
  task.options.traceparent = kParent;
  task.options.tracestate = "a=1";
  (void)submit(observer_, {&task, 1});
  expect_in("task");
}

TEST_F(HeadersTest, ARetryKeepsThem) {
  submit_one();
  const Task task = leased();
  EXPECT_EQ(worker_.tasks.retry(worker_.db, fence(*lease_, task), 1, microseconds(0), kFailure),
            Fenced::kWritten);
  expect_in("task");
}

TEST_F(HeadersTest, ADetachAndTheWayBackKeepThem) {
  const TaskId id = submit_one();
  const Fence mine = detached();
  expect_in("task_running");
  EXPECT_EQ(show(observer_, id)->headers, wanted());
  EXPECT_EQ(find_headers(observer_, id, mine.run_key), wanted());
  EXPECT_EQ(DetachedStore::watch(observer_, std::vector{queue_.queue_id}).at(0).headers, wanted());
  EXPECT_EQ(worker_.detached.former(observer_).at(0).headers, wanted());
  EXPECT_EQ(worker_.tasks.charge(worker_.db, mine, 1, kFailure), Fenced::kWritten);
  expect_in("task");
  const Fence again = detached();
  EXPECT_EQ(worker_.tasks.retry(worker_.db, again, 2, microseconds(0), kFailure), Fenced::kWritten);
  expect_in("task");
}

// S75
TEST_F(HeadersTest, StartsThatFailedAreCountedWhereverTheTaskIsAndForgottenAtARetry) {
  const TaskId id = submit_one();
  const Holder& who = worker_.leases.holder();
  const auto put_off = [&](const Fence& mine, std::uint32_t count) {
    Ending ending{Ending::Verb::kSnooze, 1};
    ending.unstarted = count;
    EXPECT_EQ(write(worker_.db, who, mine, ending), Fenced::kWritten);
  };
  put_off(fence(*lease_, leased()), 1);
  EXPECT_EQ(value("SELECT headers FROM task"), wanted().text() + "\nunstarted=1");
  put_off(detached(), 2);
  EXPECT_EQ(value("SELECT headers FROM task"), wanted().text() + "\nunstarted=2");
  EXPECT_EQ(value("SELECT attempt FROM task"), "0");
  EXPECT_EQ(worker_.tasks.bury(worker_.db, fence(*lease_, leased()), 1, kFailure),
            Fenced::kWritten);
  EXPECT_EQ(show(observer_, id)->headers.unstarted, 2U);
  EXPECT_EQ(retry_dead(observer_, {{id}}), 1U);
  expect_in("task");
}

TEST_F(HeadersTest, ADeathAndASecondLifeKeepThem) {
  const TaskId id = submit_one();
  const Task task = leased();
  EXPECT_EQ(worker_.tasks.bury(worker_.db, fence(*lease_, task), 1, kFailure), Fenced::kWritten);
  expect_in("task_dead");
  EXPECT_EQ(show(observer_, id)->headers, wanted());
  EXPECT_EQ(retry_dead(observer_, {{id}}), 1U);
  expect_in("task");
}

// Its attempts begin at 0, so verdicts before the retry would count losses as verdicts.
TEST_F(HeadersTest, ASecondLifeForgetsTheVerdictsAndKeepsTheRest) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"NULL", "none"},
      {"'verdicts=2'", "none"},
      {"'max_attempts=3\\nverdicts=12'", "max_attempts=3"},
      {"'later=verdicts=1\\nverdicts=3'", "later=verdicts=1"},
      {"'later=1\\nmax_attempts=x'", "later=1\nmax_attempts=x"}};
  for (const auto& [dead, alive] : cases) {
    const TaskId id = put(1).front();
    const Task task = leased();
    EXPECT_EQ(worker_.tasks.bury(worker_.db, fence(*lease_, task), 1, kFailure), Fenced::kWritten);
    observer_.execute("UPDATE task_dead SET headers = " + dead + " WHERE queue_id > 0");
    EXPECT_EQ(retry_dead(observer_, {{id}}), 1U);
    EXPECT_EQ(value("SELECT COALESCE(headers, 'none') FROM task"), alive) << dead;
    observer_.execute("DELETE FROM task WHERE queue_id > 0");
    EXPECT_TRUE(worker_.leases.release(worker_.db, *lease_));
  }
}

TEST_F(HeadersTest, ADeathOutsideOfThePartitionKeepsThem) {
  submit_one();
  EXPECT_EQ(worker_.tasks.bury(worker_.db, detached(), 1, kFailure), Fenced::kWritten);
  expect_in("task_dead");
}

// A trace continues with the hook of its death, and with the attempt concerned.
TEST_F(HeadersTest, ATaskAboutADeathIsAChildOfItsTrace) {
  const OnDead hook{"q", "ops", "alert"};
  const QueueInfo ops = make_queue("ops", 1);
  const auto told = [&] {
    const std::string of_hook = " FROM task WHERE queue_id = " + std::to_string(ops.queue_id);
    std::string headers = value("SELECT COALESCE(headers, 'none')" + of_hook);
    observer_.execute("DELETE" + of_hook);
    return headers;
  };
  TaskId id = submit_one();
  Task task = leased();
  EXPECT_EQ(
      worker_.tasks.bury(worker_.db, fence(*lease_, task), 2, kFailure, Then::kKeepLease, hook),
      Fenced::kWritten);
  EXPECT_EQ(told(), (Headers{0, child_of(wanted().trace, id.text(), 2)}).text());
  id = submit_one();
  const Fence mine = detached();
  EXPECT_EQ(worker_.tasks.bury(worker_.db, mine, 3, kFailure, Then::kKeepLease, hook),
            Fenced::kWritten);
  EXPECT_EQ(told(), (Headers{0, child_of(wanted().trace, id.text(), 3)}).text());
  for (const std::string none : {"NULL", "'max_attempts=3'", "'max_attempts=3\ntraceparent='"}) {
    put(1);
    observer_.execute("UPDATE task SET headers = " + none + " WHERE queue_id > 0");
    task = leased();
    EXPECT_EQ(
        worker_.tasks.bury(worker_.db, fence(*lease_, task), 1, kFailure, Then::kKeepLease, hook),
        Fenced::kWritten);
    EXPECT_EQ(told(), "none") << none;
  }
}

TEST_F(HeadersTest, ACancelledTaskKeepsThem) {
  const TaskId id = submit_one();
  EXPECT_TRUE(cancel(observer_, id, id.first_key, "not wanted"));
  expect_in("task_dead");
}

TEST_F(HeadersTest, TheHistoryKeepsThem) {
  const TaskId id = submit_one();
  Task task = leased();
  task.record = record();
  const Finished one = finished(task);
  ack(worker_.db, partition_, {&one, 1});
  expect_in("task_history");
  EXPECT_EQ(show_done(observer_, id)->headers, wanted());
}

TEST_F(HeadersTest, TheHistoryOfADetachedOrCancelledTaskKeepsThem) {
  submit_one();
  EXPECT_EQ(worker_.tasks.ack(worker_.db, detached(), record()), Fenced::kWritten);
  expect_in("task_history");
  observer_.execute("DELETE FROM task_history");
  const TaskId id = submit_one();
  EXPECT_TRUE(cancel_task(observer_, id, "", as_done_here(true)).done);
  expect_in("task_history");
}

TEST_F(HeadersTest, AMovedTaskKeepsThem) {
  submit_one();
  const QueueInfo other = make_queue("other", 1);
  std::vector<Waiting> waiting;
  each_waiting(observer_, queue_, [&](const Waiting& one) {
    waiting.push_back(one);
    return true;
  });
  EXPECT_EQ(Mover(worker_.leases.holder(), queue_).move(worker_.db, waiting, {other.queue_id, 0}),
            1U);
  expect_in("task");
}

// Written by a newer version, or by hand.
TEST_F(HeadersTest, UnknownHeadersAreKept) {
  submit_one();
  observer_.execute("UPDATE task SET headers = 'later=1\\nmax_attempts=x' WHERE queue_id > 0");
  const Task task = leased();
  EXPECT_EQ(task.headers, Headers{});
  EXPECT_EQ(worker_.tasks.bury(worker_.db, fence(*lease_, task), 1, kFailure), Fenced::kWritten);
  EXPECT_EQ(value("SELECT headers FROM task_dead"), "later=1\nmax_attempts=x");
}

TEST_F(HeadersTest, AnInvalidTraceIsLeftOutAndTheTaskIsThere) {
  Submission task{queue_, "t", "x", {}};
  task.options.traceparent = std::string(1025, 'x');
  task.options.tracestate = "a=1";
  (void)submit(observer_, {&task, 1});
  EXPECT_EQ(number("SELECT headers IS NULL FROM task"), 1U);
}

}  // namespace
}  // namespace allot::queue
