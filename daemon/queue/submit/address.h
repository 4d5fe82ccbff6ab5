// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "db/connection.h"
#include "queue/model/catalog.h"

// Where a task goes that somebody submits. Every door asks here, when it looks for the queue, and
// routes are applied nowhere else (S45). In SQL sql/procedures/allot_address.sql does the same.
namespace allot::queue {

// The queue that takes a task of `type` submitted to `named`, which the caller has just read: the
// one that a route says, or itself. Costs nothing where no route concerns `named`. It happens once:
// the routes of the other queue are not asked.
QueueInfo follow_route(db::Connection& db, QueueInfo named, std::string_view type);

// The same for an ordered or limited queue whose row lock_layouts() has just read. Where a
// transaction is open, the queue takes tasks of `type` until it ends.
QueueInfo follow_locked_route(db::Connection& db, const QueueInfo& locked, std::string_view type);

// The queue that takes a task of `type` which names none. Throws Error(kExitBadInput): no route
// does.
QueueInfo default_queue(db::Connection& db, std::string_view type);

// Looks the queue up by its name, empty for none, and does one of the two. nullopt: there is no
// queue of that name.
std::optional<QueueInfo> address(db::Connection& db, std::string_view name, std::string_view type);

// The same for a caller that submits much, or for long: it remembers what it found for so short a
// time that a route is followed within a second, with the time of the submission itself. One thread
// uses it at a time.
class Addresses {
 public:
  static constexpr Nanos kKept = kSecond / 2;

  // Finds a queue by its name, or makes it; throws Error when there is none.
  using Find = std::function<QueueInfo(db::Connection& db, const std::string& name)>;
  explicit Addresses(Find find) : find_(std::move(find)) {}

  // The reference is valid until the next call. Throws as `find` and default_queue() do.
  const QueueInfo& find(db::Connection& db, const std::string& name, const std::string& type);

 private:
  const QueueInfo& named(db::Connection& db, const std::string& name);

  Find find_;
  std::map<std::string, QueueInfo> named_;
  std::map<std::pair<std::string, std::string>, QueueInfo> routed_;  // by name and type
  Nanos since_ns_ = 0;                                               // of the first of them
};

// best_route.sql as a part of another statement: the SQL of the queue's number and placement, and a
// type.
std::string best_route(std::string_view source_id, std::string_view source_placement,
                       std::string_view type);

}  // namespace allot::queue
