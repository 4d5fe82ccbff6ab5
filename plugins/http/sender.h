// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "connection.h"
#include "connector.h"
#include "targets.h"
#include "watchdog.h"

namespace http_plugin {

// Sends requests, reusing idle connections if permitted. Any thread may call it.
class Sender {
 public:
  // Throws std::invalid_argument for unusable TLS files.
  explicit Sender(const Targets& targets, Lookup lookup = look_up);

  // Throws Trouble.
  Answer send(const Target& target, const std::string& head, std::string_view body, Watch& watch);

 private:
  // Requests to the same place with the same client certificate, which identifies the client, may
  // share a connection.
  using Place = std::pair<Origin, TlsFiles>;
  struct Idle {
    Place place;
    std::unique_ptr<Connection> connection;
    Clock::time_point until;
  };
  using IdleList = std::list<Idle>;

  std::unique_ptr<Connection> connect(const Target& target, Watch& watch);
  // An idle connection that the target has not visibly closed; null: none.
  std::unique_ptr<Connection> take(const Place& place);
  // Keeps the connection for this time; then, or if there are too many, it is closed.
  void keep(Place place, std::unique_ptr<Connection> connection, std::chrono::milliseconds time);
  void drop_old(IdleList& dropped);

  Connector connector_;
  std::map<Place, Tls> tls_;
  std::mutex mutex_;
  IdleList idle_;  // most recent first; guarded by mutex_
};

}  // namespace http_plugin
