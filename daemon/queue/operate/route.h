// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/connection.h"
#include "queue/model/catalog.h"
#include "queue/model/task_facts.h"

// Changes of routes, which assign a queue to the tasks of a type. Submissions follow routes in
// submit/address.h.
namespace allot::queue {

// The types of a route: one, or all with this prefix.
struct TypePattern {
  std::string text;
  bool is_prefix = false;
  bool operator==(const TypePattern&) const = default;

  [[nodiscard]] bool takes(std::string_view type) const {
    return is_prefix ? type.starts_with(text) : type == text;
  }
};
// Reads "mail.send", "mail.*" or "*". Throws Error(kExitBadInput).
TypePattern pattern_of(std::string_view word);
std::string text_of(const TypePattern& pattern);

struct Route {
  std::uint32_t source_id = 0;
  std::optional<std::string> from;  // the queue that tasks are submitted to; nullopt: any
  TypePattern types;
  std::uint32_t target_id = 0;
  std::string to;
  std::string set_at;  // UTC, ISO 8601
};

// Routes of a queue first, in the order in which they are tried.
std::vector<Route> list_routes(db::Connection& db);

// Throws Error(kExitBadInput) for a forbidden route: to the queue itself, to a queue with another
// placement, or one after which later tasks of a key would not wait for earlier ones. No `source`:
// a route of any queue.
void check_route(db::Connection& db, const std::optional<QueueInfo>& source,
                 const TypePattern& types, const QueueInfo& target);
// The same check for the end of a route.
void check_end_of_route(db::Connection& db, const std::optional<QueueInfo>& source,
                        const TypePattern& types);

// Number of tasks of these types that have a unique key of the queue.
BoundedCount live_keys(db::Connection& db, const QueueInfo& queue, const TypePattern& types);

// Sets the route or changes its target. Submissions follow within a second; existing tasks stay
// where they are (S45). Throws Error if a transaction that submitted keeps the row of a queue
// locked.
void set_route(db::Connection& db, const std::optional<QueueInfo>& source, const TypePattern& types,
               const QueueInfo& target);
// False: there was no route.
bool remove_route(db::Connection& db, const std::optional<QueueInfo>& source,
                  const TypePattern& types);

}  // namespace allot::queue
