// SPDX-License-Identifier: Apache-2.0
// Accounts that may call, with the privileges that the documents grant, and the limits of every
// caller.
#include <sstream>

#include "db/migrate.h"
#include "db/sqlapi/fixture.h"
#include "support/document.h"

namespace allot::sqlapi {
namespace {

using support::Database;

// Statements of docs/sql-api.md that name this account, for the database of a test.
std::vector<std::string> documented(const std::string& account, const std::string& database) {
  std::vector<std::string> statements;
  for (const std::string& block :
       support::examples(std::string(ALLOT_SOURCE_DIR) + "/docs/sql-api.md", "sql")) {
    std::istringstream lines(block);
    for (std::string line; std::getline(lines, line);) {
      if (line.find("'" + account + "'") == std::string::npos) continue;
      if (line.rfind("GRANT ", 0) != 0 && line.rfind("CREATE USER ", 0) != 0) continue;
      for (std::size_t at = 0; (at = line.find(" allot.", at)) != std::string::npos;) {
        line.replace(at, 7, " " + database + ".");
      }
      statements.push_back(line);
    }
  }
  EXPECT_GE(statements.size(), 2U) << account;
  return statements;
}

class RightsTest : public testing::Test {
 protected:
  RightsTest() : name_(Database::shared().make_empty_database()), root_(connect("root")) {
    for (const std::string& sql : support::grants("migrate", name_)) root_.execute(sql);
    db::ConnectOptions options = Database::shared().options(name_);
    options.user = "allot_migrate";
    options.password = "change-me";
    migrator_.emplace(options);
  }
  ~RightsTest() override {
    migrator_.reset();
    root_.execute("DROP USER IF EXISTS 'allot_migrate'@'%', 'shop'@'%'");
  }
  RightsTest(const RightsTest&) = delete;
  RightsTest& operator=(const RightsTest&) = delete;

  // Like a client of plain SQL, which reads no term: the database is selected after connecting.
  [[nodiscard]] db::Connection connect(const std::string& user) const {
    db::ConnectOptions options = Database::shared().options();
    options.user = user;
    db::Connection db(options);
    db.execute("USE " + name_);
    return db;
  }
  void migrate() {
    db::migrate(*migrator_);
    queue::ensure_queue(root_, "default", {4});
  }
  void make_shop() {
    root_.execute("CREATE USER 'shop'@'%'");
    for (const std::string& sql : documented("shop", name_)) {
      root_.execute(sql.substr(0, sql.find(';')));
    }
  }

  std::string name_;
  db::Connection root_;
  std::optional<db::Connection> migrator_;
};

constexpr const char* kList =
    R"(CALL allot_submit_many('[{"queue": "default", "type": "t"}]', @m))";

TEST_F(RightsTest, CallerHasNoOtherRights) {
  migrate();
  make_shop();
  db::Connection shop = connect("shop");
  const Made made = call_submit(shop, "default", "t", "secret", unique("k"));
  EXPECT_TRUE(call_submit(shop, "default", "t", "secret", unique("k")).existed);
  call_submit(shop, "default", "t", "secret");
  shop.execute(kList);
  shop.execute("CALL allot_task('" + made.id + "', @state)");
  shop.execute("CALL allot_find('default', 'k', @id, @state)");
  shop.execute("CALL allot_queue_figures('default')");
  shop.execute("CALL allot_cancel_as_done('" + call_submit(shop, "default", "t", "").id +
               "', '', @result)");
  shop.execute("CALL allot_cancel('" + made.id + "', 'not wanted', @result)");
  EXPECT_EQ(support::number_of(root_, "SELECT COUNT(*) FROM task"), 2U);

  for (const std::string& sql :
       {std::string("SELECT payload FROM task"), std::string("SELECT 1 FROM queue"),
        std::string("SELECT unique_key FROM task_unique"), std::string("SELECT 1 FROM task_dead"),
        std::string("DELETE FROM task"), std::string("UPDATE task SET payload = ''"),
        std::string("INSERT INTO task (queue_id, partition_no, run_key, type, payload)"
                    " VALUES (1, 0, 1, 't', '')"),
        std::string("CALL allot_put('default', 't', '', NULL, 0, @id, @existed)"),
        std::string("CALL allot_insert(1, 0, 1, 0, NULL, 't', '', @key)"),
        std::string("CALL allot_refuse('x')"),
        std::string("CALL allot_take_out(1, 0, 1, 1, '', @result)"),
        std::string("DROP PROCEDURE allot_submit"), std::string("DROP TABLE task"),
        std::string("CREATE TABLE t (a INT)")}) {
    EXPECT_EQ(support::error_class_of([&] { shop.execute(sql); }), "refused") << sql;
  }
}

TEST_F(RightsTest, EachRightIsForItsProcedureOnly) {
  migrate();
  make_shop();
  const std::pair<const char*, const char*> calls[] = {
      {"allot_submit", "CALL allot_submit('default', 't', '', NULL, @id, @existed)"},
      {"allot_submit_many", kList},
      {"allot_task", "CALL allot_task('0000000000000000', @state)"},
      {"allot_cancel", "CALL allot_cancel('0000000000000000', '', @result)"}};
  for (const auto& [revoked, unused] : calls) {
    const std::string of_it = std::string(" ON PROCEDURE ") + name_ + "." + revoked;
    root_.execute("REVOKE EXECUTE" + of_it + " FROM 'shop'@'%'");
    db::Connection shop = connect("shop");
    for (const auto& [name, call] : calls) {
      EXPECT_EQ(support::error_class_of([&, sql = call] { shop.execute(sql); }),
                name == revoked ? "refused" : "none")
          << name;
    }
    root_.execute("GRANT EXECUTE" + of_it + " TO 'shop'@'%'");
  }
}

// The definer may be locked, and an upgrade keeps the grants.
TEST_F(RightsTest, RightsOutliveTheMigratorAndAnUpgrade) {
  migrate();
  make_shop();
  EXPECT_TRUE(db::migrate(*migrator_).empty());
  root_.execute("ALTER USER 'allot_migrate'@'%' ACCOUNT LOCK");
  db::Connection shop = connect("shop");
  call_submit(shop, "default", "t", "x", unique("k"));
  shop.execute(kList);
  EXPECT_EQ(support::number_of(root_, "SELECT COUNT(*) FROM task"), 2U);
}

// A mark in a comment identifies them; without it, each start of an embedded database would write
// them again.
TEST_F(RightsTest, ProceduresAreMadeOnlyIfTheyDiffer) {
  migrate();
  const auto newest = [&] {
    return support::value_of(
        root_,
        "SELECT CONCAT(COUNT(*), '|', MIN(created)) FROM information_schema.routines"
        " WHERE routine_schema = DATABASE()");
  };
  // A clock set by the test distinguishes the seconds.
  migrator_->execute("SET timestamp = 2000000000");
  const std::string first = newest();
  db::migrate(*migrator_);
  EXPECT_EQ(newest(), first);
  root_.execute("ALTER PROCEDURE allot_submit COMMENT 'of another build'");
  db::migrate(*migrator_);
  const std::string second = newest();
  EXPECT_NE(second, first);
  migrator_->execute("SET timestamp = 2000000100");
  db::migrate(*migrator_);
  EXPECT_EQ(newest(), second);
  root_.execute("DROP PROCEDURE allot_key");
  db::migrate(*migrator_);
  EXPECT_NE(newest(), second);
}

// State after a restore without the routines, or without the account.
TEST_F(RightsTest, MigrateCreatesThemAgain) {
  migrate();
  root_.execute("DROP USER 'allot_migrate'@'%'");
  migrator_.reset();
  db::Connection other = connect("root");
  const auto gone = support::db_error_of([&] { call_submit(other, "default", "t", ""); });
  ASSERT_TRUE(gone);
  EXPECT_EQ(gone->number(), 1449U) << gone->what();
  EXPECT_TRUE(db::migrate(other).empty());
  EXPECT_FALSE(call_submit(other, "default", "t", "").existed);
  other.execute("DROP PROCEDURE allot_put");
  EXPECT_TRUE(db::migrate(other).empty());
  EXPECT_FALSE(call_submit(other, "default", "t", "").existed);
}

TEST_F(RightsTest, WithoutTheRightToMakeThemItIsSaid) {
  for (const char* right : {"CREATE ROUTINE", "ALTER ROUTINE"}) {
    root_.execute(std::string("REVOKE ") + right + " ON " + name_ + ".* FROM 'allot_migrate'@'%'");
    db::ConnectOptions options = Database::shared().options(name_);
    options.user = "allot_migrate";
    options.password = "change-me";
    db::Connection migrator(options);
    const auto error = support::db_error_of([&] { db::migrate(migrator); });
    ASSERT_TRUE(error) << right;
    EXPECT_EQ(error->error_class(), db::ErrorClass::kRefused) << error->what();
    EXPECT_NE(std::string(error->what()).find("needs CREATE ROUTINE, ALTER ROUTINE and EXECUTE"),
              std::string::npos)
        << error->what();
    EXPECT_EQ(db::schema_version(migrator), db::kMigrations.size()) << "the tables remain";
    root_.execute(std::string("GRANT ") + right + " ON " + name_ + ".* TO 'allot_migrate'@'%'");
  }
}

}  // namespace
}  // namespace allot::sqlapi
