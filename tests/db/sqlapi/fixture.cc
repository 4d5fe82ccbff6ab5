// SPDX-License-Identifier: Apache-2.0
#include "db/sqlapi/fixture.h"

namespace allot::sqlapi {
namespace {

using support::Database;

std::string emptied_database() {
  std::string name = support::emptied_database();
  Database::shared().connect(name).execute("ALTER TABLE queue AUTO_INCREMENT = 1");
  return name;
}

}  // namespace

Made call_submit(db::Connection& db, const std::string& queue, const std::string& type,
                 const std::string& payload, const std::optional<std::string>& options) {
  auto results =
      db.execute("CALL allot_submit(" + db::Statement::quoted(queue) + ", " +
                 db::Statement::quoted(type) + ", _binary" + db::Statement::quoted(payload) + ", " +
                 (options ? db::Statement::quoted(*options) : "NULL") +
                 ", @id, @existed); SELECT @id, @existed");
  const auto row = results.back().next();
  return {std::string(row->text(0)), row->u64(1) != 0};
}

nlohmann::json call_submit_many(db::Connection& db, const std::string& tasks) {
  auto results = db.execute("CALL allot_submit_many(" + db::Statement::quoted(tasks) +
                            ", @made); SELECT @made");
  return nlohmann::json::parse(results.back().next()->text(0));
}

SqlApiTest::SqlApiTest()
    : name_(emptied_database()),
      observer_(connect()),
      default_(queue::ensure_queue(observer_, "default", {4})),
      narrow_(queue::ensure_queue(observer_, "narrow", {1})),
      app_(connect_application()) {}

db::Connection SqlApiTest::connect() const {
  return Database::shared().connect(name_);
}

db::Connection SqlApiTest::connect_application() const {
  db::Connection db = connect();
  db.execute(
      "SET SESSION sql_mode = DEFAULT, time_zone = DEFAULT, sql_safe_updates = DEFAULT"
      " /*M!110602 , innodb_snapshot_isolation = DEFAULT */;"
      "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ");
  return db;
}

std::string SqlApiTest::refusal(const std::string& type, const std::string& payload,
                                const std::optional<std::string>& options) {
  const auto error =
      support::db_error_of([&] { call_submit(app_, "default", type, payload, options); });
  if (!error) return "";
  EXPECT_EQ(error->number(), 1644U) << error->what();
  return error->what();
}

std::optional<queue::TaskView> SqlApiTest::task(const Made& made) {
  const auto id = queue::TaskId::parse(made.id);
  EXPECT_TRUE(id) << made.id;
  return id ? queue::show(observer_, *id) : std::nullopt;
}

std::string unique(const std::string& key) {
  return R"({"unique_key": ")" + key + "\"}";
}

}  // namespace allot::sqlapi
