// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "allot/client.h"
#include "db/connection.h"
#include "gateway/api/application.h"
#include "gateway/http/server.h"
#include "queue/model/catalog.h"
#include "support/database.h"
#include "support/temp_dir.h"

namespace allot::contract {

// Target of all interfaces of a test: a database with these queues, and everything needed to reach
// it by each of them, all in this process.
//   default: 4 partitions; narrow: 1; ordered: 4, limited: 4, 2 of a key; fair: 4
class World {
 public:
  World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  ~World();

  // Before any interface is used: the server does not answer; calls end after that time.
  void move_away() { socket_ = "/nonexistent/socket"; }
  void keep_history() { history_ = true; }  // of default
  void limit_calls(std::chrono::milliseconds time) { call_timeout_ = time; }

  [[nodiscard]] const std::string& name() const { return name_; }
  // The test's own view, whatever the interfaces see.
  db::Connection& look() { return observer_; }
  [[nodiscard]] db::Connection connect() const;

  // Made at the first call.
  Client& client();
  const std::string& config_file();
  gateway::api::Application& gateway();
  const std::string& gateway_url();

 private:
  class Served;

  std::string name_;
  db::Connection observer_;
  support::TempDir folder_;
  std::string socket_;
  std::chrono::milliseconds call_timeout_{10'000};
  bool history_ = false;
  std::unique_ptr<Client> client_;
  std::string config_file_;
  std::unique_ptr<gateway::api::Application> gateway_;
  std::unique_ptr<Served> served_;
};

}  // namespace allot::contract
