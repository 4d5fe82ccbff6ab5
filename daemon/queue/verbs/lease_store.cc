// SPDX-License-Identifier: Apache-2.0
#include "queue/verbs/lease_store.h"

#include <algorithm>

#include "db/writer.h"
#include "queue/model/statements.h"
#include "queue/verbs/block.h"
#include "queue/verbs/rated.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

constexpr std::uint64_t kMaxInline = 64 << 10;
constexpr std::uint64_t kMaxBlockBytes = 8 << 20;

}  // namespace

db::Statement& set_deferred(db::Statement& statement, Deferred deferred) {
  return statement.set("passed_flag", deferred == Deferred::kLease ? kNoHandlerFlag : 0);
}

std::uint64_t FetchSpec::inline_limit() const {
  return std::min(kMaxInline, kMaxBlockBytes / std::max(1U, block_size));
}

db::Statement release_statement(const Lease& lease, const Deferral& deferral) {
  db::Statement release(sql::k_release);
  set_fence(release, lease).set("keep_deferral", deferral.stays);
  const bool defers = deferral.delay.count() > 0;
  return release.set("known_us", lease.time.now())
      .set("defer_us", bounded_us(deferral.delay))
      .set("defer_prio", defers ? std::optional(deferral.task.prio) : std::nullopt)
      .set("defer_key", defers ? std::optional(deferral.task.run_key) : std::nullopt);
}

std::optional<Block> LeaseStore::lease(db::Connection& db, Partition partition,
                                       const FetchSpec& spec, Locked locked,
                                       Deferred deferred) const {
  db::Statement statement = lease_statement(sql::k_lease, partition, spec, locked);
  set_deferred(statement, deferred);
  return take(db, statement, nullptr, spec, partition);
}

std::optional<Block> LeaseStore::take_over(db::Connection& db, const Observation& observed,
                                           bool stale, const FetchSpec& spec, Locked locked,
                                           bool starts_none) const {
  db::Statement statement = lease_statement(sql::k_takeover, observed.partition, spec, locked);
  statement.set("seen_epoch", observed.epoch)
      .set("seen_expire_at", observed.expire_at)
      .set("stale", stale)
      .set("rated", starts_none);
  const db::Statement note = db::note_server_statement(db);
  return take(db, statement, &note, spec, observed.partition);
}

db::Statement LeaseStore::lease_statement(const sql::SqlText& text, Partition partition,
                                          const FetchSpec& spec, Locked locked) const {
  db::Statement statement(text);
  set_partition(statement, partition).set_raw("nowait", locked == Locked::kSkip ? "NOWAIT" : "");
  return set_holder(statement, holder_)
      .set("ttl_us", ttl_)
      .set("block_size", spec.block_size)
      .set("known_us", spec.time.now());
}

// The results: the UPDATE of the verb, the row that it reads back, the tasks.
std::optional<Block> LeaseStore::take(db::Connection& db, const db::Statement& verb,
                                      const db::Statement* before, const FetchSpec& spec,
                                      Partition partition) const {
  const db::Statement fetch = fetch_statement(partition, spec);
  auto results = db.try_transact({&verb, 1}, {before, &fetch});
  if (!results) return std::nullopt;
  return read_block(partition, results->at(1), results->at(2));
}

std::optional<Block> LeaseStore::read_block(Partition partition, db::StatementResult& leased,
                                            db::StatementResult& tasks) const {
  const auto row = leased.next();
  if (!row) return std::nullopt;
  Block block;
  block.lease = {partition, row->u64(0), holder_.id, std::nullopt, {}};
  if (!row->is_null(1)) block.lease.suspects = Suspects{row->u64(1), row->u32(2)};
  row->read(3, block.clock, block.cap);
  block.tasks = read_tasks(tasks);
  return block;
}

bool LeaseStore::renew(db::Connection& db, const Lease& lease) const {
  db::Statement statement(sql::k_renew);
  set_fence(statement, lease).set("ttl_us", ttl_);
  return db.run({statement}).front().affected() == 1;
}

bool LeaseStore::release(db::Connection& db, const Lease& lease) const {
  return db.run({release_statement(lease)}).front().affected() == 1;
}

std::optional<std::uint64_t> LeaseStore::held_epoch(db::Connection& db, Partition partition) const {
  db::Statement statement(sql::k_held_lease);
  set_partition(statement, partition).set("holder", holder_.id);
  return db.read_first(statement, [](const db::Row& row) { return row.u64(0); });
}

namespace {

db::Statement scout_statement(std::span<const std::uint32_t> queues, const HolderTime& time) {
  db::Statement statement(sql::k_scout);
  statement.set_raw("queue_ids", id_list(queues)).set("known_us", time.now());
  return statement;
}

// Poll of a waiting pool: `found_any` shows whether scout.sql may find something.
Scouted scout_ahead(db::Connection& db, std::span<const std::uint32_t> queues,
                    const HolderTime& time, bool& found_any) {
  db::Statement statement(sql::k_scout_ahead);
  statement.set_raw("queue_ids", id_list(queues)).set("known_us", time.now());
  auto results = db.run({statement});
  const db::Row row = results.front().one();
  Scouted scouted;
  Ahead& ahead = scouted.ahead.emplace();
  row.read(0, scouted.clock, ahead.rates, ahead.deferred, ahead.due_in, found_any);
  return scouted;
}

}  // namespace

// Sends all statements in one trip; a waiting pool sends another trip before it, after which this
// one is usually not needed.
Scouted LeaseStore::scout(db::Connection& db, std::span<const std::uint32_t> queues,
                          const HolderTime& time, ScoutAlso also) {
  Scouted scouted;
  if (also.ahead) {
    bool found_any = false;
    scouted = scout_ahead(db, queues, time, found_any);
    if (!found_any && !also.rates && !also.deferred) return scouted;
  }
  std::vector<db::Statement> scouts;
  if (also.each) {
    for (const std::uint32_t& queue : queues) scouts.push_back(scout_statement({&queue, 1}, time));
  } else {
    scouts.push_back(scout_statement(queues, time));
  }
  const std::size_t polls = scouts.size();
  scouts.emplace_back(sql::k_database_clock);
  if (also.deferred) scouts.push_back(scout_deferred_statement(queues, time));
  if (also.rates) scouts.push_back(scout_rated_statement(queues, time));
  auto results = db.run(scouts);
  auto rest = std::span(results).subspan(polls);
  rest[0].one().read(0, scouted.clock);
  if (also.deferred) scouted.deferred = read_scouted_types(rest[1]);
  if (also.rates) scouted.rates = read_scouted_rates(rest.subspan(also.deferred ? 2 : 1));
  for (db::StatementResult& result : std::span(results).first(polls)) {
    while (const auto row = result.next()) {
      scouted.found.push_back({row->u32(0), row->u32(1)});
    }
  }
  return scouted;
}

std::vector<Observation> LeaseStore::watch(db::Connection& db,
                                           std::span<const std::uint32_t> queues) {
  db::Statement statement(sql::k_watch);
  statement.set_raw("queue_ids", id_list(queues));
  return db.read_all<Observation>(statement, [](const db::Row& row, Observation& observed) {
    row.read(0, observed.partition.queue_id, observed.partition.partition_no, observed.epoch,
             observed.expire_at, observed.expired, observed.remaining);
    observed.holder = row.string(6) + "/" + row.string(7) + "/" + row.string(8);
    row.read(9, observed.ttl);
  });
}

std::uint64_t LeaseStore::reclaim(db::Connection& db) const {
  db::Statement statement(sql::k_reclaim);
  statement.set("origin", holder_.origin);
  return db.run({statement}).front().affected();
}

namespace {

// Whether the connection was opened before or during the start of the server, to a server that had
// been up for longer. A server reports whole seconds, so each number gets one second of slack.
// Unless its clock is set back, this never mistakes a connection to the current run of the server
// for one to an earlier run: uptime was measured before age, so `now` is at least their sum.
bool is_of_former_life(const FormerConnection& connection, std::chrono::seconds now) {
  constexpr std::chrono::seconds kRounding(1);
  if (connection.age > now + kRounding) return true;
  return connection.age + kRounding >= now && connection.uptime > 2 * kRounding;
}

}  // namespace

std::chrono::seconds server_uptime(db::Connection& db) {
  std::chrono::seconds uptime{0};
  db.run({db::Statement(sql::k_server_uptime)}).front().one().read(1, uptime);
  return uptime;
}

void kill_connections(db::Connection& db, std::span<const FormerConnection> connections) {
  const std::chrono::seconds now = server_uptime(db);
  for (const FormerConnection& connection : connections) {
    if (connection.id == 0 || connection.server_id != db.server_id()) continue;
    if (is_of_former_life(connection, now)) continue;
    db::Statement kill(sql::k_kill_connection);
    kill.set("connection_id", connection.id);
    try {
      db.run({kill});
    } catch (const db::DbError& error) {
      // A connection that is already gone is fine. A lost connection of our own is an error.
      if (error.error_class() == db::ErrorClass::kGone) throw;
    }
  }
}

std::uint32_t share_of(std::uint32_t cap, std::uint32_t partitions, std::uint32_t index) {
  const std::uint32_t least = std::min(cap, 1U);
  if (index >= partitions) return least;
  return std::max(least, cap / partitions + (index < cap % partitions ? 1 : 0));
}

CapPart read_cap_part(db::Connection& db, Partition partition, std::uint32_t published) {
  db::Statement read(sql::k_read_cap_part);
  set_partition(read, partition);
  auto results = db.run({read});
  const auto row = results.front().next();
  if (!row) return {};
  const auto cap = row->u32(0);
  const auto first = row->u32(2);
  const std::uint64_t others = row->u64(3);
  const std::uint32_t share = share_of(cap, row->u32(1), partition.partition_no - first);
  const auto left = static_cast<std::uint32_t>(others < cap ? cap - others : 0);
  return {std::min({share, published, left}), row->u64(4) != 0, row->u64(5) != 0, cap};
}

}  // namespace allot::queue
