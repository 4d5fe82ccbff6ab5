// SPDX-License-Identifier: Apache-2.0
// allot_task and allot_find: cases not covered by tests/contract.
#include "db/sqlapi/fixture.h"

namespace allot::sqlapi {
namespace {

class TaskTest : public SqlApiTest {
 protected:
  std::string state(const std::string& id) {
    auto results = app_.execute("CALL allot_task(" + db::Statement::quoted(id) +
                                ", @state); SELECT COALESCE(@state, 'NULL')");
    return std::string(results.back().next()->text(0));
  }
};

TEST_F(TaskTest, ItsIdIsUnique) {
  observer_.execute(
      "INSERT INTO queue (queue_id, name, partitions, created_at) VALUES (4294960000, 'far', "
      "65535, UTC_TIMESTAMP(6))");
  for (const char* queue : {"default", "narrow", "far"}) {
    const Made made = call_submit(app_, queue, "t", "");
    EXPECT_EQ(state(made.id), "waiting") << made.id;
    queue::TaskId other = *queue::TaskId::parse(made.id);
    ++other.first_key;
    EXPECT_EQ(state(other.text()), "NULL");
    other = *queue::TaskId::parse(made.id);
    ++other.partition.partition_no;
    EXPECT_EQ(state(other.text()), "NULL");
  }
}

// A worker must be able to acknowledge the task during the caller's transaction.
TEST_F(TaskTest, AQuestionLocksNothing) {
  const Made made = call_submit(app_, "default", "t", "");
  app_.execute("BEGIN");
  EXPECT_EQ(state(made.id), "waiting");
  observer_.execute("SET innodb_lock_wait_timeout = 1; DELETE FROM task");
  app_.execute("COMMIT");
  EXPECT_EQ(state(made.id), "NULL");
}

TEST_F(TaskTest, InvalidIdIsRefused) {
  const auto error = support::db_error_of([&] { state(std::string(100'000, '0')); });
  ASSERT_TRUE(error);
  EXPECT_NE(std::string(error->what()).find(": not an id"), std::string::npos) << error->what();
}

class FindTest : public SqlApiTest {
 protected:
  std::string find(const std::string& queue, const std::string& key) {
    auto results = app_.execute("CALL allot_find(" + db::Statement::quoted(queue) + ", " +
                                db::Statement::quoted(key) +
                                ", @id, @state); SELECT CONCAT_WS(' ', @id, @state)");
    return std::string(results.back().next()->text(0));
  }
};

TEST_F(FindTest, InvalidKeyIsRefused) {
  const auto refusal = [&](const std::string& queue, const std::string& key) {
    const auto error = support::db_error_of([&] { find(queue, key); });
    return error ? std::string(error->what()) : "";
  };
  EXPECT_NE(refusal("no", "k").find("queue 'no': unknown queue"), std::string::npos);
  EXPECT_NE(refusal("default ", "k").find("unknown queue"), std::string::npos);
  EXPECT_NE(refusal("default", "").find("unique_key: 1 to 255 bytes"), std::string::npos);
  EXPECT_NE(refusal("default", std::string(256, 'k')).find("unique_key: 1 to 255 bytes"),
            std::string::npos);
  app_.execute("CALL allot_find('default', REPEAT('k', 255), @id, @state)");
  EXPECT_TRUE(
      support::db_error_of([&] { app_.execute("CALL allot_find('default', NULL, @id, @s)"); }));
}

}  // namespace
}  // namespace allot::sqlapi
