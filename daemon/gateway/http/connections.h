// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
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

// Which limit a connection counts against.
enum class Kind {
  kLocal,    // it came through the unix socket
  kNetwork,  // over TCP
  kGuest     // beyond a limit: it may ask for the health, and is told 503 for anything else
};

// How a connection is counted.
struct Seat {
  Kind kind = Kind::kLocal;
  std::string group{};  // of connections that share a limit; empty: it has none of its own
};

// All open connections, how many there are of each kind and group, which of them wait for a
// request, and which are late. Server's thread only.
class Connections {
 private:
  struct Entry;

 public:
  using Place = std::list<Entry>::iterator;

  // It waits for its first request.
  [[nodiscard]] Place add(std::shared_ptr<Connection> connection, const Seat& seat);
  void remove(Place place);
  // It waits for a request; its time counts from the first call since works().
  void waits(Place place);
  // It has a whole head: it is not ended for the sake of another one.
  void works(Place place);

  // Also those that were ended and are not gone yet.
  [[nodiscard]] std::size_t size() const { return all_.size(); }
  // Without them.
  [[nodiscard]] std::size_t of(Kind kind) const { return count_.at(index(kind)); }
  [[nodiscard]] std::size_t of_group(const std::string& group) const;

  // Ends the connection that has waited for a request the longest. False: none of these waits.
  [[nodiscard]] bool make_way(Kind kind);
  [[nodiscard]] bool make_way_in(const std::string& group);

  // One clock for all of them costs less than a timer for each: a deadline is kept to a turn of it.
  void expire_late(Clock::time_point now);
  void leave_all();
  void cut_all();

 private:
  using Waiting = std::list<Place>;
  struct Group {
    std::size_t count = 0;
    Waiting waiting{};  // the one that has waited the longest is the first
  };
  struct Entry {
    std::shared_ptr<Connection> connection;
    Seat seat;
    bool counts = true;
    bool waits = false;
    Waiting::iterator in_kind{};
    Waiting::iterator in_group{};
  };

  static constexpr std::size_t kKinds = 3;
  [[nodiscard]] static constexpr std::size_t index(Kind kind) {
    return static_cast<std::size_t>(kind);
  }
  void end_first(const Waiting& waiting);
  // It counts against no limit any more.
  void discount(Place place);
  // A connection that ends leaves the list, so these walk over a copy.
  [[nodiscard]] std::list<std::shared_ptr<Connection>> copy() const;

  std::list<Entry> all_;
  std::array<std::size_t, kKinds> count_{};
  std::array<Waiting, kKinds> waiting_{};
  std::map<std::string, Group> groups_;
};

}  // namespace allot::gateway::http
