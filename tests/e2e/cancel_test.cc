// SPDX-License-Identifier: Apache-2.0
// Cancels a running task (B11): a stop is requested from its handler, which is killed if it does
// not stop, and in any case the task does not come back.
#include <gtest/gtest.h>

#include <csignal>

#include "db/connection.h"
#include "e2e/daemon.h"

namespace allot::e2e::cancel_test {
namespace {

using support::eventually;

const std::string kInPartition = "partitions = 1\ndetach_after = \"0s\"\n";

class Cancel : public testing::Test {
 protected:
  void start(const std::string& queue_keys, unsigned workers = 2, const std::string& more = {}) {
    daemon_ = std::make_unique<Daemon>(
        DaemonOptions{.workers = workers, .queue_keys = queue_keys, .more = more});
  }
  // True if it runs in its partition, and its worker checks for requests.
  [[nodiscard]] bool cancel_watched() const {
    return eventually(
        [&] { return daemon_->number("SELECT COUNT(*) FROM task WHERE flags & 64 <> 0") == 1; });
  }
  std::string cancel(const std::string& id) const {
    return daemon_->must({"task", "cancel", id, "--reason", "the user left"});
  }
  void ask(const std::string& id) const {
    const std::string out = cancel(id);
    EXPECT_EQ(out.rfind("asked ", 0), 0U) << out;
    EXPECT_NE(out.find(" to end " + id), std::string::npos) << out;
  }
  // The task is dead, with the reason, and no other rows are left.
  void expect_cancelled(const std::string& id) const {
    ASSERT_TRUE(eventually([&] { return daemon_->count("task_dead") == 1; })) << daemon_->log();
    const auto task = daemon_->task(id);
    EXPECT_EQ(task["cause"], "cancelled") << task;
    EXPECT_EQ(task["error"], "the user left") << task;
    for (const char* table : {"task", "task_running", "task_cancel", "task_moved"}) {
      EXPECT_EQ(daemon_->count(table), 0U) << table;
    }
  }
  // All live workers are working.
  void expect_others_run() const {
    const auto before = daemon_->written().size();
    (void)daemon_->submit("test.write", "after");
    EXPECT_TRUE(eventually([&] { return daemon_->written().size() == before + 1; }))
        << daemon_->log();
  }

  std::unique_ptr<Daemon> daemon_;
};

TEST_F(Cancel, AHandlerThatListensEnds) {
  start(kInPartition);
  const auto id = daemon_->submit("test.sleep", "600000");
  ASSERT_TRUE(cancel_watched()) << daemon_->log();
  ask(id);
  expect_cancelled(id);
  EXPECT_FALSE(daemon_->logged("worker.kill")) << daemon_->log();
  EXPECT_TRUE(eventually([&] { return daemon_->logged("task.cancelled task=" + id); }))
      << daemon_->log();
  const auto attempts = daemon_->task(id)["attempts"];
  ASSERT_EQ(attempts.size(), 1U) << attempts;
  EXPECT_EQ(attempts[0]["cause"], "cancelled");
  expect_others_run();
}

TEST_F(Cancel, ADetachedOneToo) {
  start("partitions = 1\n");
  const auto id = daemon_->submit("test.sleep", "600000");
  ASSERT_TRUE(detached(*daemon_)) << daemon_->log();
  ask(id);
  expect_cancelled(id);
  EXPECT_FALSE(daemon_->logged("worker.kill")) << daemon_->log();
  expect_others_run();
}

TEST_F(Cancel, ADeafHandlerIsKilledAfterItsGrace) {
  start(kInPartition + "cancel_grace = \"200ms\"\n");
  const auto id = daemon_->submit("test.spin", "");
  ASSERT_TRUE(cancel_watched()) << daemon_->log();
  ask(id);
  expect_cancelled(id);
  EXPECT_TRUE(daemon_->logged("worker.kill")) << daemon_->log();
  EXPECT_TRUE(eventually([&] {
    return daemon_->logged("did not end within cancel_grace of the request to cancel it");
  })) << daemon_->log();
  EXPECT_FALSE(daemon_->logged("time limit")) << daemon_->log();
  expect_others_run();
  EXPECT_EQ(daemon_->count("task_dead"), 1U) << daemon_->log();
  EXPECT_EQ(daemon_->task(id)["attempts"].size(), 1U);
}

TEST_F(Cancel, ADeafDetachedOneToo) {
  start("partitions = 1\ncancel_grace = \"200ms\"\n");
  const auto id = daemon_->submit("test.spin", "");
  ASSERT_TRUE(detached(*daemon_)) << daemon_->log();
  ask(id);
  expect_cancelled(id);
  EXPECT_TRUE(daemon_->logged("worker.kill")) << daemon_->log();
  expect_others_run();
}

TEST_F(Cancel, TaskThatSucceedsDespiteACancelIsDone) {
  start(kInPartition);
  const auto id = daemon_->submit("test.gate", "success " + daemon_->gate());
  ASSERT_TRUE(cancel_watched()) << daemon_->log();
  ask(id);
  ASSERT_TRUE(eventually([&] { return daemon_->logged("task.cancel_requested task=" + id); }))
      << daemon_->log();
  daemon_->open_gate();
  ASSERT_TRUE(eventually([&] { return daemon_->drained(); })) << daemon_->log();
  EXPECT_TRUE(eventually([&] { return daemon_->count("task_cancel") == 0; }));
  EXPECT_EQ(daemon_->count("task_dead"), 0U) << daemon_->log();
}

// In its first second it is treated like a waiting one. Its row is gone then, and its handler is
// stopped.
TEST_F(Cancel, OneThatHasJustBegunIsStopped) {
  start(kInPartition + "cancel_grace = \"1h\"\n");
  const auto id = daemon_->submit("test.sleep", "600000");
  ASSERT_TRUE(eventually([&] { return daemon_->busy_workers().size() == 1; })) << daemon_->log();
  (void)cancel(id);
  EXPECT_TRUE(eventually([&] { return daemon_->busy_workers().empty(); })) << daemon_->log();
  expect_cancelled(id);
  expect_others_run();
}

TEST_F(Cancel, AnOrderedPartitionContinues) {
  start("", 2, "[queues.keyed]\npartitions = 1\nplacement = \"ordered\"\n");
  const auto submit = [&](const std::string& type, const std::string& payload) {
    const auto done = daemon_->allot({"submit", "keyed", type, payload, "--partition-key", "a"});
    EXPECT_EQ(done.status.code, 0) << done.err;
    return done.out.substr(0, done.out.size() - 1);
  };
  const auto id = submit("test.sleep", "600000");
  ASSERT_TRUE(cancel_watched()) << daemon_->log();
  submit("test.write", "next");
  ask(id);
  ASSERT_TRUE(eventually([&] { return daemon_->written().size() == 1; })) << daemon_->log();
  ASSERT_TRUE(eventually([&] { return daemon_->drained(); })) << daemon_->log();
  expect_cancelled(id);
}

TEST_F(Cancel, AWorkerThatDiesAfterTheRequestTakesTheTaskAlong) {
  for (const bool detaches : {false, true}) {
    start((detaches ? "partitions = 1\n" : kInPartition) + "cancel_grace = \"1h\"\n");
    const auto id = daemon_->submit("test.spin", "");
    ASSERT_TRUE(detaches ? detached(*daemon_) : cancel_watched()) << daemon_->log();
    ask(id);
    const auto busy = daemon_->busy_workers();
    ASSERT_EQ(busy.size(), 1U);
    support::send_signal(busy.front(), SIGKILL);
    expect_cancelled(id);
    EXPECT_EQ(daemon_->task(id)["attempts"].size(), 1U);
    expect_others_run();
    EXPECT_TRUE(eventually([&] { return daemon_->busy_workers().empty(); })) << daemon_->log();
  }
}

// Without a settler: the worker that takes over the partition, or recovers the task, checks for the
// request first.
TEST_F(Cancel, AHostThatIsLostTakesTheTaskAlong) {
  for (const bool detaches : {false, true}) {
    start((detaches ? "partitions = 1\n" : kInPartition) + "cancel_grace = \"1h\"\n");
    const auto id = daemon_->submit("test.spin", "");
    ASSERT_TRUE(detaches ? detached(*daemon_) : cancel_watched()) << daemon_->log();
    ask(id);
    kill_all_of(*daemon_);
    EXPECT_EQ(daemon_->count("task_cancel"), 1U);
    daemon_->start();
    expect_cancelled(id);
    expect_others_run();
    EXPECT_TRUE(eventually([&] { return daemon_->busy_workers().empty(); })) << daemon_->log();
  }
}

class CancelAsDone : public Cancel {
 protected:
  void start(bool detaches, const std::string& more = {}) {
    Cancel::start((detaches ? "partitions = 1\n" : kInPartition) +
                      "history = \"1h\"\non_dead = \"hooks/test.write\"\n" + more,
                  2, "[queues.hooks]\npartitions = 1\n");
  }
  void end(const std::string& id) const {
    const std::string out =
        daemon_->must({"task", "cancel", id, "--as-done", "--reason", "by hand"});
    EXPECT_NE(out.find(" to end " + id + " as done\n"), std::string::npos) << out;
  }
  // It is finished, without any result.
  void expect_done(const std::string& id) const {
    ASSERT_TRUE(eventually([&] { return daemon_->count("task_history") == 1; })) << daemon_->log();
    EXPECT_EQ(daemon_->task(id)["state"], "done");
    for (const char* table : {"task", "task_running", "task_cancel", "task_moved", "task_dead"}) {
      EXPECT_EQ(daemon_->count(table), 0U) << table << daemon_->log();
    }
    EXPECT_TRUE(daemon_->written().empty()) << "a hook ran";
  }
  [[nodiscard]] std::string run(bool detaches, const std::string& type) const {
    const auto id = daemon_->submit(type, "600000");
    EXPECT_TRUE(detaches ? detached(*daemon_) : cancel_watched()) << daemon_->log();
    return id;
  }
};

TEST_F(CancelAsDone, AHandlerThatListensEnds) {
  for (const bool detaches : {false, true}) {
    start(detaches);
    const auto id = run(detaches, "test.sleep");
    end(id);
    expect_done(id);
    EXPECT_FALSE(daemon_->logged("worker.kill")) << daemon_->log();
    EXPECT_TRUE(daemon_->logged("task.cancelled task=" + id)) << daemon_->log();
    expect_others_run();
  }
}

TEST_F(CancelAsDone, ADeafOneIsKilled) {
  for (const bool detaches : {false, true}) {
    start(detaches, "cancel_grace = \"200ms\"\n");
    const auto id = run(detaches, "test.spin");
    end(id);
    expect_done(id);
    EXPECT_TRUE(daemon_->logged("worker.kill")) << daemon_->log();
    expect_others_run();
  }
}

TEST_F(CancelAsDone, AHostThatIsLostTakesTheTaskAlong) {
  for (const bool detaches : {false, true}) {
    start(detaches, "cancel_grace = \"1h\"\n");
    const auto id = run(detaches, "test.spin");
    end(id);
    kill_all_of(*daemon_);
    daemon_->start();
    expect_done(id);
    expect_others_run();
  }
}

TEST_F(Cancel, ItsUniqueKeyIsFreeAfterItsTime) {
  start(kInPartition);
  const auto submit = [&] {
    const auto done = daemon_->allot(
        {"submit", "default", "test.sleep", "600000", "--unique-key", "k", "--unique-for", "1ms"});
    EXPECT_EQ(done.status.code, 0) << done.err;
    return done.out.substr(0, done.out.find_first_of(" \n"));
  };
  const auto id = submit();
  ASSERT_TRUE(cancel_watched()) << daemon_->log();
  EXPECT_EQ(submit(), id);
  ask(id);
  expect_cancelled(id);
  EXPECT_NE(submit(), id);
}

}  // namespace
}  // namespace allot::e2e::cancel_test
