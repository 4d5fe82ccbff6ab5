// SPDX-License-Identifier: Apache-2.0
#include "queue/minutes/failures.h"

#include <algorithm>
#include <map>
#include <utility>

#include "queue/minutes/minute_view.h"
#include "queue/model/catalog.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

constexpr std::uint32_t kHour = 60;

std::uint64_t failed(const FailureGroup& group) {
  return group.retried + group.dead;
}

std::optional<FailedAttempt> newest_of(db::Connection& db, std::uint32_t queue_id,
                                       const std::string& group) {
  db::Statement statement(sql::k_newest_attempt);
  statement.set("queue_id", queue_id).set("group", group);
  return db.read_first<FailedAttempt>(statement, [&](const db::Row& row, FailedAttempt& attempt) {
    TaskId& id = attempt.task;
    id.partition.queue_id = queue_id;
    row.read(0, id.partition.partition_no, id.prio, id.first_key, attempt.ended_at, attempt.error);
  });
}

void add_newest(db::Connection& db, std::vector<FailureGroup>& groups) {
  std::map<std::string, std::uint32_t> ids;
  for (const QueueInfo& queue : list_queues(db)) ids[queue.name] = queue.queue_id;
  for (FailureGroup& group : groups) {
    const auto id = ids.find(group.queue);
    if (id != ids.end()) group.newest = newest_of(db, id->second, group.group);
  }
}

}  // namespace

Failures list_failures(db::Connection& db, const std::string& queue, std::chrono::minutes since) {
  MinutesWanted wanted;
  wanted.queue = queue;
  wanted.by = MinutesBy::kError;
  wanted.since = since;
  wanted.step = kHour;
  const Minutes minutes = list_minutes(db, wanted);
  std::map<MinuteKey, FailureGroup> groups;
  for (const MinuteView& view : minutes.list) {
    FailureGroup& group = groups[view.key];
    if (group.hours.empty()) {
      group.queue = view.key.queue;
      group.type = view.key.type;
      group.group = view.key.error_group;
      group.sample = view.error;
    }
    const std::uint64_t retried = view.counts[MinuteColumn::kRetried];
    const std::uint64_t dead = view.counts[MinuteColumn::kDead];
    group.retried += retried;
    group.dead += dead;
    group.hours.push_back({view.at, retried + dead});
  }
  Failures found;
  found.more = minutes.more;
  for (auto& [key, group] : groups) found.list.push_back(std::move(group));
  std::stable_sort(found.list.begin(), found.list.end(),
                   [](const auto& a, const auto& b) { return failed(a) > failed(b); });
  add_newest(db, found.list);
  return found;
}

}  // namespace allot::queue
