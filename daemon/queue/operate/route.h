// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/connection.h"
#include "queue/look/inspect.h"
#include "queue/model/catalog.h"

// What operators change: which queue takes the tasks of a type. submit/address.h is where routes
// are followed.
namespace allot::queue {

// The types that a route is for: one, or all that begin so.
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
  std::optional<std::string> from;  // the queue that tasks are submitted to; none: any
  TypePattern types;
  std::uint32_t target_id = 0;
  std::string to;
  std::string set_at;  // UTC, ISO 8601
};

// Those of a queue first, each in the order in which they are tried.
std::vector<Route> list_routes(db::Connection& db);

// Throws Error(kExitBadInput) where a route must not be: to the queue itself, to one that places
// its tasks in another way, or so that later tasks of a key would not wait for earlier ones. No
// `source`: a route of any queue.
void check_route(db::Connection& db, const std::optional<QueueInfo>& source,
                 const TypePattern& types, const QueueInfo& target);
// The same for the end of a route.
void check_end_of_route(db::Connection& db, const std::optional<QueueInfo>& source,
                        const TypePattern& types);

// How many tasks of these types have a unique key of the queue.
BoundedCount live_keys(db::Connection& db, const QueueInfo& queue, const TypePattern& types);

// Sets it, or changes where it leads. Submissions follow within a second; a task that exists stays
// where it is (S45). Throws Error when a transaction that submitted keeps a queue's row.
void set_route(db::Connection& db, const std::optional<QueueInfo>& source, const TypePattern& types,
               const QueueInfo& target);
// False: there was none.
bool remove_route(db::Connection& db, const std::optional<QueueInfo>& source,
                  const TypePattern& types);

}  // namespace allot::queue
