// SPDX-License-Identifier: Apache-2.0
// allot_cancel in the caller's transaction. The rest is in tests/contract.
#include "db/sqlapi/fixture.h"

namespace allot::sqlapi {
namespace {

class CancelTest : public SqlApiTest {
 protected:
  std::string cancel(const std::string& id, const std::string& reason = "'not wanted'") {
    auto results = app_.execute("CALL allot_cancel(" + db::Statement::quoted(id) + ", " + reason +
                                ", @result); SELECT COALESCE(@result, 'NULL')");
    return std::string(results.back().next()->text(0));
  }
  // Puts the task into the state of a running one: in a leased partition, for some time.
  void watch_cancel() {
    observer_.execute(
        "UPDATE task SET flags = flags | 64 WHERE queue_id > 0;"
        "UPDATE q_lock_table SET state = 'LOCKED', lock_by = 1 WHERE queue_id > 0");
  }
  std::uint64_t count(const std::string& table) {
    return std::stoull(value("SELECT COUNT(*) FROM " + table));
  }
};

TEST_F(CancelTest, ItComesAndGoesWithTheCallersTransaction) {
  for (const bool runs : {false, true}) {
    const Made made = call_submit(app_, "default", "t", "p");
    if (runs) watch_cancel();
    for (const char* end : {"ROLLBACK", "COMMIT"}) {
      app_.execute("BEGIN");
      EXPECT_EQ(cancel(made.id), runs ? "requested" : "cancelled");
      EXPECT_TRUE(app_.in_transaction());
      EXPECT_EQ(count("task_dead") + count("task_cancel"), 0U)
          << "other sessions do not see it yet";
      app_.execute(end);
      const std::uint64_t landed = std::string(end) == "COMMIT" ? 1 : 0;
      EXPECT_EQ(count("task_dead") + count("task_cancel"), landed);
      EXPECT_EQ(tasks(), runs ? 1 : 1 - landed);
    }
    observer_.execute("DELETE FROM task_dead");
  }
}

// The caller may read before it cancels, and others may have retried the task since.
TEST_F(CancelTest, AnOldSnapshotCancelsNoOtherTask) {
  const Made made = call_submit(app_, "narrow", "t", "p");
  app_.execute(
      "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ; BEGIN;"
      "SELECT COUNT(*) FROM task");
  observer_.execute(
      "INSERT INTO task_moved SELECT queue_id, partition_no, prio, run_key, run_key + 5"
      " FROM task; UPDATE task SET first_key = run_key, run_key = run_key + 5");
  const auto error = support::db_error_of([&] { cancel(made.id); });
  ASSERT_TRUE(error);
  if (support::keeps_snapshots(observer_)) {
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
  observer_.execute(
      "DROP TABLE IF EXISTS accounts; CREATE TABLE accounts (id INT) ENGINE=InnoDB;"
      "CREATE TRIGGER gone AFTER DELETE ON accounts FOR EACH ROW CALL allot_cancel('" +
      made.id + "', 'closed', @r); INSERT INTO accounts VALUES (1)");
  app_.execute("DELETE FROM accounts");
  EXPECT_TRUE(task(made)->dead);
  observer_.execute("DROP TABLE accounts");
}

TEST_F(CancelTest, InvalidReasonIsRefused) {
  const Made made = call_submit(app_, "default", "t", "p");
  const auto error = support::db_error_of([&] { cancel(made.id, "REPEAT('x', 65536)"); });
  ASSERT_TRUE(error);
  EXPECT_NE(std::string(error->what()).find("the limit is 65535"), std::string::npos);
  EXPECT_EQ(tasks(), 1U);
}

}  // namespace
}  // namespace allot::sqlapi
