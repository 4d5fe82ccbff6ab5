// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>

namespace allot::gateway::http {

using Clock = std::chrono::steady_clock;

// Interface for ending a connection from outside. Server thread only.
class Connection {
 public:
  Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  virtual ~Connection() = default;

  [[nodiscard]] virtual Clock::time_point deadline() const = 0;
  // Ends the connection after its deadline, with an answer to the peer where useful.
  virtual void expire() = 0;
  // Ends after the request in flight, at once if there is none, because the server stops.
  virtual void leave() = 0;
  // Ends at once.
  virtual void cut() = 0;
};

// Limit that a connection counts against.
enum class Kind {
  kLocal,    // came through the unix socket
  kNetwork,  // over TCP
  kGuest     // above a limit: may request the health, and gets 503 for anything else
};

// Accounting of a connection.
struct LimitKey {
  Kind kind = Kind::kLocal;
  std::string group{};  // connections of a group share a limit; empty: no group
};

// All open connections: their number per kind and group, which ones wait for a request, and which
// are late. Server thread only.
class Connections {
 private:
  struct Entry;

 public:
  using Place = std::list<Entry>::iterator;

  // The new connection waits for its first request.
  [[nodiscard]] Place add(std::shared_ptr<Connection> connection, const LimitKey& key);
  void remove(Place place);
  // Marks it as waiting for a request; the time counts from the first call after works().
  void waits(Place place);
  // Marks it as having a whole head: it is not closed in favour of another connection.
  void works(Place place);

  // Includes connections that are ending.
  [[nodiscard]] std::size_t size() const { return all_.size(); }
  // Excludes connections that are ending.
  [[nodiscard]] std::size_t of(Kind kind) const { return count_.at(index(kind)); }
  [[nodiscard]] std::size_t of_group(const std::string& group) const;

  // Ends the connection that has waited longest for a request. False: none of this kind waits.
  [[nodiscard]] bool make_way(Kind kind);
  [[nodiscard]] bool make_way_in(const std::string& group);

  // Called once per clock turn, so deadlines have the precision of a turn. A timer for each
  // connection would cost more.
  void expire_late(Clock::time_point now);
  void leave_all();
  void cut_all();

 private:
  using Waiting = std::list<Place>;
  struct Group {
    std::size_t count = 0;
    Waiting waiting{};  // longest wait first
  };
  struct Entry {
    std::shared_ptr<Connection> connection;
    LimitKey key;
    bool counts = true;
    bool waits = false;
    Waiting::iterator in_kind{};
    Waiting::iterator in_group{};
  };

  static constexpr std::size_t kKinds = 3;
  [[nodiscard]] static constexpr std::size_t index(Kind kind) {
    return static_cast<std::size_t>(kind);
  }
  bool end_first(const Waiting& waiting);
  // Removes it from all limits.
  void discount(Place place);
  // Walks over a copy, because a connection that ends leaves the list.
  void for_all(const std::function<void(Connection&)>& act) const;

  std::list<Entry> all_;
  std::array<std::size_t, kKinds> count_{};
  std::array<Waiting, kKinds> waiting_{};
  std::map<std::string, Group> groups_;
};

}  // namespace allot::gateway::http
