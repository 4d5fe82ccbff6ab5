// SPDX-License-Identifier: Apache-2.0
#include "db/migrate.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <future>
#include <set>

#include "sql/migrations.h"
#include "support/database.h"
#include "support/db_error.h"
#include "support/eventually.h"

namespace allot::db {
namespace {

using support::Database;
using support::eventually;

class MigrateTest : public testing::Test {
 protected:
  MigrateTest()
      : name_(Database::shared().make_empty_database()), db_(Database::shared().connect(name_)) {}

  std::string refusal_of_schema() {
    try {
      require_schema(db_);
      return "";
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code(), kExitConfig);
      return error.what();
    }
  }

  std::set<std::string> tables() {
    std::set<std::string> names;
    auto results = db_.execute("SHOW TABLES");
    while (const auto row = results.front().next()) names.emplace(row->text(0));
    return names;
  }

  std::string name_;
  Connection db_;
};

const std::set<std::string> kTables{
    "allot_schema", "fair_partition", "q_lock_table", "queue",      "queue_duty",
    "queue_pause",  "task",           "task_attempt", "task_dead",  "task_history",
    "task_cancel",  "task_moved",     "task_running", "task_unique"};

TEST_F(MigrateTest, MakesTheSchemaOnce) {
  EXPECT_EQ(schema_version(db_), 0U);
  const std::vector<std::string> applied = migrate(db_);
  ASSERT_EQ(applied.size(), wanted_schema_version());
  EXPECT_EQ(applied.front(), "0001_initial");
  EXPECT_EQ(schema_version(db_), wanted_schema_version());
  EXPECT_EQ(tables(), kTables);
  EXPECT_EQ(refusal_of_schema(), "");

  EXPECT_TRUE(migrate(db_).empty()) << "a second time there is nothing to do";
  auto rows = db_.execute("SELECT COUNT(*) FROM allot_schema");
  EXPECT_EQ(rows.front().next()->u64(0), wanted_schema_version());
}

TEST_F(MigrateTest, AMissingSchemaIsRefusedWithTheCure) {
  EXPECT_EQ(refusal_of_schema(), "the database has no Allot schema yet: run 'allot migrate'");
}

TEST_F(MigrateTest, ANewerSchemaIsRefusedAndLeftAlone) {
  migrate(db_);
  db_.execute("INSERT INTO allot_schema VALUES (4711, '4711_later', UTC_TIMESTAMP(6), '9.9.9')");
  const std::string refusal = refusal_of_schema();
  EXPECT_NE(refusal.find("version 4711"), std::string::npos) << refusal;
  EXPECT_NE(refusal.find("install the newer Allot"), std::string::npos) << refusal;
  EXPECT_THROW(migrate(db_), Error);
  EXPECT_EQ(schema_version(db_), 4711U);
  // The refusal gave the name lock back.
  EXPECT_EQ(db_.execute("SELECT IS_FREE_LOCK('allot.migrate')").front().next()->u64(0), 1U);
}

// The state after a migrator that died between a migration and the line which records it.
TEST_F(MigrateTest, EachMayBeRunAgainOverItsOwnWork) {
  migrate(db_);
  db_.execute(
      "INSERT INTO queue (name, partitions, created_at) VALUES ('q', 1, UTC_TIMESTAMP(6));"
      "INSERT INTO task_attempt VALUES (1, 0, 1, 7, 3, UTC_TIMESTAMP(6), 'fail', 'no', 'h', 1, 2,"
      " NULL, NULL, NULL)");
  db_.execute("DELETE FROM allot_schema WHERE version > 0");
  EXPECT_EQ(migrate(db_).size(), wanted_schema_version());
  EXPECT_EQ(tables(), kTables);
  auto kept = db_.execute("SELECT life, error FROM task_attempt");
  EXPECT_EQ(kept.front().next()->u64(0), 2U);
}

// Rows of a schema of the first version are still there after all migrations.
TEST_F(MigrateTest, TheDataOfTheFirstVersionIsKept) {
  db_.execute(sql::migrations::kAll[0]->text);
  db_.execute(
      "INSERT INTO task_attempt VALUES (1, 0, 1, 7, 3, UTC_TIMESTAMP(6), 'fail', 'no', 'h', 1);"
      "INSERT INTO task_dead VALUES (1, 0, 1, 7, 3, 't', 'p', 'fail', 'no', UTC_TIMESTAMP(6))");
  migrate(db_);
  auto rows = db_.execute(
      "SELECT a.life, a.attempt, d.payload FROM task_attempt AS a JOIN task_dead AS d"
      " USING (queue_id, partition_no, prio, first_key)");
  ASSERT_EQ(rows.front().row_count(), 1U);
  const auto row = rows.front().next();
  EXPECT_EQ(row->u64(0), 0U);
  EXPECT_EQ(row->u64(1), 3U);
  EXPECT_EQ(row->text(2), "p");
}

TEST_F(MigrateTest, OfManyAtOnceOneMigrates) {
  std::vector<std::future<std::size_t>> migrators;
  for (int i = 0; i < 8; ++i) {
    migrators.push_back(std::async(std::launch::async, [this] {
      Connection db = Database::shared().connect(name_);
      return migrate(db).size();
    }));
  }
  std::size_t applied = 0;
  for (auto& migrator : migrators) applied += migrator.get();
  EXPECT_EQ(applied, wanted_schema_version());
  EXPECT_EQ(tables(), kTables);
}

TEST_F(MigrateTest, WithoutTheRightItIsRefused) {
  db_.execute("CREATE USER reader@localhost; GRANT SELECT ON " + name_ + ".* TO reader@localhost");
  ConnectOptions options = Database::shared().options(name_);
  options.user = "reader";
  Connection reader(options);
  EXPECT_EQ(support::error_class_of([&] { migrate(reader); }), "refused");
  db_.execute("DROP USER reader@localhost");
}

// The process dies by SIGKILL while the server waits in the middle of the migration, for a table
// that somebody has locked. The server may go on with the rest of the packet or not: either way the
// next call ends with the whole schema.
TEST_F(MigrateTest, AMigratorKilledInTheMiddleIsHealedByTheNext) {
  db_.execute("CREATE TABLE task_moved (a INT); LOCK TABLES task_moved WRITE");
  const ConnectOptions options = Database::shared().options(name_);
  const pid_t child = ::fork();
  if (child == 0) {
    Connection db(options);
    migrate(db);
    ::_exit(0);
  }
  Connection watcher = Database::shared().connect(name_);
  const bool stuck = eventually([&] {
    return watcher
               .execute(
                   "SELECT 1 FROM information_schema.processlist"
                   " WHERE state LIKE 'Waiting for table metadata lock%' AND db = DATABASE()")
               .front()
               .row_count() == 1;
  });
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(stuck);
  ASSERT_TRUE(WIFSIGNALED(status)) << "it had ended before it was killed";
  EXPECT_EQ(schema_version(watcher), 0U);
  EXPECT_EQ(watcher.execute("SHOW TABLES LIKE 'task_dead'").front().row_count(), 0U);

  db_.execute("DROP TABLE task_moved; UNLOCK TABLES");
  EXPECT_LE(migrate(watcher).size(), wanted_schema_version());
  EXPECT_EQ(schema_version(watcher), wanted_schema_version());
  EXPECT_EQ(tables(), kTables);
  EXPECT_EQ(watcher.execute("SHOW COLUMNS FROM task_moved LIKE 'run_key'").front().row_count(), 1U);
}

}  // namespace
}  // namespace allot::db
