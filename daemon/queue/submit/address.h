// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "config/settings.h"
#include "db/connection.h"
#include "queue/model/catalog.h"

// Target queue of a submission. Every interface calls this when it reads the queue, and routes are
// applied nowhere else (S45). In SQL, sql/procedures/allot_address.sql does the same.
namespace allot::queue {

// The queue for a task of `type` submitted to `named`, which the caller has just read: the target
// of a route, or `named` itself. Costs nothing if no route concerns `named`. Routes of the target
// are not followed.
QueueInfo follow_route(db::Connection& db, QueueInfo named, std::string_view type);

// The same for an ordered or limited queue whose row lock_layouts() has just read. In an open
// transaction, the queue takes tasks of `type` until it ends.
QueueInfo follow_locked_route(db::Connection& db, const QueueInfo& locked, std::string_view type);

// The queue for a task of `type` submitted without a queue. Throws Error(kExitBadInput) if no route
// takes it.
QueueInfo default_queue(db::Connection& db, std::string_view type);

// Finds the queue by its name, empty for none, and follows the routes. nullopt: no queue of that
// name.
std::optional<QueueInfo> address(db::Connection& db, std::string_view name, std::string_view type);

// The same for a caller that submits many tasks, or for long: keeps results so briefly that a route
// is followed within a second, including the time of the submission itself. One thread at a time.
class Addresses {
 public:
  static constexpr Nanos kKept = kSecond / 2;

  // Finds a queue by name; throws Error for an unknown one.
  using Find = std::function<QueueInfo(db::Connection& db, const std::string& name)>;
  // The configuration of a queue; nullptr: not configured.
  using Configured = std::function<const config::Queue*(const std::string& queue)>;
  // Without `find`, a missing queue is made from its configuration.
  explicit Addresses(Find find, Configured configured = {})
      : find_(std::move(find)), configured_(std::move(configured)) {}

  // The reference is valid until the next call. Throws like `find` and default_queue().
  const QueueInfo& find(db::Connection& db, const std::string& name, const std::string& type);

 private:
  const QueueInfo& named(db::Connection& db, const std::string& name);

  Find find_;
  Configured configured_;
  std::map<std::string, QueueInfo> named_;
  std::map<std::pair<std::string, std::string>, QueueInfo> routed_;  // by name and type
  Nanos since_ns_ = 0;                                               // of the first entry
};

// best_route.sql as a part of another statement: SQL of the queue's number and placement, and a
// type.
std::string best_route(std::string_view source_id, std::string_view source_placement,
                       std::string_view type);

}  // namespace allot::queue
