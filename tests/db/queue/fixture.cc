// SPDX-License-Identifier: Apache-2.0
#include "db/queue/fixture.h"

namespace allot::queue {
namespace {

std::string dump(db::Connection& db, const TableOrder& from) {
  const std::string table = from.table;
  std::string text = table + "\n";
  auto columns = db.execute("SHOW COLUMNS FROM " + table);
  const std::uint64_t count = columns.front().row_count();
  auto rows = db.execute("SELECT * FROM " + table + " ORDER BY " + from.order);
  while (const auto row = rows.front().next()) {
    for (std::uint64_t i = 0; i < count; ++i) {
      text += row->is_null(i) ? "NULL" : std::string(row->text(i));
      text += i + 1 < count ? '|' : '\n';
    }
  }
  return text;
}

Holder holder_with(std::uint64_t origin) {
  Holder holder = make_holder("test", "/run/allot/test");
  if (origin != 0) holder.origin = origin;
  return holder;
}

}  // namespace

std::string dump_tables(db::Connection& db, std::span<const TableOrder> tables) {
  std::string text;
  for (const TableOrder& from : tables) text += dump(db, from);
  return text;
}

Worker::Worker(db::Connection connection, std::uint64_t origin, std::chrono::microseconds ttl)
    : Stores(ttl, holder_with(origin)), db(std::move(connection)) {
  db.execute("SET SESSION sql_safe_updates = 1");  // as in a worker's session
}

std::optional<Block> Worker::lease(Partition partition, const FetchSpec& spec) {
  return leases.lease(db, partition, spec);
}

std::optional<Block> Worker::steal(Partition partition, const FetchSpec& spec) {
  for (const Observation& seen : LeaseStore::watch(db, std::vector{partition.queue_id})) {
    if (seen.partition == partition) return leases.take_over(db, seen, true, spec);
  }
  return std::nullopt;
}

QueueTest::QueueTest(std::string database)
    : name_(std::move(database)), worker_(connect()), observer_(connect()) {
  queue_ = make_queue("q", 1);
  partition_ = {queue_.queue_id, 0};
}

QueueInfo QueueTest::make_queue(const std::string& name, std::uint32_t partitions) {
  return ensure_queue(observer_, name, {partitions});
}

std::vector<TaskId> QueueTest::put(std::size_t count, std::uint32_t prio) {
  std::vector<Submission> submissions;
  for (std::size_t i = 0; i < count; ++i) {
    submissions.push_back({queue_, "t", std::to_string(i), {.prio = prio}});
  }
  return ids_of(submit(observer_, submissions));
}

void QueueTest::put_row(Partition partition, TaskKey key, const std::string& payload) {
  queue::put_row(observer_, partition, key, payload);
}

Block QueueTest::must_lease(const FetchSpec& spec) {
  auto block = worker_.lease(partition_, spec);
  if (!block) throw std::runtime_error("the partition is not free");
  return std::move(*block);
}

void set_clock(db::Connection& db, std::optional<std::chrono::seconds> off) {
  db.execute("SET timestamp = DEFAULT");
  if (!off) return;
  db.execute("SET timestamp = UNIX_TIMESTAMP(UTC_TIMESTAMP(6)) + " + std::to_string(off->count()));
}

}  // namespace allot::queue
