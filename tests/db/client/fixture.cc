// SPDX-License-Identifier: Apache-2.0
#include "db/client/fixture.h"

#include <utility>

#include "support/eventually.h"

namespace allot::client {

using support::Database;

ClientTest::ClientTest(std::string database)
    : name_(std::move(database)),
      observer_(Database::shared().connect(name_)),
      queue_(queue::ensure_queue(observer_, "q", {4})),
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

std::uint64_t ClientTest::connections() {
  return support::number_of(
      observer_, "SELECT COUNT(*) FROM information_schema.processlist WHERE db = DATABASE()");
}

void ClientTest::end_connections() {
  observer_.execute(
      value("SELECT GROUP_CONCAT('KILL ', id SEPARATOR ';') FROM information_schema.processlist"
            " WHERE db = DATABASE() AND id <> CONNECTION_ID()"));
  ASSERT_TRUE(support::eventually([&] { return connections() == 1; }));
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
