// SPDX-License-Identifier: Apache-2.0
#include "db/client/fixture.h"

#include <utility>

namespace allot::client {

using support::Database;

std::string emptied_database() {
  static const std::string kName = Database::shared().make_database();
  db::Connection db = Database::shared().connect(kName);
  db.execute("SET SESSION sql_safe_updates = 0");
  for (const char* table :
       {"task", "task_moved", "task_attempt", "task_running", "task_dead", "task_unique",
        "task_cancel", "fair_partition", "q_lock_table", "queue_pause", "queue"}) {
    db.execute(std::string("DELETE FROM ") + table);
  }
  return kName;
}

ClientTest::ClientTest(std::string database)
    : name_(std::move(database)),
      look_(Database::shared().connect(name_)),
      queue_(queue::ensure_queue(look_, "q", {4})),
      client_(settings()) {}

ClientSettings ClientTest::settings() const {
  ClientSettings settings;
  settings.socket = Database::shared().socket();
  settings.user = "root";
  settings.name = name_;
  return settings;
}

NewTask ClientTest::unique(const std::string& key, const std::string& payload) {
  NewTask unique = task(payload);
  unique.options.unique_key = key;
  return unique;
}

std::string ClientTest::value(const std::string& sql) {
  auto results = look_.execute(sql);
  const auto row = results.front().next();
  return row ? std::string(row->text(0)) : "no row";
}

std::string error_of(const std::function<void()>& call) {
  try {
    call();
    return "";
  } catch (const ClientError& error) {
    switch (error.kind()) {
      case ErrorKind::kBadInput:
        return std::string("bad_input: ") + error.what();
      case ErrorKind::kConfig:
        return std::string("config: ") + error.what();
      case ErrorKind::kUnavailable:
        return std::string("unavailable: ") + error.what();
      case ErrorKind::kRolledBack:
        return std::string("rolled_back: ") + error.what();
      case ErrorKind::kOutcomeUnknown:
        return std::string("outcome_unknown: ") + error.what();
      case ErrorKind::kFailed:
        return std::string("failed: ") + error.what();
    }
    return "no kind";
  }
}

Application::Application(const std::string& database) : handle_(mysql_init(nullptr), mysql_close) {
  const std::string socket = Database::shared().socket();
  if (mysql_real_connect(handle_.get(), nullptr, "root", "", database.c_str(), 0, socket.c_str(),
                         0) == nullptr) {
    throw std::runtime_error(mysql_error(handle_.get()));
  }
}

void Application::run(const std::string& sql) {
  if (mysql_query(handle_.get(), sql.c_str()) != 0) {
    throw std::runtime_error(sql + ": " + mysql_error(handle_.get()));
  }
}

std::string Application::value(const std::string& sql) {
  run(sql);
  const std::unique_ptr<MYSQL_RES, decltype(&mysql_free_result)> rows(
      mysql_store_result(handle_.get()), mysql_free_result);
  MYSQL_ROW row = mysql_fetch_row(rows.get());
  if (row == nullptr) return "no row";
  return row[0] == nullptr ? "NULL" : row[0];
}

}  // namespace allot::client
