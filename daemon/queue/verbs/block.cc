// SPDX-License-Identifier: Apache-2.0
#include "queue/verbs/block.h"

#include "queue/model/statements.h"
#include "queue/verbs/end_statements.h"
#include "queue/verbs/rated.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

// An update writes a payload twice into a binary log, and Group Replication refuses transactions
// above 150 MB.
constexpr std::uint64_t kMostMarkedBytes = 16 << 20;

}  // namespace

db::Statement fetch_statement(Partition partition, const FetchSpec& spec) {
  db::Statement fetch(sql::k_fetch);
  set_partition(fetch, partition)
      .set("inline_limit", spec.inline_limit())
      .set("highest_seen", spec.highest_seen)
      .set("known_us", spec.time.now())
      .set_raw("started", spec.running.empty() ? "FALSE" : key_condition("run_key", spec.running))
      .set("block_size", spec.block_size);
  return fetch;
}

std::vector<Task> read_tasks(db::StatementResult& rows) {
  std::vector<Task> tasks;
  tasks.reserve(rows.row_count());
  while (const auto row = rows.next()) {
    Task& task = tasks.emplace_back();
    row->read(0, task.key.prio, task.key.run_key, task.first_key, task.attempt, task.type,
              task.payload_size, task.payload, task.flags, task.expires_in);
    task.headers = read_headers(row->text(9));
    row->read(10, task.waited);
  }
  return tasks;
}

std::vector<Task> fetch(db::Connection& db, Partition partition, const FetchSpec& spec) {
  auto results = db.run({fetch_statement(partition, spec)});
  return read_tasks(results.front());
}

std::optional<std::string> fetch_payload(db::Connection& db, Partition partition, TaskKey key) {
  db::Statement statement(sql::k_fetch_payload);
  set_partition(statement, partition).set("prio", key.prio).set("run_key", key.run_key);
  return db.read_first(statement, [](const db::Row& row) { return row.string(0); });
}

void ack(db::Connection& db, Partition partition, std::span<const Finished> finished) {
  const auto statements = ack_statements(partition, finished);
  if (statements.size() == 1) db.run(statements);
  if (statements.size() > 1) db.transact(statements);
}

std::vector<Task> ack_and_fetch(db::Connection& db, Partition partition,
                                std::span<const Finished> finished, const FetchSpec& spec) {
  auto statements = ack_statements(partition, finished);
  db::Statement fetch = fetch_statement(partition, spec);
  if (statements.size() > 1) return read_tasks(db.transact(statements, {.after = &fetch}).back());
  statements.push_back(std::move(fetch));
  return read_tasks(db.run(statements).back());
}

bool ack_and_release(db::Connection& db, const Lease& lease, std::span<const Finished> finished,
                     const Deferral& deferral, const std::optional<Unused>& unused) {
  auto statements = ack_statements(lease.partition, finished);
  statements.push_back(release_statement(lease, deferral));
  if (unused) statements.push_back(give_back_statement(*unused));
  const auto results = db.transact(statements);
  return results.at(results.size() - (unused ? 2 : 1)).affected() == 1;
}

std::vector<Suspect> find_suspects(db::Connection& db, Partition partition, const Suspects& named) {
  db::Statement statement(sql::k_find_suspects);
  set_partition(statement, partition)
      .set("suspect_to", named.to_key)
      .set("per_class", named.per_class);
  return db.read_all(statement, [](const db::Row& row) {
    return Suspect{{row.u32(0), row.u64(1)}, row.u64(2)};
  });
}

Fenced mark_suspects(db::Connection& db, const Lease& lease, std::span<const Suspect> suspects) {
  std::vector<TaskKey> keys;
  std::uint64_t bytes = 0;
  for (const Suspect& suspect : suspects) {
    if (!keys.empty() && bytes + suspect.payload_size > kMostMarkedBytes) {
      const db::Statement mark = flag_statement(lease, keys, kSuspectFlag);
      db.transact({&mark, 1});
      keys.clear();
      bytes = 0;
    }
    keys.push_back(suspect.key);
    bytes += suspect.payload_size;
  }
  std::vector<db::Statement> writes;
  if (!keys.empty()) writes.push_back(flag_statement(lease, keys, kSuspectFlag));
  set_fence(writes.emplace_back(sql::k_clear_suspects), lease);
  return send_fenced(db, lease, writes);
}

}  // namespace allot::queue
