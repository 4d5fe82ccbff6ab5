// SPDX-License-Identifier: Apache-2.0
// allot_cancel and allot_cancel_as_done: the same as `allot task cancel`, in the caller's
// transaction.
#include "db/sqlapi/fixture.h"
#include "queue/verbs/cancel_request.h"
#include "queue/verbs/ending.h"

namespace allot::sqlapi {
namespace {

class CancelTest : public SqlApiTest {
 protected:
  std::string cancel(const std::string& id, const std::string& reason = "'not wanted'") {
    auto results = app_.execute("CALL allot_cancel(" + db::Statement::quoted(id) + ", " + reason +
                                ", @result); SELECT COALESCE(@result, 'NULL')");
    return std::string(results.back().next()->text(0));
  }
  std::string end_as_done(const std::string& id) {
    auto results = app_.execute("CALL allot_cancel_as_done('" + id +
                                "', NULL, @result); SELECT COALESCE(@result, 'NULL')");
    return std::string(results.back().next()->text(0));
  }
  // Makes the task as its worker has it: in a leased partition, for a while.
  void watch_cancel() {
    look_.execute(
        "UPDATE task SET flags = flags | 64 WHERE queue_id > 0;"
        "UPDATE q_lock_table SET state = 'LOCKED', lock_by = 1 WHERE queue_id > 0");
  }
  std::uint64_t count(const std::string& table) {
    return std::stoull(value("SELECT COUNT(*) FROM " + table));
  }
};

TEST_F(CancelTest, AWaitingTaskIsDeadAndItsKeyIsFree) {
  const Made made = call_submit(app_, "default", "t", "p", R"({"unique_key": "k"})");
  EXPECT_EQ(cancel(made.id), "cancelled");
  const auto view = task(made);
  ASSERT_TRUE(view && view->dead);
  EXPECT_EQ(view->cause, queue::kCancelled);
  EXPECT_EQ(view->error, "not wanted");
  EXPECT_EQ(view->payload, "p");
  const Made again = call_submit(app_, "default", "t", "p", R"({"unique_key": "k"})");
  EXPECT_FALSE(again.existed) << "its key is free at once";
  EXPECT_NE(again.id, made.id);
  EXPECT_EQ(cancel(made.id), "dead");
  look_.execute("DELETE FROM task_dead");
  EXPECT_EQ(cancel(made.id), "NULL");
}

TEST_F(CancelTest, AlsoOneThatWasRetried) {
  const Made made = call_submit(app_, "default", "t", "p");
  look_.execute(
      "INSERT INTO task_moved SELECT queue_id, partition_no, prio, run_key, run_key + 5"
      " FROM task; UPDATE task SET first_key = run_key, run_key = run_key + 5, attempt = 2");
  EXPECT_EQ(cancel(made.id, "NULL"), "cancelled");
  EXPECT_EQ(count("task") + count("task_moved"), 0U);
  EXPECT_EQ(task(made)->attempts, 2U);
  EXPECT_EQ(task(made)->error, "");
}

TEST_F(CancelTest, OneThatRunsIsAskedToEnd) {
  const Made made = call_submit(app_, "default", "t", "p");
  watch_cancel();
  EXPECT_EQ(cancel(made.id, "'first'"), "asked");
  EXPECT_EQ(cancel(made.id, "'second'"), "asked");
  const auto id = *queue::TaskId::parse(made.id);
  EXPECT_EQ(queue::find_cancel(look_, id)->reason, "first");
  EXPECT_FALSE(queue::find_cancel(look_, id)->as_done);
  EXPECT_EQ(tasks(), 1U);
  look_.execute(
      "INSERT INTO task_running SELECT queue_id, partition_no, prio, run_key,"
      " run_key, 1, 0, type, payload, 1, 1, 1, 'h', 'i', 1, UTC_TIMESTAMP(6),"
      " UTC_TIMESTAMP(6), 1, NULL FROM task; DELETE FROM task; DELETE FROM task_cancel");
  EXPECT_EQ(cancel(made.id), "asked");
  EXPECT_EQ(count("task_cancel"), 1U);
}

TEST_F(CancelTest, AWaitingTaskEndsAsDoneAndKeepsItsKey) {
  const std::string options = R"({"unique_key": "k", "unique_for": "1h"})";
  const Made made = call_submit(app_, "default", "t", "p", options);
  look_.execute(
      "INSERT INTO task_attempt (queue_id, partition_no, prio, first_key, attempt, ended_at, cause,"
      " error, lock_host, lock_pid) SELECT queue_id, partition_no, prio, run_key, 1,"
      " UTC_TIMESTAMP(6), 'retry', '', 'h', 1 FROM task");
  EXPECT_EQ(end_as_done(made.id), "done");
  EXPECT_FALSE(task(made));
  EXPECT_EQ(count("task") + count("task_dead") + count("task_attempt") + count("task_cancel"), 0U);
  EXPECT_TRUE(call_submit(app_, "default", "t", "p", options).existed);
  EXPECT_EQ(value("SELECT free_at > UTC_TIMESTAMP(6) + INTERVAL 59 MINUTE FROM task_unique"), "1");
  EXPECT_EQ(end_as_done(made.id), "NULL");
  const Made dead = call_submit(app_, "default", "t", "p");
  EXPECT_EQ(cancel(dead.id), "cancelled");
  EXPECT_EQ(end_as_done(dead.id), "dead");
}

TEST_F(CancelTest, WhoAskedFirstDecidesHowARunningTaskEnds) {
  const Made made = call_submit(app_, "default", "t", "p");
  watch_cancel();
  const auto id = *queue::TaskId::parse(made.id);
  EXPECT_EQ(end_as_done(made.id), "asked");
  EXPECT_TRUE(queue::find_cancel(look_, id)->as_done);
  EXPECT_EQ(end_as_done(made.id), "asked");
  EXPECT_EQ(cancel(made.id), "otherwise");
  EXPECT_TRUE(queue::find_cancel(look_, id)->as_done);
  look_.execute("DELETE FROM task_cancel");
  EXPECT_EQ(cancel(made.id), "asked");
  app_.execute("BEGIN");
  EXPECT_EQ(end_as_done(made.id), "otherwise");
  app_.execute("COMMIT");
  EXPECT_FALSE(queue::find_cancel(look_, id)->as_done);
  EXPECT_EQ(tasks(), 1U);
}

TEST_F(CancelTest, ItComesAndGoesWithTheCallersTransaction) {
  for (const bool runs : {false, true}) {
    const Made made = call_submit(app_, "default", "t", "p");
    if (runs) watch_cancel();
    for (const char* end : {"ROLLBACK", "COMMIT"}) {
      app_.execute("BEGIN");
      EXPECT_EQ(cancel(made.id), runs ? "asked" : "cancelled");
      EXPECT_TRUE(app_.in_transaction());
      EXPECT_EQ(count("task_dead") + count("task_cancel"), 0U) << "nobody else sees it yet";
      app_.execute(end);
      const std::uint64_t landed = std::string(end) == "COMMIT" ? 1 : 0;
      EXPECT_EQ(count("task_dead") + count("task_cancel"), landed);
      EXPECT_EQ(tasks(), runs ? 1 : 1 - landed);
    }
    look_.execute("DELETE FROM task_dead");
  }
}

// The caller may read before it cancels, and others may have retried the task since.
TEST_F(CancelTest, AnOldSnapshotCancelsNobodyElse) {
  const Made made = call_submit(app_, "narrow", "t", "p");
  app_.execute(
      "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ; BEGIN;"
      "SELECT COUNT(*) FROM task");
  look_.execute(
      "INSERT INTO task_moved SELECT queue_id, partition_no, prio, run_key, run_key + 5"
      " FROM task; UPDATE task SET first_key = run_key, run_key = run_key + 5");
  const auto error = support::db_error_of([&] { cancel(made.id); });
  ASSERT_TRUE(error);
  if (support::keeps_snapshots(look_)) {
    EXPECT_EQ(error->error_class(), db::ErrorClass::kRetryable) << error->what();
  } else {
    EXPECT_NE(std::string(error->what()).find("has moved since this transaction began"),
              std::string::npos)
        << error->what();
  }
  app_.execute("ROLLBACK");
  EXPECT_EQ(cancel(made.id), "cancelled");
}

TEST_F(CancelTest, ATriggerMayCallIt) {
  const Made made = call_submit(app_, "default", "t", "p");
  look_.execute(
      "DROP TABLE IF EXISTS accounts; CREATE TABLE accounts (id INT) ENGINE=InnoDB;"
      "CREATE TRIGGER gone AFTER DELETE ON accounts FOR EACH ROW CALL allot_cancel('" +
      made.id + "', 'closed', @r); INSERT INTO accounts VALUES (1)");
  app_.execute("DELETE FROM accounts");
  EXPECT_TRUE(task(made)->dead);
  look_.execute("DROP TABLE accounts");
}

TEST_F(CancelTest, WhatIsNoIdAndWhatIsNoReasonIsRefused) {
  EXPECT_TRUE(support::db_error_of([&] { cancel("nonsense"); }));
  const Made made = call_submit(app_, "default", "t", "p");
  const auto error = support::db_error_of([&] { cancel(made.id, "REPEAT('x', 65536)"); });
  ASSERT_TRUE(error);
  EXPECT_NE(std::string(error->what()).find("the most is 65535"), std::string::npos);
  EXPECT_EQ(tasks(), 1U);
}

}  // namespace
}  // namespace allot::sqlapi
