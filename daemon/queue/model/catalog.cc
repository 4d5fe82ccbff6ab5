// SPDX-License-Identifier: Apache-2.0
#include "queue/model/catalog.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/mutant.h"
#include "db/transaction.h"
#include "queue/model/statements.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

constexpr std::array<std::string_view, 4> kPlacements{"spread", "ordered", "limited", "fair"};

// Index of the column `routed` in the statements that read queues.
constexpr std::size_t kRouted = 8;
constexpr std::size_t kRoutedOfList = 11;

Placement placement_of(std::string_view name) {
  if (const auto placement = value_of<Placement>(kPlacements, name)) return *placement;
  throw Error("placement '" + std::string(name) + "' is unknown");
}

QueueInfo read_queue(const db::Row& row, std::size_t routed) {
  QueueInfo queue;
  row.read(0, queue.queue_id, queue.name, queue.shape.partitions);
  queue.shape.placement = placement_of(row.text(3));
  row.read(4, queue.shape.max_running, queue.first_partition, queue.layout, queue.cap);
  queue.routed = row.is_null(routed) || row.u64(routed) != 0;
  return queue;
}

}  // namespace

std::string_view name_of(Placement placement) {
  return kPlacements.at(static_cast<std::size_t>(placement));
}

QueueShape shape_of(const config::Queue& queue) {
  return {queue.partitions, placement_of(queue.placement), queue.max_running};
}

std::string text_of(const QueueShape& shape) {
  std::string text = std::to_string(shape.partitions) + " partitions";
  if (shape.placement == Placement::kSpread) return text;
  text.append(", ").append(name_of(shape.placement));
  if (shape.placement != Placement::kLimited) return text;
  return text + " to " + std::to_string(shape.max_running) + " of a key";
}

// S53: every submitter reads this row, so that a superseded server takes no more tasks.
QueueInfo queue_in(const db::Row& row) {
  if (!row.is_null(kRouted + 1) && !mutant::removed("superseded_queue")) {
    throw db::DbError(db::kSuperseded,
                      "this database server accepts writes, but another one has term " +
                          std::to_string(row.u64(kRouted + 1)) + " and is the writer",
                      db::Phase::kConnect);
  }
  return read_queue(row, kRouted);
}

std::optional<QueueInfo> find_queue(db::Connection& db, std::string_view name) {
  db::Statement statement(sql::k_find_queue);
  statement.set("name", name);
  auto queue = db.read_first(statement, queue_in);
  // The server's comparison pads: "mail " equals "mail".
  return queue && queue->name == name ? queue : std::nullopt;
}

std::vector<QueueInfo> list_queues(db::Connection& db) {
  return db.read_all(db::Statement(sql::k_list_queues), [](const db::Row& row) {
    QueueInfo queue = read_queue(row, kRoutedOfList);
    if (!row.is_null(8)) {
      queue.paused = Pause{row.string(8), row.string(9)};
    }
    queue.resizing = row.u64(10) != 0;
    if (!row.is_null(12)) {
      queue.rate = Rate{parse_per_second(row.text(12)).value_or(0), row.u32(13)};
    }
    return queue;
  });
}

std::vector<QueueInfo> made_queues(db::Connection& db) {
  return db.read_all(db::Statement(sql::k_made_queues), queue_in);
}

std::map<std::uint32_t, QueueInfo> lock_layouts(db::Connection& db,
                                                std::span<const std::uint32_t> queue_ids) {
  db::Statement lock(sql::k_lock_layout);
  lock.set_raw("queue_ids", id_list(queue_ids));
  std::map<std::uint32_t, QueueInfo> queues;
  db.each_row(lock, [&](const db::Row& row) { queues[row.u32(0)] = queue_in(row); });
  return queues;
}

QueueInfo find_listed(db::Connection& db, std::uint32_t queue_id) {
  for (QueueInfo& queue : list_queues(db)) {
    if (queue.queue_id == queue_id) return std::move(queue);
  }
  return {};
}

std::string queue_name(db::Connection& db, std::uint32_t queue_id) {
  return find_listed(db, queue_id).name;
}

namespace {

// The longest lease; fill_partition.sql doubles it, because watchers wait for half a TTL.
constexpr std::chrono::microseconds kLongestLease = std::chrono::hours(1);
constexpr std::chrono::microseconds kBeyondLease = std::chrono::seconds(1);

// Rows of partitions that cannot have been leased before.
void create_partitions(db::Connection& db, std::uint32_t queue_id, std::uint64_t from,
                       std::uint64_t end) {
  std::string rows;
  for (std::uint64_t no = from; no < end; ++no) {
    rows += (rows.empty() ? "(" : ",(") + std::to_string(queue_id) + "," + std::to_string(no) +
            ",UTC_TIMESTAMP(6))";
  }
  if (rows.empty()) return;
  db.run({db::Statement(sql::k_create_partition).set_raw("rows", std::move(rows))});
}

std::chrono::microseconds longest_lease(db::Connection& db) {
  std::chrono::microseconds longest = kLongestLease;
  db.each_row(db::Statement(sql::k_longest_ttl), [&](const db::Row& row) {
    if (!row.is_null(0)) row.read(0, longest);
  });
  return std::min(kLongestLease, longest);
}

// S59: missing rows of partitions that a process may believe to have leased.
void fill_partitions(db::Connection& db, std::uint32_t queue_id,
                     std::span<const std::uint64_t> missing) {
  const std::chrono::microseconds ttl = longest_lease(db) + kBeyondLease;
  std::vector<db::Statement> fill;
  for (const std::uint64_t no : missing) {
    fill.emplace_back(sql::k_fill_partition)
        .set("queue_id", queue_id)
        .set("partition_no", no)
        .set("ttl_us", ttl);
  }
  db.transact(fill);
}

}  // namespace

// Reads first, because inserting an existing row would wait for its current writer.
std::size_t make_partitions(db::Connection& db, std::uint32_t queue_id, std::uint32_t partitions) {
  db::Statement list(sql::k_list_partitions);
  list.set("queue_id", queue_id);
  auto results = db.run({list});
  const auto row = results.at(0).next();
  const std::uint64_t leased_to = row ? row->u64(0) : 0;
  std::set<std::uint64_t> there;
  while (const auto number = results.at(1).next()) there.insert(number->u64(0));
  std::vector<std::uint64_t> missing;
  for (std::uint64_t no = 0; no < leased_to; ++no) {
    if (there.count(no) == 0) missing.push_back(no);
  }
  if (!missing.empty()) fill_partitions(db, queue_id, missing);
  create_partitions(db, queue_id, leased_to, partitions);
  return missing.size();
}

// The queue becomes visible together with its lease rows: a submission to a fair queue chooses
// among them.
bool create_queue(db::Connection& db, std::string_view name, const QueueShape& shape) {
  db::Statement create(sql::k_create_queue);
  create.set("name", name)
      .set("partitions", shape.partitions)
      .set("placement", name_of(shape.placement))
      .set("max_running", shape.max_running);
  if (db.run({create}).front().affected() == 0) return false;
  const auto queue = find_queue(db, name);
  if (queue) {
    create_partitions(db, queue->queue_id, 0, queue->first_partition + queue->partitions());
  }
  return true;
}

namespace {

QueueInfo find_or_insert(db::Connection& db, std::string_view name, const QueueShape& shape) {
  auto queue = find_queue(db, name);
  if (!queue) {
    db::in_transaction(db, [&] { create_queue(db, name, shape); });
    queue = find_queue(db, name);
  }
  if (!queue) throw Error("queue '" + std::string(name) + "' could not be made");
  // An existing queue lacks lease rows if they were deleted.
  make_partitions(db, queue->queue_id, queue->first_partition + queue->partitions());
  return *queue;
}

}  // namespace

QueueInfo ensure_queue(db::Connection& db, std::string_view name, const QueueShape& shape) {
  constexpr int kTries = 8;  // while another session makes the same queue
  return db::repeat(kTries, db::is_retryable, [&] { return find_or_insert(db, name, shape); });
}

std::optional<QueueInfo> find_or_make(db::Connection& db, std::string_view name,
                                      const config::Queue* configured) {
  auto queue = find_queue(db, name);
  if (!queue && configured != nullptr) queue = ensure_queue(db, name, shape_of(*configured));
  return queue;
}

std::vector<QueueHoles> queue_holes(db::Connection& db) {
  return db.read_all(db::Statement(sql::k_queue_holes), [](const db::Row& row) {
    return QueueHoles{row.u32(0), row.string(1), row.u64(2)};
  });
}

std::vector<QueueHoles> fill_holes(db::Connection& db) {
  auto holes = queue_holes(db);
  for (QueueHoles& hole : holes) hole.missing = make_partitions(db, hole.queue_id, 0);
  return holes;
}

std::size_t bound_releases(db::Connection& db) {
  constexpr std::size_t kMostReleases = 500;  // of one call; the rest follows next time
  db::Statement far(sql::k_far_releases);
  far.set("limit", kMostReleases);
  std::size_t bounded = 0;
  db.each_row(far, [&](const db::Row& row) {
    db::Statement bound(sql::k_bound_release);
    set_partition(bound, {row.u32(0), row.u32(1)});
    bounded += db.run({bound}).front().affected();
  });
  return bounded;
}

}  // namespace allot::queue
