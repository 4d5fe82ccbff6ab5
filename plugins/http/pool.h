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

// Connections that wait for another request, by target. Any thread may ask.
class Pool {
 public:
  // One that the target has not ended, as far as can be seen; null: there is none.
  std::unique_ptr<Connection> take(const std::string& target);
  // Keeps it for so long; then, or where there are many, it is closed.
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
  List idle_;                                           // the last kept in front
  Clock::time_point first_ = Clock::time_point::max();  // none is over its time before
};

}  // namespace http_plugin
