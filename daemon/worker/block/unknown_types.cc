// SPDX-License-Identifier: Apache-2.0
#include "worker/block/unknown_types.h"

#include <chrono>
#include <map>
#include <utility>

#include "log/log.h"
#include "meter/record.h"
#include "queue/verbs/deferred.h"
#include "worker/lease/lease_keeper.h"

namespace allot::worker {
namespace {

// S65, in ordered queues: the same time as in defer.sql.
constexpr std::chrono::seconds kPartitionWait{30};

}  // namespace

void UnknownTypes::add(const queue::Task& task) {
  unknown_.push_back(task);
  unknown_.back().payload.reset();
}

queue::Deferral UnknownTypes::defer_partition(const queue::Task& task) {
  parts_.slot.count(meter::Count::kDeferred, queue_.info.name, task.type);
  if (fenced(parts_.session, parts_.keeper, lease_, "no_handler",
             [&](db::Connection& db) { return queue::mark_unknown(db, lease_, task.key); })) {
    log_unknown(task, 1);
  }
  return {kPartitionWait, task.key};
}

void UnknownTypes::defer() {
  const auto unknown = std::exchange(unknown_, {});
  if (unknown.empty() || parts_.keeper.lost()) return;
  std::vector<queue::TaskKey> keys;
  std::map<std::string, std::vector<const queue::Task*>> by_type;
  for (const queue::Task& task : unknown) {
    keys.push_back(task.key);
    by_type[task.type].push_back(&task);
    if (parts_.on_unknown) parts_.on_unknown(id_of(task), task.type);
  }
  const bool deferred = fenced(parts_.session, parts_.keeper, lease_, "defer",
                               [&](db::Connection& db) { return queue::defer(db, lease_, keys); });
  if (!deferred) return;
  for (const queue::Task& task : unknown) {
    parts_.slot.count(meter::Count::kDeferred, queue_.info.name, task.type);
  }
  for (const auto& [type, tasks] : by_type) log_unknown(*tasks.front(), tasks.size());
}

bool UnknownTypes::call_forward() {
  if (!deferred_ || parts_.keeper.lost()) return false;
  deferred_ = false;
  std::uint32_t room = block_size_;
  const auto types = parts_.session.call(
      [&](db::Connection& db) { return queue::deferred_types(db, lease_.partition); });
  for (const queue::DeferredType& type : types) {
    if (parts_.registry.find(type.type) == nullptr) continue;
    if (room == 0) {
      deferred_ = true;
      break;
    }
    std::vector<queue::DeferredTask> tasks;
    if (!queue_.in_order()) {
      tasks = parts_.session.call(
          [&](db::Connection& db) { return queue::find_deferred(db, lease_, type, room); });
    }
    const bool more = tasks.size() == room;
    const bool forward = fenced(
        parts_.session, parts_.keeper, lease_, "call_forward",
        [&](db::Connection& db) { return queue::call_forward(db, lease_, type, tasks, more); });
    if (!forward) return false;
    room -= static_cast<std::uint32_t>(tasks.size());
    deferred_ = deferred_ || more;
    if (tasks.empty()) continue;
    log::info("task.called_forward", {{"type", type.type},
                                      {"queue", queue_.info.name},
                                      {"partition", lease_.partition.partition_no},
                                      {"tasks", tasks.size()}});
  }
  return room < block_size_;
}

// One line for all tasks of a type in the block, so that the log stays readable.
void UnknownTypes::log_unknown(const queue::Task& first, std::size_t tasks) const {
  log::warn("task.no_handler", {{"task", id_of(first).text()},
                                {"type", first.type},
                                {"queue", queue_.info.name},
                                {"partition", lease_.partition.partition_no},
                                {"tasks", tasks},
                                {"retry_in", "30s"}});
}

}  // namespace allot::worker
