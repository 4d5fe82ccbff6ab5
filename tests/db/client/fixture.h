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

  // The first field of the first row, by a connection of its own.
  std::string value(const std::string& sql) { return support::value_of(look_, sql); }
  // Of all to this database; all but look_ are ended.
  std::uint64_t connections();
  void end_connections();
  std::uint64_t tasks() { return support::number_of(look_, "SELECT COUNT(*) FROM task"); }

  std::string name_;
  db::Connection look_;
  queue::QueueInfo queue_;
  Client client_;
};

// What a call threw: "bad_input: ...", with the word of its kind; empty: nothing.
std::string error_of(const std::function<void()>& call);

// A connection as an application opens one: without anything that Allot would set.
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
