// SPDX-License-Identifier: Apache-2.0
#include "queue/fireworq/definition.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "base/error.h"
#include "queue/model/task.h"
#include "queue/operate/pause.h"
#include "queue/operate/rate.h"
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

std::string hash_text(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a, which is the same in each version
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  std::array<char, 17> text{};
  std::to_chars(text.data(), text.data() + text.size(), hash, 16);
  return text.data();
}

// The queue of ours, and whether it was there before.
QueueInfo make_queue(db::Connection& db, const FireworqQueue& wanted) {
  const QueueShape shape{partitions_for(wanted.max_workers)};
  std::string name = own_name(wanted.name);
  // A queue that the configuration made, say, is left alone.
  if (find_queue(db, name)) name = "fireworq." + hash_text(wanted.name);
  return ensure_queue(db, name, shape);
}

void change_rate(db::Connection& db, const FireworqQueue& wanted, const QueueInfo& queue) {
  if (wanted.burst == 0) {
    remove_rate(db, queue);
    return;
  }
  const double scaled = std::round(wanted.per_second * 1e6);
  const double bounded =
      std::clamp(scaled, static_cast<double>(kMinRate), static_cast<double>(kMaxRate));
  set_rate(db, queue, {static_cast<std::uint64_t>(bounded), std::min(wanted.burst, kMaxBurst)});
}

void write(db::Connection& db, const FireworqQueue& wanted, std::uint32_t queue_id) {
  db::Statement put(sql::k_put_fireworq);
  const bool rated = wanted.burst != 0;
  put.set("queue_id", queue_id)
      .set_bytes("name", wanted.name)
      .set("polling_interval", wanted.polling_interval)
      .set("max_workers", wanted.max_workers)
      .set_raw("rate", rated ? number_text(wanted.per_second) : "NULL")
      .set_raw("burst", rated ? std::to_string(wanted.burst) : "NULL");
  db.run({put});
}

FireworqQueue definition_in(const db::Row& row) {
  FireworqQueue queue;
  queue.info.queue_id = static_cast<std::uint32_t>(row.u64(0));
  queue.name = row.text(1);
  queue.polling_interval = static_cast<std::uint32_t>(row.u64(2));
  queue.max_workers = static_cast<std::uint32_t>(row.u64(3));
  if (!row.is_null(4)) queue.per_second = std::strtod(std::string(row.text(4)).c_str(), nullptr);
  queue.burst = static_cast<std::uint32_t>(row.u64(5));
  queue.hidden = row.u64(6) != 0;
  queue.info.name = row.text(7);
  queue.info.shape.partitions = static_cast<std::uint32_t>(row.u64(8));
  queue.info.first_partition = static_cast<std::uint32_t>(row.u64(9));
  return queue;
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
  return is_name(name) ? std::string(name) : "fireworq." + hash_text(name);
}

std::vector<FireworqQueue> list_fireworq(db::Connection& db) {
  auto results = db.run({db::Statement(sql::k_list_fireworq)});
  std::vector<FireworqQueue> queues;
  while (const auto row = results.front().next()) queues.push_back(definition_in(*row));
  return queues;
}

std::optional<FireworqQueue> find_fireworq(db::Connection& db, std::string_view name) {
  db::Statement find(sql::k_find_fireworq);
  find.set_bytes("name", name);
  auto results = db.run({find});
  const auto row = results.front().next();
  return row ? std::optional(definition_in(*row)) : std::nullopt;
}

// The row is written last: what was cut off before it is made anew, and what was deleted stays so.
void put_fireworq(db::Connection& db, const FireworqQueue& wanted,
                  const std::optional<FireworqQueue>& before) {
  if (before && before->says_as(wanted)) return;
  const QueueInfo queue = before ? before->info : make_queue(db, wanted);
  const std::uint32_t partitions = partitions_for(wanted.max_workers);
  if (partitions != queue.partitions()) resize(db, queue, partitions);
  if (!before || before->per_second != wanted.per_second || before->burst != wanted.burst) {
    change_rate(db, wanted, queue);
  }
  if (before && before->hidden) resume(db, queue);
  write(db, wanted, queue.queue_id);
}

void hide_fireworq(db::Connection& db, const FireworqQueue& queue) {
  db::Statement hide(sql::k_hide_fireworq);
  hide.set("queue_id", queue.info.queue_id);
  db.run({hide});
  pause(db, queue.info, kHiddenReason);
}

std::vector<Routing> list_routings(db::Connection& db) {
  auto results = db.run({db::Statement(sql::k_list_routings)});
  std::vector<Routing> routings;
  while (const auto row = results.front().next()) {
    routings.push_back({std::string(row->text(0)), std::string(row->text(1))});
  }
  return routings;
}

std::optional<Routing> find_routing(db::Connection& db, std::string_view category) {
  db::Statement find(sql::k_find_routing);
  find.set_bytes("category", category);
  auto results = db.run({find});
  const auto row = results.front().next();
  if (!row) return std::nullopt;
  return Routing{std::string(row->text(0)), std::string(row->text(1))};
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
