// SPDX-License-Identifier: Apache-2.0
// allot_task: where a task is. allot_find: which task has a unique key.
#include <algorithm>
#include <cctype>

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

TEST_F(TaskTest, AsItGoesOn) {
  const Made made = call_submit(app_, "default", "t", "secret", R"({"prio": 2})");
  EXPECT_EQ(state(made.id), "waiting");
  const std::string key = std::to_string(queue::TaskId::parse(made.id)->first_key);
  look_.execute(
      "INSERT INTO task_moved SELECT queue_id, partition_no, prio, run_key, run_key + 5"
      " FROM task; UPDATE task SET first_key = run_key, run_key = run_key + 5");
  EXPECT_EQ(state(made.id), "waiting") << "after a retry";
  look_.execute("INSERT INTO task_running SELECT queue_id, partition_no, prio, " + key +
                ", run_key, 1, 0, type, payload, 1, 1, 1, 'h', 'i', 1, UTC_TIMESTAMP(6),"
                " UTC_TIMESTAMP(6), 1, NULL FROM task; DELETE FROM task");
  EXPECT_EQ(state(made.id), "running");
  look_.execute(
      "INSERT INTO task_dead (queue_id, partition_no, prio, first_key, attempt, type,"
      " payload, cause, error, died_at) SELECT queue_id, partition_no, prio, first_key, 1,"
      " type, payload, '', '', UTC_TIMESTAMP(6) FROM task_running;"
      "DELETE FROM task_running");
  EXPECT_EQ(state(made.id), "dead");
  look_.execute("DELETE FROM task_dead");
  EXPECT_EQ(state(made.id), "NULL");
}

TEST_F(TaskTest, ItsIdIsThatOfNobodyElse) {
  look_.execute(
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

// Ids are read aloud, and typed: what the commands take, the procedures take as well.
TEST_F(TaskTest, AnIdMayHaveCapitals) {
  const Made made = call_submit(app_, "default", "t", "");
  std::string capitals = made.id;
  std::transform(capitals.begin(), capitals.end(), capitals.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  ASSERT_NE(capitals, made.id);
  EXPECT_EQ(state(capitals), "waiting");
  EXPECT_EQ(state(capitals.substr(0, 8) + made.id.substr(8)), "waiting");
  app_.execute("CALL allot_cancel('" + capitals + "', 'typed', @result)");
  EXPECT_EQ(state(made.id), "dead");
}

TEST_F(TaskTest, WhatIsNoIdIsRefused) {
  const std::string good = call_submit(app_, "default", "t", "").id;
  std::string spelled = good;  // a letter that lower case would make a k
  spelled.replace(spelled.size() - 1, 1, "\u212A");
  for (const std::string& word :
       {std::string(), std::string("x"), good + "0", good.substr(1), spelled, std::string(16, 'i'),
        std::string(29, 'z'), std::string(100'000, '0'), std::string("' OR 1=1 -- aaaaaaa")}) {
    const auto error = support::db_error_of([&] { state(word); });
    ASSERT_TRUE(error) << word.substr(0, 50);
    EXPECT_NE(std::string(error->what()).find(": not an id"), std::string::npos) << error->what();
  }
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

TEST_F(FindTest, AKeysTaskWhereverItIs) {
  EXPECT_EQ(find("default", "k \u00e9"), "");
  const Made made = call_submit(app_, "default", "t", "p",
                                R"({"unique_key": "k é", "unique_for": "1h", "prio": 3})");
  EXPECT_EQ(find("default", "k \u00e9"), made.id + " waiting");
  EXPECT_EQ(find("narrow", "k \u00e9"), "") << "keys are those of a queue";
  EXPECT_EQ(find("default", "K \u00e9"), "") << "and bytes";
  EXPECT_EQ(find("default", "k \u00e9 "), "");
  look_.execute(
      "INSERT INTO task_moved SELECT queue_id, partition_no, prio, run_key, run_key + 5"
      " FROM task; UPDATE task SET first_key = run_key, run_key = run_key + 5");
  EXPECT_EQ(find("default", "k \u00e9"), made.id + " waiting") << "after a retry";
  look_.execute(
      "INSERT INTO task_running SELECT queue_id, partition_no, prio, first_key,"
      " run_key, 1, 0, type, payload, 1, 1, 1, 'h', 'i', 1, UTC_TIMESTAMP(6),"
      " UTC_TIMESTAMP(6), 1, NULL FROM task; DELETE FROM task");
  EXPECT_EQ(find("default", "k \u00e9"), made.id + " running");
  look_.execute(
      "DELETE FROM task_running; UPDATE task_unique SET free_at = UTC_TIMESTAMP(6) + INTERVAL 1"
      " HOUR");
  EXPECT_EQ(find("default", "k \u00e9"), made.id + " done");
  look_.execute("UPDATE task_unique SET free_at = UTC_TIMESTAMP(6)");
  EXPECT_EQ(find("default", "k \u00e9"), "");
}

TEST_F(FindTest, WhatCannotBeIsRefused) {
  const auto refusal = [&](const std::string& queue, const std::string& key) {
    const auto error = support::db_error_of([&] { find(queue, key); });
    return error ? std::string(error->what()) : "";
  };
  EXPECT_NE(refusal("no", "k").find("queue 'no': there is no such queue"), std::string::npos);
  EXPECT_NE(refusal("default ", "k").find("there is no such queue"), std::string::npos);
  EXPECT_NE(refusal("default", "").find("unique_key: 1 to 255 bytes"), std::string::npos);
  EXPECT_NE(refusal("default", std::string(256, 'k')).find("unique_key: 1 to 255 bytes"),
            std::string::npos);
  app_.execute("CALL allot_find('default', REPEAT('k', 255), @id, @state)");
  EXPECT_TRUE(
      support::db_error_of([&] { app_.execute("CALL allot_find('default', NULL, @id, @s)"); }));
}

}  // namespace
}  // namespace allot::sqlapi
