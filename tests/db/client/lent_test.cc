// SPDX-License-Identifier: Apache-2.0
// Submission in a transaction of the caller: the task exists if and only if it commits.
// Rule: S64.
#include <gtest/gtest.h>

#include <future>

#include "db/client/fixture.h"
#include "db/lent_session.h"
#include "queue/operate/route.h"
#include "support/eventually.h"

namespace allot::client {
namespace {

using support::Database;

class LentTest : public ClientTest {
 protected:
  LentTest() : app_(name_) {
    app_.run("CREATE TABLE IF NOT EXISTS orders (id INT PRIMARY KEY) ENGINE=InnoDB");
    app_.run("DELETE FROM orders");
  }
  std::string orders() { return value("SELECT COUNT(*) FROM orders"); }

  Application app_;
};

TEST_F(LentTest, ItIsThereWithTheCommitAndNotBefore) {
  app_.run("BEGIN");
  app_.run("INSERT INTO orders VALUES (1)");
  const Submitted made = client_.submit_in(app_.handle(), task("of an order"));
  EXPECT_FALSE(client_.get(made.id)) << "not committed";
  EXPECT_EQ(tasks(), 0U);
  app_.run("COMMIT");
  ASSERT_TRUE(client_.get(made.id));
  EXPECT_EQ(client_.get(made.id)->payload, "of an order");
  EXPECT_EQ(orders(), "1");
}

TEST_F(LentTest, ItGoesWithTheRollback) {
  app_.run("BEGIN");
  app_.run("INSERT INTO orders VALUES (1)");
  client_.submit_many_in(app_.handle(), {task(), task(), unique("k"), unique("l")});
  app_.run("ROLLBACK");
  EXPECT_EQ(tasks(), 0U);
  EXPECT_EQ(orders(), "0");
  EXPECT_EQ(value("SELECT COUNT(*) FROM task_unique"), "0");
}

TEST_F(LentTest, WithoutAutocommitThereIsATransaction) {
  app_.run("SET autocommit = 0");
  client_.submit_in(app_.handle(), task());
  EXPECT_EQ(tasks(), 0U);
  app_.run("COMMIT");
  EXPECT_EQ(tasks(), 1U);
}

TEST_F(LentTest, OutsideOfATransactionItIsRefused) {
  const auto refused = [&](MYSQL* session) {
    return error_of([&] { client_.submit_in(session, task()); });
  };
  EXPECT_EQ(refused(nullptr), "bad_input: session: null");
  EXPECT_EQ(refused(app_.handle()).rfind("bad_input: session: no transaction is open", 0), 0U)
      << refused(app_.handle());
  app_.run("BEGIN");
  app_.run("SELECT 1");
  EXPECT_EQ(refused(app_.handle()),
            "bad_input: session: a result was not read to its end; read or free it first");
  EXPECT_EQ(tasks(), 0U);
}

// The payload is unchanged whatever the session settings are, and the session keeps them.
TEST_F(LentTest, NoSettingOfTheSessionMatters) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  bytes += "\xbf\x5c' OR 1 -- \" \\";
  const char* const kSettings[] = {
      "SET NAMES gbk",
      "SET NAMES latin1",
      "SET sql_mode = 'NO_BACKSLASH_ESCAPES,ANSI_QUOTES'",
      "SET sql_mode = ''",
      "SET sql_mode = 'TRADITIONAL', sql_safe_updates = 1",
      "SET time_zone = '-11:00'",
      "SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE",
      "SET collation_connection = utf8mb4_general_ci",
      "SET sql_select_limit = 0",
      "SET group_concat_max_len = 4, max_sort_length = 8",
      "SET sql_auto_is_null = 1",
      "SET /*M!100300 sql_mode = 'EMPTY_STRING_IS_NULL', */ sql_safe_updates = 0",
  };
  int n = 0;
  const std::string session =
      "SELECT CONCAT_WS('|', @@sql_mode, @@character_set_client, @@time_zone, @@sql_safe_updates, "
      "@@" +
      support::isolation_variable() + ") LIMIT 1";
  for (const char* setting : kSettings) {
    Application app("mysql");
    app.run(setting);
    const std::string before = app.value(session);
    app.run("BEGIN");
    NewTask of_key = unique(bytes.substr(100, 150) + std::to_string(n++), bytes);
    const auto made = client_.submit_many_in(app.handle(), {task(bytes), of_key});
    EXPECT_EQ(app.value("SELECT DATABASE() LIMIT 1"), "mysql") << setting;
    EXPECT_EQ(app.value(session), before);
    app.run("COMMIT");
    for (const Submitted& task : made) {
      const auto info = client_.get(task.id);
      ASSERT_TRUE(info) << setting;
      EXPECT_EQ(info->payload, bytes) << setting;
      EXPECT_EQ(info->type, "t");
      EXPECT_EQ(info->state, TaskState::kWaiting) << setting;
    }
    EXPECT_TRUE(client_.submit(of_key).existed) << setting;
  }
}

// The caller's session must not be changed, so each SELECT has its own limit.
TEST_F(LentTest, ALimitOfTheSessionReachesNoPlacement) {
  using queue::Placement;
  queue::ensure_queue(observer_, "ordered", {4, Placement::kOrdered});
  queue::ensure_queue(observer_, "limited", {4, Placement::kLimited, 2});
  queue::ensure_queue(observer_, "fair", {4, Placement::kFair});
  app_.run("SET sql_select_limit = 0");
  for (int round = 0; round < 2; ++round) {  // in the second round the keys are known
    app_.run("BEGIN");
    std::vector<NewTask> tasks;
    for (const char* name : {"ordered", "limited", "fair"}) {
      for (const char* key : {"a", "b"}) {
        tasks.push_back(task(name));
        tasks.back().queue = name;
        tasks.back().options.partition_key = key;
      }
    }
    for (const char* key : {"k", "l"}) tasks.push_back(unique(key));
    const auto made = client_.submit_many_in(app_.handle(), tasks);
    EXPECT_EQ(made.size(), 8U);
    EXPECT_EQ(made.back().existed, round == 1);
    app_.run("COMMIT");
  }
  EXPECT_EQ(tasks(), 14U);
}

// Under REPEATABLE READ a transaction sees the data of its beginning, but must see the present
// owner of a key.
TEST_F(LentTest, AKeyTakenAfterTheSnapshotIsSeen) {
  app_.run("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ");
  app_.run("BEGIN");
  EXPECT_EQ(app_.value("SELECT COUNT(*) FROM task_unique"), "0");
  const Submitted first = client_.submit(unique("k"));
  if (support::keeps_snapshots(observer_)) {
    const std::string error = error_of([&] { client_.submit_in(app_.handle(), unique("k")); });
    EXPECT_EQ(error.rfind("rolled_back: ", 0), 0U) << error;
    app_.run("BEGIN");
  }
  const Submitted second = client_.submit_in(app_.handle(), unique("k"));
  EXPECT_TRUE(second.existed);
  EXPECT_EQ(second.id, first.id);
  app_.run("COMMIT");
  EXPECT_EQ(tasks(), 1U);
}

// The call's statements before the error are undone, the caller's own are kept: the caller may
// continue.
TEST_F(LentTest, AfterAFailureTheTransactionStandsAsItWas) {
  queue::ensure_queue(observer_, "later", {1});  // its keys are claimed after the keys of q
  NewTask last = unique("z");
  last.queue = "later";
  Application other(name_);
  other.run("BEGIN");
  client_.submit_in(other.handle(), last);
  app_.run("SET innodb_lock_wait_timeout = 1");
  app_.run("BEGIN");
  app_.run("INSERT INTO orders VALUES (1)");
  const std::string error = error_of([&] {
    client_.submit_many_in(app_.handle(), {unique("a"), last});
  });
  EXPECT_EQ(error.rfind("failed: ", 0), 0U) << error;
  app_.run("COMMIT");
  other.run("COMMIT");
  EXPECT_EQ(orders(), "1");
  EXPECT_EQ(value("SELECT GROUP_CONCAT(unique_key) FROM task_unique"), "z");
  EXPECT_EQ(tasks(), 1U);
}

TEST_F(LentTest, ADeadlockSaysThatTheTransactionIsGone) {
  Application other(name_);
  for (Application* app : {&app_, &other}) app->run("BEGIN");
  client_.submit_in(app_.handle(), unique("a"));
  client_.submit_in(other.handle(), unique("b"));
  auto waits = std::async(std::launch::async, [&] {
    return error_of([&] { client_.submit_in(app_.handle(), unique("b")); });
  });
  EXPECT_TRUE(support::wait_for_lock_waits(observer_, 1));
  const std::string mine = error_of([&] { client_.submit_in(other.handle(), unique("a")); });
  const std::string theirs = waits.get();
  const std::string& victim = mine.empty() ? theirs : mine;
  EXPECT_EQ(victim.rfind("rolled_back: the server rolled the transaction back", 0), 0U)
      << mine << theirs;
  EXPECT_TRUE(mine.empty() || theirs.empty()) << mine << theirs;
  for (Application* app : {&app_, &other}) app->run("COMMIT");
  EXPECT_EQ(tasks(), 2U) << "of the one that was not the victim";
}

// Claiming a partition for a new key of a fair queue takes a lock, which is not kept in the
// caller's transaction.
TEST_F(LentTest, AKeyOfAFairQueueBlocksNoClient) {
  queue::ensure_queue(observer_, "fair", {2, queue::Placement::kFair});
  const auto of_key = [](const std::string& key) {
    NewTask task{.queue = "fair", .type = "t", .payload = ""};
    task.options.partition_key = key;
    return task;
  };
  app_.run("BEGIN");
  client_.submit_in(app_.handle(), of_key("a"));
  EXPECT_EQ(error_of([&] { client_.submit(of_key("b")); }), "");
  app_.run("COMMIT");
  EXPECT_EQ(value("SELECT COUNT(DISTINCT partition_no) FROM task"), "2");
}

// The locking read of an ordered queue's route uses the caller's session.
TEST_F(LentTest, AnOlderViewHidesNoRouteOfAnOrderedQueue) {
  const queue::QueueShape ordered{4, queue::Placement::kOrdered};
  const auto from = queue::ensure_queue(observer_, "former", ordered);
  const auto to = queue::ensure_queue(observer_, "latter", ordered);
  app_.run("BEGIN");
  app_.value("SELECT COUNT(*) FROM queue JOIN route");
  queue::set_route(observer_, from, queue::pattern_of("t"), to);
  NewTask task{.queue = "former", .type = "t", .payload = ""};
  task.options.partition_key = "a";
  if (support::keeps_snapshots(observer_)) {
    const std::string error = error_of([&] { client_.submit_in(app_.handle(), task); });
    EXPECT_EQ(error.rfind("rolled_back: ", 0), 0U) << error;
    app_.run("BEGIN");
  }
  client_.submit_in(app_.handle(), task);
  observer_.execute("SET SESSION innodb_lock_wait_timeout = 1");
  EXPECT_THROW(queue::remove_route(observer_, from, queue::pattern_of("t")), Error)
      << "the transaction is open";
  app_.run("COMMIT");
  EXPECT_EQ(value("SELECT GROUP_CONCAT(name) FROM task JOIN queue USING (queue_id)"), "latter");
}

TEST_F(LentTest, ALargePayloadIsCompressedAsAlways) {
  NewTask large = task(std::string(100'000, 'a'));
  large.options.compress_above = 1000;
  app_.run("BEGIN");
  const std::string id = client_.submit_in(app_.handle(), large).id;
  app_.run("COMMIT");
  EXPECT_LT(std::stoul(value("SELECT LENGTH(payload) FROM task")), 1000U);
  EXPECT_EQ(client_.get(id)->payload, large.payload);
  EXPECT_EQ(client_.get(id)->payload_size, 100'000U);
}

TEST_F(LentTest, ALostConnectionTakesTheTransactionWithIt) {
  app_.run("BEGIN");
  client_.submit_in(app_.handle(), task());
  observer_.execute("KILL " + std::to_string(mysql_thread_id(app_.handle())));
  const std::string error = error_of([&] { client_.submit_in(app_.handle(), task()); });
  EXPECT_EQ(error.rfind("unavailable: ", 0), 0U) << error;
  EXPECT_EQ(tasks(), 0U);
}

TEST_F(LentTest, WithoutTheRightItIsAMatterOfConfiguration) {
  observer_.execute("CREATE USER reader@localhost; GRANT SELECT ON " + name_ +
                    ".* TO reader@localhost");
  MYSQL* reader = mysql_init(nullptr);
  const std::string socket = Database::shared().socket();
  ASSERT_NE(mysql_real_connect(reader, nullptr, "reader", "", name_.c_str(), 0, socket.c_str(), 0),
            nullptr);
  ASSERT_EQ(mysql_query(reader, "BEGIN"), 0);
  const std::string error = error_of([&] { client_.submit_in(reader, task()); });
  mysql_close(reader);
  observer_.execute("DROP USER reader@localhost");
  EXPECT_EQ(error.rfind("config: ", 0), 0U) << error;
}

TEST(PortableTest, LiteralsBecomeHexadecimal) {
  EXPECT_EQ(db::portable("a = 'x' AND b = _binary'\\0\\'\\\\\\n'"),
            "a = _utf8mb4 x'78' AND b = _binary x'00275c0a'");
  EXPECT_EQ(db::portable("''"), "_utf8mb4 x''");
}

}  // namespace
}  // namespace allot::client
