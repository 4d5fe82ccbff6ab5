// SPDX-License-Identifier: Apache-2.0
#include "queue/submit/address.h"

#include "base/error.h"
#include "base/mutant.h"
#include "queue/model/task.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

constexpr std::string_view kNone = "0";  // not a queue's number: matches routes without a source

std::optional<QueueInfo> find_route(db::Connection& db, const std::string& best) {
  db::Statement statement(sql::k_find_route);
  return db.read_first(statement.set_raw("best_route", best), queue_in);
}

}  // namespace

std::string best_route(std::string_view source_id, std::string_view source_placement,
                       std::string_view type) {
  db::Statement part(sql::k_best_route);
  return part.set_raw("source_id", std::string(source_id))
      .set_raw("source_placement", std::string(source_placement))
      .set("type", type)
      .render();
}

QueueInfo follow_route(db::Connection& db, QueueInfo named, std::string_view type) {
  if (!named.routed) return named;
  const std::string placement = db::Statement::quoted(name_of(named.shape.placement));
  auto taker = find_route(db, best_route(std::to_string(named.queue_id), placement, type));
  if (!taker) return named;
  taker->routed_from = named.queue_id;
  const bool again = mutant::removed("route_once") && taker->queue_id != named.queue_id;  // S45
  return again ? follow_route(db, std::move(*taker), type) : std::move(*taker);
}

QueueInfo follow_locked_route(db::Connection& db, const QueueInfo& locked, std::string_view type) {
  if (!locked.routed || !db.in_transaction()) return follow_route(db, locked, type);
  db::Statement statement(sql::k_lock_route);
  statement.set("source_id", locked.queue_id).set("type", type);
  auto taker = db.read_first(statement, queue_in);
  if (!taker) return locked;
  taker->routed_from = locked.queue_id;
  return std::move(*taker);
}

QueueInfo default_queue(db::Connection& db, std::string_view type) {
  if (auto taker = find_route(db, best_route(kNone, "''", type))) return std::move(*taker);
  throw Error("no queue is given, and no route exists for tasks of type '" + std::string(type) +
                  "' without one; name a queue, or set a default route: allot route set '*' QUEUE "
                  "--any-queue",
              kExitBadInput);
}

std::optional<QueueInfo> address(db::Connection& db, std::string_view name, std::string_view type) {
  if (name.empty()) return default_queue(db, type);
  auto named = find_queue(db, name);
  if (!named) return std::nullopt;
  return follow_route(db, std::move(*named), type);
}

const QueueInfo& Addresses::named(db::Connection& db, const std::string& name) {
  const auto known = named_.find(name);
  if (known != named_.end()) return known->second;
  if (find_) return named_.emplace(name, find_(db, name)).first->second;
  if (!is_name(name)) {
    throw Error("queue: not a queue name (1 to 63 of A-Z a-z 0-9 . _ -)", kExitBadInput);
  }
  auto found = find_or_make(db, name, configured_ ? configured_(name) : nullptr);
  if (found) return named_.emplace(name, std::move(*found)).first->second;
  throw Error("queue '" + name + "' does not exist; the daemon creates it at its start from a " +
                  "section [queues.\"NAME\"]",
              kExitBadInput);
}

const QueueInfo& Addresses::find(db::Connection& db, const std::string& name,
                                 const std::string& type) {
  const Nanos now = boot_ns();
  if (now - since_ns_ >= kKept) {
    named_.clear();
    routed_.clear();
    since_ns_ = now;
  }
  const QueueInfo* source = name.empty() ? nullptr : &named(db, name);
  if (source != nullptr && !source->routed) return *source;
  const std::pair<std::string, std::string> key(name, type);
  const auto known = routed_.find(key);
  if (known != routed_.end()) return known->second;
  QueueInfo taker = source == nullptr ? default_queue(db, type) : follow_route(db, *source, type);
  return routed_.emplace(key, std::move(taker)).first->second;
}

}  // namespace allot::queue
