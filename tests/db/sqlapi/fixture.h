// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "db/connection.h"
#include "queue/model/catalog.h"
#include "queue/model/task_facts.h"
#include "queue/submit/submit.h"
#include "support/database.h"
#include "support/db_error.h"

namespace allot::sqlapi {

// Result of `CALL allot_submit(...)`.
struct Made {
  std::string id;
  bool existed = false;
};

// CALL allot_submit and the SELECT of its answer, in one trip. `options` is a JSON text.
Made call_submit(db::Connection& db, const std::string& queue, const std::string& type,
                 const std::string& payload, const std::optional<std::string>& options = {});

// A database with the queues "default" (four partitions) and "narrow" (one), and a connection with
// a client's session: the server's defaults, and no safe updates.
class SqlApiTest : public testing::Test {
 protected:
  SqlApiTest();

  [[nodiscard]] db::Connection connect() const;
  // With an application's default session settings, and REPEATABLE READ.
  [[nodiscard]] db::Connection connect_application() const;
  // Message that refuses the call; empty: success.
  std::string refusal(const std::string& type, const std::string& payload,
                      const std::optional<std::string>& options = {});
  // The task as seen by others, committed.
  std::optional<queue::TaskView> task(const Made& made);
  std::string value(const std::string& sql) { return support::value_of(observer_, sql); }
  std::uint64_t number(const std::string& sql) { return support::number_of(observer_, sql); }
  std::uint64_t tasks() { return number("SELECT COUNT(*) FROM task"); }
  std::uint64_t keys() { return number("SELECT COUNT(*) FROM task_unique"); }

  std::string name_;
  db::Connection observer_;
  queue::QueueInfo default_;
  queue::QueueInfo narrow_;
  db::Connection app_;
};

// CALL allot_submit_many with a JSON list; returns its result.
nlohmann::json call_submit_many(db::Connection& db, const std::string& tasks);

// Options with one unique key.
std::string unique(const std::string& key);

}  // namespace allot::sqlapi
