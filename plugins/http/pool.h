// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <list>
#include <memory>
#include <mutex>
#include <string>

#include "connection.h"
#include "watchdog.h"

namespace http_plugin {

// Idle connections, by target. Any thread may call it.
class Pool {
 public:
  // A connection that the target has not visibly closed; null: none.
  std::unique_ptr<Connection> take(const std::string& target);
  // Keeps the connection for this time; then, or if there are too many, it is closed.
  void keep(const std::string& target, std::unique_ptr<Connection> connection,
            std::chrono::milliseconds time);

 private:
  struct Idle {
    std::string target;
    std::unique_ptr<Connection> connection;
    Clock::time_point until;
  };
  using List = std::list<Idle>;
  std::unique_ptr<Connection> take_any(const std::string& target);
  void drop_old(List& dropped);

  std::mutex mutex_;
  List idle_;  // most recent first
};

}  // namespace http_plugin
