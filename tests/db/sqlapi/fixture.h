// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "db/connection.h"
#include "queue/look/inspect.h"
#include "queue/model/catalog.h"
#include "queue/submit/submit.h"
#include "support/database.h"
#include "support/db_error.h"

namespace allot::sqlapi {

// What `CALL allot_submit(...)` told.
struct Made {
  std::string id;
  bool existed = false;
};

// CALL allot_submit and the SELECT of its answer, in one trip. `options` is a JSON text.
Made call_submit(db::Connection& db, const std::string& queue, const std::string& type,
                 const std::string& payload, const std::optional<std::string>& options = {});

// A database with the queues "default" (four partitions) and "narrow" (one), and a connection
// whose session is as a client finds it: the server's defaults, and no safe updates.
class SqlApiTest : public testing::Test {
 protected:
  SqlApiTest();

  [[nodiscard]] db::Connection connect() const;
  // With the settings that an application's session has by default, and REPEATABLE READ.
  [[nodiscard]] db::Connection connect_application() const;
  // What the call is refused with; empty when it went well.
  std::string refusal(const std::string& type, const std::string& payload,
                      const std::optional<std::string>& options = {});
  // The task as everybody else sees it, committed.
  std::optional<queue::TaskView> task(const Made& made);
  std::string value(const std::string& sql) { return support::value_of(look_, sql); }
  std::uint64_t number(const std::string& sql) { return support::number_of(look_, sql); }
  std::uint64_t tasks() { return number("SELECT COUNT(*) FROM task"); }
  std::uint64_t keys() { return number("SELECT COUNT(*) FROM task_unique"); }

  std::string name_;
  db::Connection look_;
  queue::QueueInfo default_;
  queue::QueueInfo narrow_;
  db::Connection app_;
};

// CALL allot_submit_many of a JSON list, and what it made.
nlohmann::json call_submit_many(db::Connection& db, const std::string& tasks);

// Options with one unique key.
std::string unique(const std::string& key);

}  // namespace allot::sqlapi
