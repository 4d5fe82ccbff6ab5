// SPDX-License-Identifier: Apache-2.0
#include "queue/minutes/minute_store.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "db/transaction.h"
#include "queue/minutes/type_hours.h"
#include "queue/model/catalog.h"
#include "queue/model/statements.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

constexpr std::uint32_t kPurgedMinutes = 1000;  // rows of a table per batch
// Limit of each count of waiting and of detached tasks.
constexpr std::uint64_t kBacklogBound = 10'000;
constexpr std::size_t kMostBacklogs = 1'000;  // queues
constexpr int kMostTries = 8;

constexpr std::array<const char*, kMinuteColumns> kColumnNames{
    "done",   "retried",  "snoozed",   "interrupted", "dead",    "cancelled", "crashed",
    "ran_us", "ran_10ms", "ran_100ms", "ran_1s",      "ran_10s", "ran_1min",  "ran_longer"};

// A row of a derived table: its texts, and a count for each column.
template <typename Columns>
std::string select_of(std::string texts, const Columns& columns,
                      std::span<const std::uint64_t> counts) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    texts.append(", ").append(std::to_string(counts[i])).append(" AS ").append(columns[i]);
  }
  return "SELECT " + texts;
}

std::string text_as(std::string_view name, std::string_view text) {
  return ", " + db::Statement::quoted(text).append(" AS ").append(name);
}

std::string rows_of(const std::vector<MinuteRow>& rows) {
  return db::joined(
      rows,
      [row_no = std::size_t{0}](const MinuteRow& row) mutable {
        return select_of(std::to_string(row_no++) + " AS row_no" + text_as("queue", row.key.queue) +
                             text_as("type", row.key.type) +
                             text_as("error_group", row.key.error_group) +
                             text_as("error", row.error),
                         kColumnNames, row.counts.columns);
      },
      " UNION ALL ");
}

std::string hours_of(const std::vector<MinuteRow>& rows) {
  std::map<MinuteKey, const MinuteCounts*> pairs;  // sorted: all hosts lock in one order
  for (const MinuteRow& row : rows) {
    if (row.key.error_group.empty()) pairs[row.key] = &row.counts;
  }
  return db::joined(
      pairs,
      [columns = hour_columns()](const auto& pair) {
        const auto& [key, counts] = pair;
        std::vector<std::uint64_t> of_hour{(*counts)[MinuteColumn::kDone],
                                           (*counts)[MinuteColumn::kRetried],
                                           (*counts)[MinuteColumn::kDead]};
        of_hour.insert(of_hour.end(), counts->columns.begin() + kMinuteColumns,
                       counts->columns.end());
        return select_of(db::Statement::quoted(key.queue) + " AS queue" + text_as("type", key.type),
                         columns, of_hour);
      },
      " UNION ALL ");
}

db::Statement add_hours(std::string hours) {
  const auto columns = hour_columns();
  db::Statement add(sql::k_add_type_hours);
  return add.set_raw("hours", std::move(hours))
      .set_raw("columns", db::joined(columns, std::identity{}, ", "))
      .set_raw("added", db::joined(
                            columns,
                            [](const std::string& column) {
                              return column + " = type_hour." + column + " + VALUES(" + column +
                                     ")";
                            },
                            ", "));
}

// 0 on TiDB, whose EXPLAIN has other columns.
std::uint64_t estimate_in(db::StatementResult& plan) {
  const auto rows = plan.find_column("rows");
  const auto row = plan.next();
  return rows && row ? row->u64(*rows) : 0;
}

struct Backlog {
  std::uint32_t queue_id = 0;
  std::uint64_t tasks = 0;
  bool estimated = false;
};

std::vector<Backlog> backlogs(db::Connection& db) {
  std::vector<Backlog> all;
  std::vector<db::Statement> ask;
  for (const QueueInfo& queue : list_queues(db)) {
    if (all.size() == kMostBacklogs) break;
    all.push_back({queue.queue_id});
    for (const sql::SqlText* count : {&sql::k_count_waiting, &sql::k_count_running}) {
      ask.emplace_back(*count).set("queue_id", queue.queue_id).set("bound", kBacklogBound);
    }
  }
  if (all.empty()) return all;
  auto counted = db.run(ask);
  std::size_t at = 0;
  for (Backlog& one : all) {
    const std::uint64_t waiting = counted[at++].one().u64(0);
    const std::uint64_t detached = counted[at++].one().u64(0);
    one.estimated = waiting > kBacklogBound || detached > kBacklogBound;
    one.tasks = waiting + detached;
    if (waiting <= kBacklogBound) continue;
    db::Statement estimate(sql::k_estimate_waiting);
    estimate.set("queue_id", one.queue_id);
    one.tasks = std::max(waiting, estimate_in(db.run({estimate}).front())) + detached;
  }
  return all;
}

}  // namespace

std::optional<MinuteStore::Written> MinuteStore::write(db::Connection& db,
                                                       const MinuteTotals& totals,
                                                       std::chrono::microseconds age) {
  return db::repeat(kMostTries, is_out_of_range, [&]() -> std::optional<Written> {
    if (!known_ && !learn(db, age)) return std::nullopt;
    const Known before = *known_;
    MinuteWrite write = since(before.marks, totals);
    known_.reset();  // until the reply shows the outcome
    const unsigned second = send(db, before.write_no, write, age);
    wrote_ = true;
    last_ = write.marks;
    known_ = {before.write_no + 1, std::move(write.marks)};
    return Written{write.rows.size(), second};
  });
}

// False: the row has counts of another run although this one wrote before. They are from a newer
// program, and this one will leave soon.
bool MinuteStore::learn(db::Connection& db, std::chrono::microseconds age) {
  db::Statement make(sql::k_make_instance);
  make.set("origin", of_.holder.origin)
      .set("host", of_.holder.host)
      .set("instance", of_.holder.instance)
      .set("version", of_.version)
      .set("run_id", of_.run_id)
      .set("age_us", age)
      .set("totals", text_of_marks(last_));
  db::Statement find(sql::k_find_instance);
  find.set("origin", of_.holder.origin);
  const auto row = db.run({make, find}).back().next();
  if (!row) return false;
  const bool same = row->text(1) == of_.run_id;
  if (!same && wrote_) return false;
  known_ = {row->u64(0), same ? marks_of(row->text(2)) : MinuteMarks{}};
  return true;
}

unsigned MinuteStore::send(db::Connection& db, std::uint64_t write_no, const MinuteWrite& write,
                           std::chrono::microseconds age) const {
  std::vector<db::Statement> packet;
  packet.emplace_back(sql::k_require_instance)
      .set("origin", of_.holder.origin)
      .set("write_no", write_no);
  if (!write.rows.empty()) {
    packet.emplace_back(sql::k_write_minute)
        .set("origin", of_.holder.origin)
        .set("age_us", age)
        .set_raw("counts", rows_of(write.rows));
    std::string hours = hours_of(write.rows);
    if (!hours.empty()) packet.push_back(add_hours(std::move(hours)));
  }
  packet.emplace_back(sql::k_advance_instance)
      .set("origin", of_.holder.origin)
      .set("host", of_.holder.host)
      .set("instance", of_.holder.instance)
      .set("version", of_.version)
      .set("run_id", of_.run_id)
      .set("pools", text_of(of_.pools))
      .set("age_us", age)
      .set("totals", text_of_marks(write.marks));
  return db.transact(packet).back().one().u32(0);
}

bool purge_minutes(db::Connection& db) {
  db::Statement purge(sql::k_purge_minutes);
  purge.set("limit", kPurgedMinutes);
  const auto results = db.run({purge});
  return std::any_of(results.begin(), results.end(), [](const db::StatementResult& result) {
    return result.affected() == kPurgedMinutes;
  });
}

void write_backlogs(db::Connection& db) {
  std::string rows;
  for (const Backlog& one : backlogs(db)) {
    if (one.tasks == 0) continue;
    rows += " UNION ALL SELECT " + std::to_string(one.queue_id) + "," + std::to_string(one.tasks) +
            "," + (one.estimated ? "1" : "0");
  }
  db.run({db::Statement(sql::k_put_backlog).set_raw("backlogs", std::move(rows))});
}

}  // namespace allot::queue
