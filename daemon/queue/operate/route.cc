// SPDX-License-Identifier: Apache-2.0
#include "queue/operate/route.h"

#include <algorithm>
#include <set>

#include "queue/model/audit.h"
#include "queue/model/statements.h"
#include "queue/model/task.h"
#include "queue/operate/move.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

constexpr int kChangeTries = 8;
constexpr unsigned kDeadlockError = 1213;

[[noreturn]] void refuse_route(const std::string& why) {
  throw Error(why, kExitBadInput);
}

std::string placed(const QueueInfo& queue) {
  return "queue '" + queue.name + "' is " + std::string(name_of(queue.shape.placement));
}

std::uint32_t id_of(const std::optional<QueueInfo>& source) {
  return source ? source->queue_id : 0;
}

std::string from(const std::optional<QueueInfo>& source) {
  return source ? "from " + source->name : std::string("from any queue");
}

db::Statement of_source(const sql::SqlText& sql, const std::optional<QueueInfo>& source) {
  db::Statement statement(sql);
  return statement.set("source_id", id_of(source));
}

db::Statement of_route(const sql::SqlText& sql, const std::optional<QueueInfo>& source,
                       const TypePattern& types) {
  db::Statement statement = of_source(sql, source);
  return statement.set("is_prefix", types.is_prefix).set("pattern", types.text);
}

// One packet: locks all routes, writes the change, and settles its effect on the queues. If tasks
// of a key wait for each other, the layouts of the former queues are locked first, and their tasks
// checked.
std::vector<db::Statement> packet_of(const db::Statement& change,
                                     const std::optional<QueueInfo>& source,
                                     const TypePattern& types) {
  const bool keyed = source && source->is_keyed();
  std::vector<db::Statement> packet;
  if (keyed) packet.push_back(of_source(sql::k_next_layout, source));
  packet.emplace_back(sql::k_begin_routes);
  if (keyed) {
    packet.push_back(of_source(sql::k_next_layout_of_takers, source));
    packet.push_back(of_route(sql::k_require_no_tasks, source, types));
  }
  packet.push_back(change);
  packet.emplace_back(sql::k_settle_routes);
  return packet;
}

bool has_tasks(db::Connection& db, const QueueInfo& queue, const TypePattern& types) {
  bool found = false;
  each_waiting(db, queue, [&](const Waiting& task) {
    found = types.takes(task.type);
    return !found;
  });
  return found;
}

// Queues that may take tasks submitted to `source` until now; all have the same placement.
std::vector<QueueInfo> takers(db::Connection& db, const QueueInfo& source) {
  std::set<std::string> names{source.name};
  for (const Route& route : list_routes(db)) {
    if (route.source_id == source.queue_id) names.insert(route.to);
  }
  std::vector<QueueInfo> queues = list_queues(db);
  std::erase_if(queues, [&](const QueueInfo& queue) { return !names.contains(queue.name); });
  return queues;
}

// Sent again after a deadlock, which rolled it back, and after a task that blocked it is gone.
std::uint64_t change_routes(db::Connection& db, const Action& action, const db::Statement& change,
                            const std::optional<QueueInfo>& source, const TypePattern& types) {
  const std::vector<db::Statement> packet = packet_of(change, source, types);
  for (int tries = 1;; ++tries) {
    try {
      const auto results = act(db, action, packet);
      return results.at(results.size() - 2).affected();
    } catch (const db::DbError& error) {
      const bool in_the_way = error.number() == kOutOfRange;
      if (!in_the_way && error.error_class() != db::ErrorClass::kRetryable) throw;
      if (in_the_way) check_end_of_route(db, source, types);
      if ((in_the_way || error.number() == kDeadlockError) && tries < kChangeTries) continue;
      throw Error(
          "no route was changed: a transaction that submitted to one of the queues is still open; "
          "try again when it has ended");
    }
  }
}

}  // namespace

TypePattern pattern_of(std::string_view word) {
  TypePattern types{std::string(word), word.ends_with('*')};
  if (types.is_prefix) types.text.pop_back();
  if (types.is_prefix && types.text.empty()) return types;
  if (is_type(types.text)) return types;
  refuse_route(
      "TYPE: 1 to 127 of A-Z a-z 0-9 . _ - are allowed, such as mail.send; a prefix followed by *, "
      "such as mail.*, matches all types with this prefix; * matches any type");
}

std::string text_of(const TypePattern& pattern) {
  return pattern.text + (pattern.is_prefix ? "*" : "");
}

std::vector<Route> list_routes(db::Connection& db) {
  return db.read_all<Route>(db::Statement(sql::k_list_routes),
                            [](const db::Row& row, Route& route) {
                              row.read(0, route.source_id, route.from, route.types.is_prefix,
                                       route.types.text, route.target_id, route.to, route.set_at);
                            });
}

void check_route(db::Connection& db, const std::optional<QueueInfo>& source,
                 const TypePattern& types, const QueueInfo& target) {
  if (!source) {
    if (!target.is_keyed()) return;
    refuse_route(placed(target) +
                 ": a route of any queue would also take tasks from ordered, limited and fair "
                 "queues; name the queue with --from");
  }
  if (source->queue_id == target.queue_id)
    refuse_route("a route from queue '" + source->name + "' to itself");
  if (source->shape.placement != target.shape.placement) {
    refuse_route(placed(*source) + ", and " + placed(target) +
                 ": both queues of a route must have the same placement");
  }
  check_end_of_route(db, source, types);
}

// A later task of a key does not wait for one in another queue. Only names such a task;
// require_no_tasks.sql decides.
void check_end_of_route(db::Connection& db, const std::optional<QueueInfo>& source,
                        const TypePattern& types) {
  if (!source || !source->is_keyed()) return;
  for (const QueueInfo& queue : takers(db, *source)) {
    if (queue.resizing) {
      refuse_route(
          "queue '" + queue.name +
          "' is being resized: tasks of its former layout wait or run; try again when it is done");
    }
    if (!has_tasks(db, queue, types)) continue;
    refuse_route(placed(queue) + " and has tasks of type " + text_of(types) +
                 ", which later tasks of their keys would not wait for; let them run first");
  }
}

BoundedCount live_keys(db::Connection& db, const QueueInfo& queue, const TypePattern& types) {
  db::Statement count(sql::k_live_keys);
  count.set("queue_id", queue.queue_id)
      .set("is_prefix", types.is_prefix)
      .set("pattern", types.text)
      .set("limit", kCountBound + 1);
  return up_to(kCountBound, db.read_number(count));
}

void set_route(db::Connection& db, const std::optional<QueueInfo>& source, const TypePattern& types,
               const QueueInfo& target) {
  db::Statement set = of_route(sql::k_set_route, source, types);
  change_routes(db,
                {"set_route", "route", text_of(types), found_plain({}, target.name), from(source)},
                set.set("target_id", target.queue_id), source, types);
}

bool remove_route(db::Connection& db, const std::optional<QueueInfo>& source,
                  const TypePattern& types) {
  const Action action{"remove_route", "route", text_of(types),
                      of_route(sql::k_audit_route, source, types), from(source)};
  return change_routes(db, action, of_route(sql::k_remove_route, source, types), source, types) > 0;
}

}  // namespace allot::queue
