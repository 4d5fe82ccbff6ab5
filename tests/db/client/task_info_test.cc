// SPDX-License-Identifier: Apache-2.0
// Results of get() for a task in each of its states, and of cancel().
#include <gtest/gtest.h>
#include <unistd.h>

#include "db/client/fixture.h"
#include "queue/model/task.h"
#include "queue/operate/limits.h"
#include "queue/verbs/lease_store.h"
#include "support/temp_dir.h"

namespace allot::client {
namespace {

class TaskInfoTest : public ClientTest {
 protected:
  queue::TaskId id_ = *queue::TaskId::parse(client_.submit(task("p")).id);

  [[nodiscard]] TaskInfo info() {
    const auto info = client_.get(id_.text());
    EXPECT_TRUE(info);
    return info.value_or(TaskInfo{});
  }
  CancelResult cancel() { return client_.cancel(id_.text(), "not wanted"); }
  void lease() {
    observer_.execute(
        "UPDATE q_lock_table SET state = 'LOCKED', epoch = epoch + 1, lock_by = 7, lock_host = 'h',"
        " lock_pid = 42, expire_at = UTC_TIMESTAMP(6) + INTERVAL 30 SECOND WHERE queue_id = " +
        std::to_string(queue_.queue_id) +
        " AND partition_no = " + std::to_string(id_.partition.partition_no));
  }
  // Acts like a worker with a long-running task.
  void detach() {
    observer_.execute(
        "INSERT INTO task_running (queue_id, partition_no, prio, first_key, run_key, attempt, type,"
        " payload, epoch, lock_by, lock_origin, lock_host, lock_instance, lock_pid, expire_at,"
        " detached_at) SELECT queue_id, partition_no, prio, run_key, run_key, 1, type, payload, 1,"
        " 7, 7, 'h', 'i', 42, UTC_TIMESTAMP(6) + INTERVAL 30 SECOND, UTC_TIMESTAMP(6) FROM task;"
        "DELETE FROM task WHERE queue_id = " +
        std::to_string(queue_.queue_id));
  }
};

TEST_F(TaskInfoTest, Waiting) {
  const TaskInfo found = info();
  EXPECT_EQ(found.state, TaskState::kWaiting);
  EXPECT_STREQ(name_of(found.state), "waiting");
  EXPECT_EQ(found.queue, "q");
  EXPECT_EQ(found.type, "t");
  EXPECT_EQ(found.payload, "p");
  EXPECT_EQ(found.prio, 1U);
  EXPECT_EQ(found.attempts, 0U);
  EXPECT_EQ(found.worker, "");
  EXPECT_FALSE(found.paused);
  EXPECT_LT(std::chrono::abs(found.at - std::chrono::system_clock::now()), std::chrono::minutes(5));
  EXPECT_EQ(cancel(), CancelResult::kCancelled);
  EXPECT_EQ(info().state, TaskState::kDead);
  EXPECT_EQ(info().cause, "cancelled");
  EXPECT_EQ(info().error, "not wanted");
  EXPECT_EQ(cancel(), CancelResult::kDead);
}

TEST_F(TaskInfoTest, Delayed) {
  NewTask later = task();
  later.options.delay = std::chrono::hours(1);
  id_ = *queue::TaskId::parse(client_.submit(later).id);
  EXPECT_EQ(info().state, TaskState::kDelayed);
  EXPECT_EQ(cancel(), CancelResult::kCancelled);
}

TEST_F(TaskInfoTest, SaysWhatItWasSubmittedWith) {
  EXPECT_EQ(info().first_due, info().at);
  EXPECT_EQ(info().unique_key, "");
  EXPECT_FALSE(info().expires_at || info().key_hash);
  NewTask later = unique("key");
  later.options.delay = std::chrono::hours(1);
  later.options.expires_in = std::chrono::hours(2);
  const auto before = std::chrono::system_clock::now();
  id_ = *queue::TaskId::parse(client_.submit(later).id);
  EXPECT_EQ(info().unique_key, "key");
  EXPECT_LT(std::chrono::abs(info().first_due - before - std::chrono::hours(1)),
            std::chrono::minutes(5));
  ASSERT_TRUE(info().expires_at);
  EXPECT_LT(std::chrono::abs(*info().expires_at - before - std::chrono::hours(2)),
            std::chrono::minutes(5));
}

TEST_F(TaskInfoTest, UniqueKeyIsFound) {
  EXPECT_FALSE(client_.find("q", "key"));
  EXPECT_EQ(error_of([&] { (void)client_.find("no", "key"); }).rfind("bad_input: ", 0), 0U);
  EXPECT_EQ(error_of([&] { (void)client_.find("q", ""); }).rfind("bad_input: ", 0), 0U);
  observer_.execute("DELETE FROM task");  // detach() takes them all
  id_ = *queue::TaskId::parse(client_.submit(unique("key")).id);
  const auto state = [&] {
    const auto owner = client_.find("q", "key");
    EXPECT_TRUE(owner);
    EXPECT_EQ(owner->id, id_.text());
    return owner->state;
  };
  EXPECT_EQ(state(), TaskState::kWaiting);
  EXPECT_FALSE(client_.find("q", "key")->free_at);
  lease();
  EXPECT_EQ(state(), TaskState::kLeased);
  observer_.execute("UPDATE task SET first_key = run_key, run_key = run_key + (3600000000 << 12)");
  observer_.execute(
      "INSERT INTO task_moved SELECT queue_id, partition_no, prio, first_key, run_key FROM task");
  EXPECT_EQ(state(), TaskState::kDelayed) << "moved";
  EXPECT_EQ(cancel(), CancelResult::kMayRun);
  EXPECT_FALSE(client_.find("q", "key")) << "a death frees the key";
  observer_.execute("UPDATE task_unique SET free_at = UTC_TIMESTAMP(6) + INTERVAL 1 HOUR");
  EXPECT_EQ(state(), TaskState::kDead) << "of a version that kept the key after a death";
  EXPECT_TRUE(client_.find("q", "key")->free_at);
  observer_.execute("UPDATE task_unique SET free_at = UTC_TIMESTAMP(6)");
  EXPECT_FALSE(client_.find("q", "key"));
  id_ = *queue::TaskId::parse(client_.submit(unique("key")).id);
  detach();
  EXPECT_EQ(state(), TaskState::kRunning);
  observer_.execute("DELETE FROM task_running");
  EXPECT_EQ(state(), TaskState::kDone);
}

TEST_F(TaskInfoTest, EndsAsDoneInTheHistoryThatTheConfigurationNames) {
  const support::TempDir folder;
  const db::ConnectOptions here = support::Database::shared().options(name_);
  Client configured = Client::from_file(folder.write(
      "allot.toml", "[database]\nsocket = \"" + here.socket + "\"\nuser = \"root\"\nname = \"" +
                        name_ + "\"\n[queues.q]\npartitions = 4\nhistory = \"1h\"\n"));
  EXPECT_EQ(configured.cancel(id_.text(), "by hand", {.as_done = true}), CancelResult::kCancelled);
  EXPECT_EQ(info().state, TaskState::kDone);
  EXPECT_EQ(info().worker.substr(info().worker.rfind('/')), "/" + std::to_string(::getpid()));
}

TEST_F(TaskInfoTest, PausedQueueIsShown) {
  queue::pause(observer_, queue_, "why");
  EXPECT_TRUE(info().paused);
  EXPECT_EQ(info().state, TaskState::kWaiting);
}

TEST_F(TaskInfoTest, Leased) {
  lease();
  EXPECT_EQ(info().state, TaskState::kLeased);
  EXPECT_EQ(info().worker, "h/42");
  EXPECT_EQ(cancel(), CancelResult::kMayRun);
}

TEST_F(TaskInfoTest, Running) {
  detach();
  const TaskInfo found = info();
  EXPECT_EQ(found.state, TaskState::kRunning);
  EXPECT_EQ(found.worker, "h/42");
  EXPECT_EQ(found.attempts, 1U);
  EXPECT_LT(std::chrono::abs(found.at - std::chrono::system_clock::now()), std::chrono::minutes(5));
  EXPECT_EQ(cancel(), CancelResult::kRequested);
  EXPECT_EQ(cancel(), CancelResult::kRequested) << "once more";
  EXPECT_EQ(info().state, TaskState::kRunning);
}

TEST_F(TaskInfoTest, Dead) {
  observer_.execute(
      "INSERT INTO task_dead (queue_id, partition_no, prio, first_key, attempt, type, payload,"
      " cause, error, died_at) SELECT queue_id, partition_no, prio, run_key, 10, type, payload,"
      " 'fail', 'no more', '2026-02-03 04:05:06.789012' FROM task;"
      "DELETE FROM task WHERE queue_id = " +
      std::to_string(queue_.queue_id));
  const TaskInfo found = info();
  EXPECT_EQ(found.state, TaskState::kDead);
  EXPECT_EQ(found.attempts, 10U);
  EXPECT_EQ(found.cause, "fail");
  EXPECT_EQ(found.error, "no more");
  using namespace std::chrono;
  EXPECT_EQ(found.at, sys_days(year(2026) / 2 / 3) + hours(4) + minutes(5) + seconds(6) +
                          microseconds(789012));
}

// In a queue that keeps a history (C10).
TEST_F(TaskInfoTest, Done) {
  observer_.execute(
      "INSERT INTO task_history SELECT queue_id, partition_no, prio, run_key, 3, type,"
      " UTC_TIMESTAMP(6), 'h', 42, 1, 1, 1, NULL FROM task; DELETE FROM task WHERE queue_id = " +
      std::to_string(queue_.queue_id));
  const TaskInfo found = info();
  EXPECT_EQ(found.state, TaskState::kDone);
  EXPECT_STREQ(name_of(found.state), "done");
  EXPECT_EQ(found.queue, "q");
  EXPECT_EQ(found.type, "t");
  EXPECT_EQ(found.attempts, 3U);
  EXPECT_EQ(found.worker, "h/42");
  EXPECT_EQ(found.payload, "");
  EXPECT_LT(std::chrono::abs(found.at - std::chrono::system_clock::now()), std::chrono::minutes(5));
  EXPECT_EQ(cancel(), CancelResult::kGone);
}

}  // namespace
}  // namespace allot::client
