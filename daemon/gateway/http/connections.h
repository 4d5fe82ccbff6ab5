// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <string>

namespace allot::gateway::http {

using Clock = std::chrono::steady_clock;

// A connection as it looks to whoever ends it from outside. Server's thread only.
class Connection {
 public:
  Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  virtual ~Connection() = default;

  [[nodiscard]] virtual Clock::time_point deadline() const = 0;
  // What it waits for did not come in time. It says so to its peer where that helps, and ends.
  virtual void expire() = 0;
  // The server stops: it ends with the request that is in flight, at once if there is none.
  virtual void leave() = 0;
  // It ends now.
  virtual void cut() = 0;
};

// All open connections, how many each address has, and which are late. Server's thread only.
class Connections {
 public:
  using Place = std::list<std::shared_ptr<Connection>>::iterator;

  [[nodiscard]] Place add(std::shared_ptr<Connection> connection, const std::string& address);
  void remove(Place place, const std::string& address);

  [[nodiscard]] std::size_t size() const { return all_.size(); }
  [[nodiscard]] std::size_t of_address(const std::string& address) const;

  // One clock for all of them costs less than a timer for each: a deadline is kept to a turn of it.
  void expire_late(Clock::time_point now);
  void leave_all();
  void cut_all();

 private:
  // A connection that ends leaves the list meanwhile, so these walk over a copy.
  [[nodiscard]] std::list<std::shared_ptr<Connection>> copy() const { return all_; }

  std::list<std::shared_ptr<Connection>> all_;
  std::map<std::string, std::size_t> of_address_;
};

}  // namespace allot::gateway::http
