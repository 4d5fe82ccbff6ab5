// SPDX-License-Identifier: Apache-2.0
#include "db/migrate.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <future>
#include <set>

#include "base/version.h"
#include "db/migrations.h"
#include "support/database.h"
#include "support/db_error.h"
#include "support/eventually.h"
#include "support/process.h"
#include "support/rewriting_proxy.h"
#include "support/temp_dir.h"

namespace allot::db {
namespace {

using support::Database;
using support::eventually;

class MigrateTest : public testing::Test {
 protected:
  MigrateTest()
      : name_(Database::shared().make_empty_database()), db_(Database::shared().connect(name_)) {}

  template <typename Action>
  static std::string refusal_of(Action action) {
    try {
      action();
      return "";
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code(), kExitConfig);
      return error.what();
    }
  }
  std::string refusal_of_schema(Migrations known = kMigrations) {
    return refusal_of([&] { require_schema(db_, Newer::kRefused, known); });
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

// One message names the cause, for every command.
TEST_F(MigrateTest, AServerThatCannotHaveTheSchemaIsRefusedByName) {
  const support::TempDir folder;
  const std::pair<const char*, const char*> cases[] = {
      {"SELECT 'log_bin', 'ON' UNION SELECT 'binlog_format', 'STATEMENT'",
       "binlog_format is STATEMENT"},
      {"SELECT 'innodb_page_size', '4096'", "innodb_page_size is 4096"}};
  for (const auto& [answer, cause] : cases) {
    const support::RewritingProxy proxy(
        folder / "p", Database::shared().socket(), [answer = answer](const std::string& sql) {
          return sql.find("'innodb_page_size'") == std::string::npos ? sql : answer;
        });
    ConnectOptions options = Database::shared().options(name_);
    options.socket = proxy.socket();
    Connection db(options);
    EXPECT_NE(refusal_of([&] { migrate(db); }).find(cause), std::string::npos);
    EXPECT_NE(refusal_of([&] { require_schema(db); }).find(cause), std::string::npos);
    EXPECT_EQ(tables().size(), 0U);
  }
}

TEST_F(MigrateTest, AServerThatLogsStatementsIsRefusedByName) {
  if (support::on_mysql()) GTEST_SKIP() << "MySQL 9 logs rows only, unless configured otherwise";
  Database server({"--log-bin=bin", "--binlog-format=STATEMENT", "--server-id=1"});
  Connection db(server.connect(server.make_empty_database()));
  EXPECT_NE(refusal_of([&] { migrate(db); }).find("binlog_format is STATEMENT"), std::string::npos);
}

// A made-up next version: it adds columns, an index and a table, like each migration.
constexpr sql::SqlText kMadeUp{
    "9999_made_up",
    "-- A comment; it is not a statement.\n"
    "ALTER TABLE task ADD COLUMN later INT NULL COMMENT 'a; b', ALGORITHM=INSTANT;\n"
    "ALTER TABLE task_dead ADD KEY later (queue_id, cause);\n"
    "ALTER TABLE task_moved ADD COLUMN later INT NULL, ALGORITHM=INSTANT; /* ; */\n"
    "CREATE TABLE later (a INT) ENGINE=InnoDB;\n"
    "-- Nor is this; as it says."};
constexpr auto kNextList = followed_by(kMadeUp);
constexpr Migrations kNext{kNextList};

const std::set<std::string> kTables{
    "allot_schema",   "queue_bucket", "queue_rate",      "named_lock",       "lock_ticket",
    "route",          "notice",       "schedule",        "schedule_tick",    "fair_partition",
    "q_lock_table",   "queue",        "queue_duty",      "queue_pause",      "task",
    "task_attempt",   "task_dead",    "task_history",    "task_cancel",      "task_moved",
    "task_running",   "task_unique",  "server_identity", "bulk_action",      "instance",
    "attempt_minute", "queue_minute", "fireworq_queue",  "fireworq_routing", "fireworq_job",
    "deferred_type",  "audit",        "finding",         "type_hour",        "host_snapshot",
    "deployment"};

TEST_F(MigrateTest, MakesTheSchemaOnce) {
  EXPECT_EQ(schema_version(db_), 0U);
  const std::vector<std::string> applied = migrate(db_);
  ASSERT_EQ(applied.size(), kMigrations.size());
  EXPECT_EQ(applied.front(), "0001_initial");
  EXPECT_EQ(schema_version(db_), kMigrations.size());
  EXPECT_EQ(tables(), kTables);
  EXPECT_EQ(refusal_of_schema(), "");

  EXPECT_TRUE(migrate(db_).empty()) << "a second time there is nothing to do";
  auto rows = db_.execute("SELECT COUNT(*) FROM allot_schema");
  EXPECT_EQ(rows.front().next()->u64(0), kMigrations.size());
}

TEST_F(MigrateTest, AMissingSchemaIsRefusedWithTheCure) {
  EXPECT_EQ(refusal_of_schema(), "the database has no Allot schema yet: run 'allot migrate'");
}

TEST_F(MigrateTest, ANewerSchemaIsRefusedAndLeftAlone) {
  migrate(db_);
  db_.execute("INSERT INTO allot_schema VALUES (4711, '4711_later', 0, UTC_TIMESTAMP(6), '9.9.9')");
  const std::string refusal = refusal_of_schema();
  EXPECT_NE(refusal.find("version 4711"), std::string::npos) << refusal;
  EXPECT_NE(refusal.find("install the newer Allot"), std::string::npos) << refusal;
  EXPECT_THROW(migrate(db_), Error);
  EXPECT_EQ(schema_version(db_), 4711U);
  // The refusal released the name lock.
  EXPECT_EQ(db_.execute("SELECT IS_FREE_LOCK('allot.migrate')").front().next()->u64(0), 1U);
}

// State after a migrator that died between a migration and the line which records it.
TEST_F(MigrateTest, EachMayBeRunAgainOverItsOwnWork) {
  migrate(db_, kNext);
  db_.execute(
      "INSERT INTO queue (name, partitions, created_at) VALUES ('q', 1, UTC_TIMESTAMP(6));"
      "INSERT INTO task_moved VALUES (1, 0, 1, 7, 8, 9)");
  db_.execute("DELETE FROM allot_schema WHERE version > 0");
  EXPECT_EQ(migrate(db_, kNext).size(), kNext.size());
  EXPECT_EQ(db_.execute("SELECT 1 FROM queue").front().row_count(), 1U);
  auto kept = db_.execute("SELECT run_key, later FROM task_moved");
  const auto row = kept.front().next();
  EXPECT_EQ(row->u64(0), 8U);
  EXPECT_EQ(row->u64(1), 9U);
}

TEST_F(MigrateTest, ANewerBuildAppliesWhatIsMissing) {
  migrate(db_);
  const unsigned now = kMigrations.size();
  const auto is_at = [](unsigned there, unsigned wanted) {
    return "the schema is at version " + std::to_string(there) + ", this Allot (" +
           std::string(kVersion) + ") is written for " + std::to_string(wanted) + ": ";
  };
  EXPECT_EQ(refusal_of_schema(kNext), is_at(now, now + 1) + "run 'allot migrate'");
  EXPECT_EQ(migrate(db_, kNext), std::vector<std::string>{"9999_made_up"});
  EXPECT_EQ(refusal_of_schema(kNext), "");
  EXPECT_EQ(migrate(db_, kNext).size(), 0U);
  // The previous build refuses to start, and clients continue.
  EXPECT_EQ(refusal_of_schema(), is_at(now + 1, now) + "install the newer Allot on this host too");
  require_schema(db_, Newer::kTaken);
}

// Another text under an existing number: from another branch, or an edit.
TEST_F(MigrateTest, ADatabaseOfOtherMigrationsIsRefused) {
  static constexpr sql::SqlText kOther{"9999_other", "CREATE TABLE other (a INT) ENGINE=InnoDB"};
  static constexpr auto kList = followed_by(kOther);
  migrate(db_, kNext);
  const std::string refusal =
      "migration 9999_made_up of this database is not the 9999_other of"
      " this Allot (" +
      std::string(kVersion) + "): use the Allot that made it, or an empty database";
  EXPECT_EQ(refusal_of_schema(kList), refusal);
  EXPECT_EQ(refusal_of([&] { migrate(db_, kList); }), refusal);
  EXPECT_EQ(db_.execute("SHOW TABLES LIKE 'other'").front().row_count(), 0U);
}

constexpr const char* kPreRelease =
    "this database was made by a pre-release Allot, and its schema cannot be upgraded: let that "
    "Allot"
    " finish its tasks, then use an empty database";

// Before the first release allot_schema had no checksum, and its numbers meant other schemas.
TEST_F(MigrateTest, ADatabaseOfAPreReleaseIsRefusedAndLeftAlone) {
  db_.execute(
      "CREATE TABLE allot_schema (version INT UNSIGNED NOT NULL PRIMARY KEY,"
      " name VARCHAR(63) NOT NULL, applied_at DATETIME(6) NOT NULL, applied_by VARCHAR(31) NOT "
      "NULL)"
      " ENGINE=InnoDB");
  const std::string refusal = kPreRelease;
  for (const char* row : {"1, '0001_initial'", "2, '0002_detached'", "9, '0009_resize'"}) {
    db_.execute("INSERT INTO allot_schema VALUES (" + std::string(row) +
                ", UTC_TIMESTAMP(6), '0.1.0')");
    EXPECT_EQ(refusal_of_schema(), refusal) << row;
    EXPECT_EQ(refusal_of([&] { require_schema(db_, Newer::kTaken); }), refusal) << row;
    EXPECT_EQ(refusal_of([&] { migrate(db_); }), refusal) << row;
  }
  EXPECT_EQ(tables(), std::set<std::string>{"allot_schema"});
}

// Before the first release eighteen migrations became one (decision 0007).
TEST_F(MigrateTest, ADatabaseOfTheFormerMigrationsIsRefusedAndLeftAlone) {
  migrate(db_);
  db_.execute("DELETE FROM allot_schema");
  // Checksums of the first and the last of them.
  for (const char* row :
       {"1, '0001_initial', 9122993357219749920", "18, '0018_errors', 9013764283508822571"}) {
    db_.execute("INSERT INTO allot_schema VALUES (" + std::string(row) +
                ", UTC_TIMESTAMP(6), '0.1.0')");
    EXPECT_EQ(refusal_of_schema(), kPreRelease) << row;
    EXPECT_EQ(refusal_of([&] { require_schema(db_, Newer::kTaken); }), kPreRelease) << row;
    EXPECT_EQ(refusal_of([&] { migrate(db_); }), kPreRelease) << row;
  }
  EXPECT_EQ(schema_version(db_), 18U);
  EXPECT_EQ(tables(), kTables);
}

TEST_F(MigrateTest, OnlyOneOfManyConcurrentCallsMigrates) {
  std::vector<std::future<std::size_t>> migrators;
  for (int i = 0; i < 8; ++i) {
    migrators.push_back(std::async(std::launch::async, [this] {
      Connection db = Database::shared().connect(name_);
      return migrate(db).size();
    }));
  }
  std::size_t applied = 0;
  for (auto& migrator : migrators) applied += migrator.get();
  EXPECT_EQ(applied, kMigrations.size());
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

// Dies by SIGKILL while the server waits in the middle of a migration for a locked table. Whether
// the server executes the rest of the packet or not, the next call ends with the whole schema.
class KilledMigratorTest : public MigrateTest {
 protected:
  // db_ locks the table that the migrator waits for, until it releases it.
  void kill_in_the_middle(Migrations all) {
    const ConnectOptions options = Database::shared().options(name_);
    const pid_t child = ::fork();
    if (child == 0) {
      Connection db(options);
      migrate(db, all);
      ::_exit(0);
    }
    const bool stuck = eventually([&] { return waiting_for_a_table("AND db = DATABASE()") == 1; });
    support::send_signal(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(stuck);
    ASSERT_TRUE(WIFSIGNALED(status)) << "it had ended before it was killed";
  }
  std::uint64_t waiting_for_a_table(const std::string& who = {}) {
    return support::number_of(watcher_,
                              "SELECT COUNT(*) FROM information_schema.processlist"
                              " WHERE state LIKE 'Waiting for table metadata lock%' " +
                                  who);
  }
  bool exists(const std::string& table) {
    return watcher_.execute("SHOW TABLES LIKE '" + table + "'").front().row_count() == 1;
  }

  Connection watcher_ = Database::shared().connect(name_);
};

TEST_F(KilledMigratorTest, TheFirstMigrationIsHealedByTheNextMigrator) {
  // On MySQL, CREATE TABLE IF NOT EXISTS waits only for the lock of a session that drops the table.
  db_.execute("CREATE TABLE task_moved (a INT); BEGIN; SELECT * FROM task_moved");
  auto dropped = std::async(std::launch::async, [this] {
    Database::shared().connect().execute("SET SESSION lock_wait_timeout = 60; DROP TABLE " + name_ +
                                         ".task_moved");
  });
  EXPECT_TRUE(eventually([&] { return waiting_for_a_table() == 1; }));
  kill_in_the_middle(kMigrations);
  EXPECT_EQ(schema_version(watcher_), 0U);
  EXPECT_FALSE(exists("task_dead"));
  db_.execute("COMMIT");
  dropped.get();
  EXPECT_LE(migrate(watcher_).size(), kMigrations.size());
  EXPECT_EQ(schema_version(watcher_), kMigrations.size());
  EXPECT_EQ(tables(), kTables);
  EXPECT_EQ(watcher_.execute("SHOW COLUMNS FROM task_moved LIKE 'run_key'").front().row_count(),
            1U);
}

TEST_F(KilledMigratorTest, AFurtherMigrationIsHealedByTheNextMigrator) {
  migrate(db_);
  db_.execute("INSERT INTO task_moved VALUES (1, 0, 1, 7, 8); LOCK TABLES task_moved WRITE");
  kill_in_the_middle(kNext);
  EXPECT_EQ(schema_version(watcher_), kMigrations.size());
  EXPECT_FALSE(exists("later"));
  db_.execute("UNLOCK TABLES");
  EXPECT_LE(migrate(watcher_, kNext).size(), 1U);
  EXPECT_EQ(schema_version(watcher_), kNext.size());
  EXPECT_TRUE(exists("later"));
  EXPECT_EQ(watcher_.execute("SELECT later FROM task").front().row_count(), 0U);
  auto rows = watcher_.execute("SELECT run_key FROM task_moved WHERE later IS NULL");
  EXPECT_EQ(rows.front().next()->u64(0), 8U);
}

}  // namespace
}  // namespace allot::db
