// SPDX-License-Identifier: Apache-2.0
#include "queue/minutes/minute_view.h"

#include <cstddef>
#include <map>
#include <utility>

#include "db/statement.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

using std::chrono::microseconds;

// By time, then by name.
using Views = std::map<std::string, std::map<MinuteKey, MinuteView>>;

MinuteView& view_in(Views& found, const std::string& at, const MinuteKey& key) {
  MinuteView& view = found[at][key];
  view.at = at;
  view.key = key;
  return view;
}

Views counts_in(db::StatementResult& result) {
  Views found;
  while (const auto row = result.next()) {
    const MinuteKey key{row->string(1), row->string(2), row->string(3)};
    MinuteView& view = view_in(found, row->string(0), key);
    row->read(4, view.error);
    for (std::size_t i = 0; i < kMinuteColumns; ++i) row->read(5 + i, view.counts.columns.at(i));
  }
  return found;
}

// Backlogs of each read; a missing queue had no tasks.
struct Seen {
  std::uint64_t backlog = 0;
  bool estimated = false;
};
using Backlogs = std::map<std::string, std::map<std::string, Seen>>;

Backlogs backlogs_in(db::StatementResult& result) {
  Backlogs backlogs;
  while (const auto row = result.next()) {
    auto& queues = backlogs[row->string(0)];
    if (row->is_null(1)) continue;  // the read itself, or a deleted queue
    queues[row->string(1)] = {row->u64(2), row->u64(3) != 0};
  }
  return backlogs;
}

Seen seen_of(const std::map<std::string, Seen>& backlog, const std::string& queue) {
  const auto at = backlog.find(queue);
  return at == backlog.end() ? Seen{} : at->second;
}

void add_backlogs(Views& found, const Backlogs& backlogs) {
  const std::map<std::string, Seen>* before = nullptr;
  for (const auto& [at, backlog] : backlogs) {
    for (const auto& [queue, seen] : backlog) view_in(found, at, {queue, ""});
    if (before != nullptr) {  // a backlog that ended changes in this step
      for (const auto& [queue, seen] : *before) view_in(found, at, {queue, ""});
    }
    for (auto& [key, view] : found[at]) {
      if (key.queue == kMinuteOther && !backlog.contains(key.queue)) continue;  // sum over queues
      const Seen now = seen_of(backlog, key.queue);
      view.backlog = now.backlog;
      view.estimated = now.estimated;
      if (before == nullptr) continue;
      const Seen then = seen_of(*before, key.queue);
      view.estimated = now.estimated || then.estimated;
      view.in = static_cast<std::int64_t>(view.counts.out()) +
                static_cast<std::int64_t>(now.backlog) - static_cast<std::int64_t>(then.backlog);
    }
    before = &backlog;
  }
}

db::Statement asking(const sql::SqlText& sql, const MinutesWanted& wanted, microseconds since) {
  db::Statement statement(sql);
  statement.set("queue", wanted.queue)
      .set("step", wanted.step)
      .set("since_us", since)
      .set("limit", kMostMinuteRows + 1);
  return statement;
}

}  // namespace

Minutes list_minutes(db::Connection& db, const MinutesWanted& wanted) {
  std::vector<db::Statement> ask;
  ask.push_back(asking(sql::k_list_minutes, wanted, wanted.since));
  ask.back()
      .set("types", wanted.by != MinutesBy::kQueue)
      .set("errors", wanted.by == MinutesBy::kError);
  if (wanted.by == MinutesBy::kQueue) {
    // One step more, for the backlog before the first one.
    const microseconds since = wanted.since + std::chrono::minutes(wanted.step);
    ask.push_back(asking(sql::k_list_backlog, wanted, since));
  }
  auto results = db.run(ask);
  Minutes minutes;
  minutes.more = results.front().row_count() > kMostMinuteRows;
  Views found = counts_in(results.front());
  if (wanted.by == MinutesBy::kQueue) {
    minutes.more = minutes.more || results.back().row_count() > kMostMinuteRows;
    add_backlogs(found, backlogs_in(results.back()));
  }
  for (auto at = found.rbegin(); at != found.rend(); ++at) {
    for (auto& [key, view] : at->second) {
      // The step before the first one only provides its backlog.
      if (view.counts.any() || view.in) minutes.list.push_back(std::move(view));
    }
  }
  return minutes;
}

}  // namespace allot::queue
