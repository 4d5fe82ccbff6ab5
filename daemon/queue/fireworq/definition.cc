// SPDX-License-Identifier: Apache-2.0
#include "queue/fireworq/definition.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "base/checksum.h"
#include "base/error.h"
#include "db/transaction.h"
#include "queue/model/rate.h"
#include "queue/model/task.h"
#include "queue/operate/limits.h"
#include "queue/operate/resize.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

constexpr std::string_view kHiddenReason = "deleted by DELETE /queue";

std::string number_text(double number) {
  std::array<char, 64> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
  return {text.data(), end};
}

std::string hash_name(std::string_view name) {
  return "fireworq." + Checksum(name).hex();
}

// Statement that changes the rate to the wanted one.
db::Statement rate_statement(const FireworqQueue& wanted, const QueueInfo& queue) {
  if (wanted.burst == 0) return remove_rate_statement(queue);
  const double scaled = std::round(wanted.per_second * 1e6);
  const double bounded =
      std::clamp(scaled, static_cast<double>(kMinRate), static_cast<double>(kMaxRate));
  return set_rate_statement(
      queue, {static_cast<std::uint64_t>(bounded), std::min(wanted.burst, kMaxBurst)});
}

db::Statement put_statement(const FireworqQueue& wanted, const QueueInfo& queue) {
  db::Statement put(sql::k_put_fireworq);
  const auto burst = wanted.burst != 0 ? std::optional(wanted.burst) : std::nullopt;
  return put.set("queue_id", queue.queue_id)
      .set_bytes("name", wanted.name)
      .set("polling_interval", wanted.polling_interval)
      .set_raw("rate", burst ? number_text(wanted.per_second) : "NULL")
      .set("burst", burst)
      .set("hidden", kHiddenReason)
      .set("rated_only", kRatedOnly);
}

void read_definition(const db::Row& row, FireworqQueue& queue) {
  QueueInfo& info = queue.info;
  row.read(0, info.queue_id, queue.name, queue.polling_interval, queue.max_workers);
  if (!row.is_null(4)) queue.per_second = std::strtod(row.string(4).c_str(), nullptr);
  row.read(5, queue.burst, queue.hidden, info.name, info.shape.partitions, info.first_partition);
}

Routing routing_in(const db::Row& row) {
  return {row.string(0), row.string(1)};
}

std::vector<FireworqQueue> list_between(db::Connection& db, std::string_view first,
                                        std::string_view last) {
  db::Statement list(sql::k_list_fireworq);
  list.set_bytes("first_name", first).set_bytes("last_name", last);
  return db.read_all<FireworqQueue>(list, read_definition);
}

}  // namespace

std::uint32_t partitions_for(std::uint32_t max_workers) {
  const std::uint64_t all =
      (std::uint64_t{max_workers} + kWorkersOfPartition - 1) / kWorkersOfPartition;
  return static_cast<std::uint32_t>(std::max<std::uint64_t>(1, all));
}

bool FireworqQueue::says_as(const FireworqQueue& other) const {
  return polling_interval == other.polling_interval && max_workers == other.max_workers &&
         per_second == other.per_second && burst == other.burst && hidden == other.hidden;
}

std::string own_name(std::string_view name) {
  return is_name(name) ? std::string(name) : hash_name(name);
}

std::vector<FireworqQueue> list_fireworq(db::Connection& db) {
  return list_between(db, {}, std::string(kMaxJobName, '\xff'));
}

std::optional<FireworqQueue> find_fireworq(db::Connection& db, std::string_view name) {
  auto queues = list_between(db, name, name);
  return queues.empty() ? std::nullopt : std::optional(std::move(queues.front()));
}

namespace {

// Locks an existing queue of this name against other puts until the end of the transaction.
std::optional<FireworqQueue> lock_fireworq(db::Connection& db, std::string_view name) {
  db::Statement lock(sql::k_lock_fireworq);
  lock.set_bytes("name", name);
  db.run({lock});
  return find_fireworq(db, name);
}

// Whether this queue of Allot was made for Fireworq.
bool is_theirs(db::Connection& db, std::string_view own) {
  const auto all = list_fireworq(db);
  return std::any_of(all.begin(), all.end(),
                     [&](const FireworqQueue& queue) { return queue.info.name == own; });
}

// The Allot queue that becomes a Fireworq queue in the open transaction. A concurrent put of the
// same name waits, and then finds the queue made.
struct Place {
  QueueInfo queue;
  std::optional<FireworqQueue> before{};
};
Place find_place(db::Connection& db, const FireworqQueue& wanted) {
  auto before = lock_fireworq(db, wanted.name);
  if (before) return {before->info, before};
  const QueueShape shape{partitions_for(wanted.max_workers)};
  for (const std::string& name : {own_name(wanted.name), hash_name(wanted.name)}) {
    const bool made = create_queue(db, name, shape);
    if (!made) before = lock_fireworq(db, wanted.name);
    if (before) return {before->info, before};
    // Skips a queue that the configuration made, for example, or one of another name with the same
    // hash. A queue without a definition was left behind.
    if (!made && (name != hash_name(wanted.name) || is_theirs(db, name))) continue;
    if (auto queue = find_queue(db, name)) return {std::move(*queue)};
  }
  throw Error("queue '" + wanted.name + "' could not be made");
}

void put_locked(db::Connection& db, const FireworqQueue& wanted) {
  const auto [queue, before] = find_place(db, wanted);
  const std::uint32_t partitions = partitions_for(wanted.max_workers);
  if (partitions != queue.partitions()) resize(db, queue, partitions);
  std::vector<db::Statement> statements;
  if (!before || before->per_second != wanted.per_second || before->burst != wanted.burst) {
    statements.push_back(rate_statement(wanted, queue));
  }
  statements.push_back(set_cap_statement(queue, wanted.max_workers));
  statements.push_back(put_statement(wanted, queue));
  db.run(statements);
}

}  // namespace

void put_fireworq(db::Connection& db, const FireworqQueue& wanted) {
  const auto there = find_fireworq(db, wanted.name);
  if (there && there->says_as(wanted)) return;
  constexpr int kPutTries = 3;  // concurrent puts may deadlock
  db::repeat(kPutTries, db::is_retryable,
             [&] { db::in_transaction(db, [&] { put_locked(db, wanted); }); });
}

void hide_fireworq(db::Connection& db, const FireworqQueue& queue) {
  db::Statement hide(sql::k_hide_fireworq);
  hide.set("queue_id", queue.info.queue_id).set("hidden", kHiddenReason);
  db.transact({&hide, 1});
}

std::vector<Routing> list_routings(db::Connection& db) {
  return db.read_all(db::Statement(sql::k_list_routings), routing_in);
}

std::optional<Routing> find_routing(db::Connection& db, std::string_view category) {
  db::Statement find(sql::k_find_routing);
  return db.read_first(find.set_bytes("category", category), routing_in);
}

void put_routing(db::Connection& db, const Routing& routing) {
  db::Statement put(sql::k_put_routing);
  put.set_bytes("category", routing.category).set_bytes("name", routing.queue);
  db.run({put});
}

void remove_routing(db::Connection& db, std::string_view category) {
  db::Statement remove(sql::k_remove_routing);
  remove.set_bytes("category", category);
  db.run({remove});
}

}  // namespace allot::queue
