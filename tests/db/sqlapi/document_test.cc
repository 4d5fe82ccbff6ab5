// SPDX-License-Identifier: Apache-2.0
// Runs the examples of docs/sql-api.md and README.md unchanged, with the clients that they are
// meant for.
#include "support/document.h"

#include <gtest/gtest.h>

#include "db/migrate.h"
#include "db/sqlapi/fixture.h"
#include "queue/schedules/schedule_store.h"
#include "support/process.h"
#include "support/text.h"

namespace allot::sqlapi {
namespace {

using support::Database;
using support::has;

const std::string kPage = std::string(ALLOT_SOURCE_DIR) + "/docs/sql-api.md";
const std::string kReadme = std::string(ALLOT_SOURCE_DIR) + "/README.md";

void replace(std::string& text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  ASSERT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
}

// A server with the databases and accounts of the page.
class DocumentTest : public testing::Test {
 protected:
  DocumentTest() : root_(server().connect()) {
    root_.execute(
        "DROP DATABASE IF EXISTS allot; DROP DATABASE IF EXISTS shop;"
        "DROP USER IF EXISTS 'shop'@'%', 'loader'@'%', 'reader'@'%';"
        "CREATE DATABASE allot; CREATE DATABASE shop;"
        "CREATE USER 'shop'@'%' IDENTIFIED BY 'change-me';"
        "GRANT ALL ON shop.* TO 'shop'@'%'");
    db::Connection allot = server().connect("allot");
    db::migrate(allot);
    root_.execute(
        "CREATE USER 'reader'@'%' IDENTIFIED BY 'change-me'; GRANT SELECT ON allot.* TO "
        "'reader'@'%';"
        "GRANT SELECT ON shop.* TO 'reader'@'%'");
    mail_ = queue::ensure_queue(allot, "mail", {4});
    for (const std::string& block : support::examples(kPage, "sql")) {
      if (!has(block, "GRANT ")) continue;
      root_.execute(block);
      if (has(block, "'loader'")) root_.execute("GRANT SELECT ON shop.* TO 'loader'@'%'");
    }
  }

  // A private server, because the other tests of this program cannot use databases of these names.
  static Database& server() {
    // Option required by the page for a trigger.
    static Database database({"--log-bin-trust-function-creators"}, support::Network::kTcp);
    return database;
  }

  // Output of the page's statements, one line per row, run by that account's client.
  static std::string run_as(const std::string& account, const std::string& sql) {
    support::ProcessOptions options;
    options.input = sql;
    const auto done =
        support::run_program({"mariadb", "--no-defaults", "--protocol=TCP", "--host=127.0.0.1",
                              "--port=" + std::to_string(server().tcp().port), "--user=" + account,
                              "--password=change-me", "--skip-column-names", "--batch", "shop"},
                             options);
    EXPECT_EQ(done.status.code, 0) << sql << done.err;
    return done.out;
  }
  void make_orders() { run_as("shop", support::first_example(kPage, "sql")); }
  std::string value(const std::string& sql) {
    auto results = root_.execute(sql);
    const auto row = results.back().next();
    return row ? std::string(row->text(0)) : "no row";
  }
  // Runs a program of the page, which then prints its task's id and "0".
  void expect_submits(const std::vector<std::string>& command) {
    const auto done = support::run_program(command);
    ASSERT_EQ(done.status.code, 0) << done.err;
    ASSERT_GT(done.out.size(), 3U);
    EXPECT_EQ(done.out.substr(done.out.size() - 3), " 0\n");
    const auto id = queue::TaskId::parse(done.out.substr(0, done.out.size() - 3));
    ASSERT_TRUE(id) << done.out;
    db::Connection allot = server().connect("allot");
    const auto view = queue::show(allot, *id);
    ASSERT_TRUE(view);
    EXPECT_EQ(view->type, "mail.send");
    EXPECT_EQ(view->payload, std::string("any bytes \0\xff", 12));
    EXPECT_EQ(value("SELECT unique_key FROM allot.task_unique"), "order 1");
    EXPECT_EQ(value("SELECT COUNT(*) FROM shop.orders"), "1");
  }
  // Expects the result of a program of the README: an order and its task.
  void expect_order_and_task(const std::vector<std::string>& command) {
    const auto done = support::run_program(command);
    EXPECT_EQ(done.status.code, 0) << done.err;
    EXPECT_EQ(value("SELECT CONCAT(type, ': ', payload) FROM allot.task"), "mail.send: order 1");
    EXPECT_EQ(value("SELECT COUNT(*) FROM shop.orders"), "1");
  }
  // The same program with a rollback leaves neither.
  void expect_nothing_more(const std::vector<std::string>& command) {
    const auto done = support::run_program(command);
    EXPECT_EQ(done.status.code, 0) << done.err;
    EXPECT_EQ(value("SELECT COUNT(*) FROM allot.task"), "1");
    EXPECT_EQ(value("SELECT COUNT(*) FROM shop.orders"), "1");
  }

  db::Connection root_;
  queue::QueueInfo mail_;
};

// All in one go, with the right account for each.
TEST_F(DocumentTest, TheStatementsDoWhatThePageSays) {
  std::string told;
  std::size_t run = 0;
  db::Connection allot = server().connect("allot");
  queue::ScheduleSpec nightly;
  nightly.name = "nightly";
  nightly.expression = "@daily";
  nightly.queue = "mail";
  nightly.type = "t";
  queue::put_schedule(allot, nightly, std::nullopt);
  for (const std::string& block : support::examples(kPage, "sql")) {
    if (has(block, "GRANT ")) continue;
    const std::uint64_t before = std::stoull(value("SELECT COUNT(*) FROM allot.task"));
    const bool looks = has(block, "allot.task_unique");
    const std::string account = looks                                  ? "reader"
                                : has(block, "INSERT INTO allot.task") ? "loader"
                                                                       : "shop";
    told = run_as(account, block);
    const std::uint64_t made = std::stoull(value("SELECT COUNT(*) FROM allot.task")) - before;
    EXPECT_EQ(made, looks || has(block, "CREATE TABLE") || has(block, "allot_cancel") ||
                            has(block, "allot_queue_figures")
                        ? 0U
                    : has(block, "allot_submit_many")                                 ? 2U
                    : has(block, "'grace@example.org');") && has(block, "allot.task") ? 2U
                    : has(block, "FROM shop.orders")                                  ? 2U
                                                                                      : 1U)
        << block;
    if (looks) {
      EXPECT_EQ(told.rfind("20", 0), 0U) << told;
      EXPECT_TRUE(has(told, "\tNULL\n")) << told;
    } else if (has(block, "SELECT @id = @same")) {
      EXPECT_EQ(told, "1\t1\n");
    } else if (has(block, "allot_find")) {
      EXPECT_EQ(told.substr(told.find('\t')), "\twaiting\n");
    } else if (has(block, "SELECT @state")) {
      EXPECT_EQ(told, "waiting\n");
    } else if (has(block, "allot_schedule")) {
      EXPECT_EQ(told, "removed\t1\n");
    } else if (has(block, "SELECT @result")) {
      EXPECT_EQ(told, "cancelled\n");
    } else if (has(block, "SELECT @id")) {
      EXPECT_EQ(told.substr(told.find('\t')), "\t0\n");
    } else if (has(block, "SELECT @made")) {
      EXPECT_EQ(told.rfind("[{\"id\": \"", 0), 0U) << told;
    }
    ++run;
  }
  EXPECT_EQ(run, 13U);
  EXPECT_EQ(value("SELECT COUNT(*) FROM allot.task WHERE ABS(TIMESTAMPDIFF(SECOND,"
                  " UTC_TIMESTAMP(6), '2025-01-01' + INTERVAL (run_key >> 12) MICROSECOND)) < 60"),
            "10")
      << "the others are due later";
  EXPECT_EQ(value("SELECT COUNT(*) FROM allot.task WHERE queue_id = " +
                  std::to_string(mail_.queue_id) + " AND partition_no < 4 AND prio < 4"),
            value("SELECT COUNT(*) FROM allot.task"));
}

TEST_F(DocumentTest, TheTransactionOfThePageRolledBackLeavesNoTask) {
  make_orders();
  std::string block = support::examples(kPage, "sql").at(2);
  replace(block, "COMMIT;", "ROLLBACK;");
  run_as("shop", block);
  EXPECT_EQ(value("SELECT COUNT(*) FROM allot.task"), "0");
  EXPECT_EQ(value("SELECT COUNT(*) FROM shop.orders"), "0");
}

TEST_F(DocumentTest, Python) {
  make_orders();
  std::string program = support::first_example(kPage, "python");
  replace(program, "host=\"db1.example.net\"",
          "host=\"127.0.0.1\", port=" + std::to_string(server().tcp().port));
  expect_submits({"/usr/bin/python3", "-c", program});
  replace(program, "db.commit()", "db.rollback()");
  root_.execute("DELETE FROM shop.orders; DELETE FROM allot.task; DELETE FROM allot.task_unique");
  EXPECT_EQ(support::run_program({"/usr/bin/python3", "-c", program}).status.code, 0);
  EXPECT_EQ(value("SELECT COUNT(*) FROM allot.task"), "0");
}

TEST_F(DocumentTest, Php) {
  make_orders();
  std::string program = support::first_example(kPage, "php");
  replace(program, "host=db1.example.net",
          "host=127.0.0.1;port=" + std::to_string(server().tcp().port));
  const support::TempDir folder;
  expect_submits({"php", folder.write("submit.php", program)});
  replace(program, "$db->commit()", "$db->rollBack()");
  root_.execute("DELETE FROM shop.orders; DELETE FROM allot.task; DELETE FROM allot.task_unique");
  EXPECT_EQ(support::run_program({"php", folder.write("back.php", program)}).status.code, 0);
  EXPECT_EQ(value("SELECT COUNT(*) FROM allot.task"), "0");
}

TEST_F(DocumentTest, ReadmePython) {
  make_orders();
  std::string program = support::first_example(kReadme, "python");
  replace(program, "host=\"db1.example.net\"",
          "host=\"127.0.0.1\", port=" + std::to_string(server().tcp().port));
  expect_order_and_task({"/usr/bin/python3", "-c", program});
  replace(program, "db.commit()", "db.rollback()");
  expect_nothing_more({"/usr/bin/python3", "-c", program});
}

TEST_F(DocumentTest, ReadmePhp) {
  make_orders();
  std::string program = support::first_example(kReadme, "php");
  replace(program, "host=db1.example.net",
          "host=127.0.0.1;port=" + std::to_string(server().tcp().port));
  const support::TempDir folder;
  expect_order_and_task({"php", folder.write("submit.php", program)});
  replace(program, "$db->commit()", "$db->rollBack()");
  expect_nothing_more({"php", folder.write("back.php", program)});
}

}  // namespace
}  // namespace allot::sqlapi
