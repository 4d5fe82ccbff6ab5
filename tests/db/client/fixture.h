// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <mysql.h>

#include <functional>
#include <memory>
#include <string>

#include "allot/client.h"
#include "db/connection.h"
#include "queue/model/catalog.h"
#include "support/database.h"

namespace allot::client {

// A database with the queue "q" of four partitions, and a client of it.
class ClientTest : public testing::Test {
 protected:
  explicit ClientTest(std::string database = support::emptied_database());

  [[nodiscard]] ClientSettings settings() const;
  [[nodiscard]] static NewTask task(const std::string& payload = "x") {
    return {.queue = "q", .type = "t", .payload = payload};
  }
  [[nodiscard]] static NewTask unique(const std::string& key, const std::string& payload = "x");

  // First field of the first row, on a separate connection.
  std::string value(const std::string& sql) { return support::value_of(observer_, sql); }
  // Number of connections to this database; end_connections() ends all of them except observer_.
  std::uint64_t connections();
  void end_connections();
  std::uint64_t tasks() { return support::number_of(observer_, "SELECT COUNT(*) FROM task"); }

  std::string name_;
  db::Connection observer_;
  queue::QueueInfo queue_;
  Client client_;
};

// Error thrown by a call: "bad_input: ...", beginning with its kind; empty: none.
std::string error_of(const std::function<void()>& call);

// A connection with an application's defaults, without Allot's settings.
class Application {
 public:
  explicit Application(const std::string& database);
  void run(const std::string& sql);
  std::string value(const std::string& sql);
  [[nodiscard]] MYSQL* handle() const { return handle_.get(); }

 private:
  std::unique_ptr<MYSQL, decltype(&mysql_close)> handle_;
};

}  // namespace allot::client
