// SPDX-License-Identifier: Apache-2.0
#include "queue/verbs/rated.h"

#include <utility>

#include "queue/model/random.h"
#include "queue/model/statements.h"
#include "queue/verbs/end_statements.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

// Results of charge_rate.sql, and of lease_rated.sql before it.
constexpr std::size_t kChargeResults = 5;
constexpr std::size_t kLeaseResults = 2;

// The number distinguishes this charge from all others, including an earlier try of it.
db::Statement charge_statement(Partition partition, std::uint64_t holder, const FetchSpec& spec,
                               std::uint32_t asked) {
  db::Statement charge(sql::k_charge_rate);
  set_partition(charge, partition)
      .set("holder", holder)
      .set("grant_id", random_number<std::uint64_t>())
      .set("wanted", asked)
      .set("running", spec.running.size())
      .set("wanted_and_running", asked + spec.running.size())
      .set("known_us", spec.time.now())
      .set("highest_seen", spec.highest_seen);
  return charge;
}

Granted read_granted(db::StatementResult& rows, std::uint32_t asked) {
  Granted granted;
  granted.asked = asked;
  const auto row = rows.next();
  if (!row || row->is_null(0)) return granted;
  granted.rated = true;
  row->read(0, granted.starts, granted.bucket_no, granted.charged_at, granted.max_grant,
            granted.wait_us);
  return granted;
}

FetchSpec of_grant(FetchSpec spec, std::uint32_t asked) {
  spec.block_size = asked + static_cast<std::uint32_t>(spec.running.size());
  return spec;
}

}  // namespace

db::Statement scout_rated_statement(std::span<const std::uint32_t> queues, const HolderTime& time,
                                    Closed closed) {
  db::Statement statement(sql::k_scout_rated);
  statement.set_raw("queue_ids", id_list(queues))
      .set("known_us", time.now())
      .set("closed", closed == Closed::kToo);
  return statement;
}

ScoutedRates read_scouted_rates(std::span<db::StatementResult> results) {
  ScoutedRates scouted;
  while (const auto row = results[0].next()) {
    RatedQueue& queue = scouted.queues.emplace_back();
    row->read(0, queue.queue_id, queue.wait, queue.starts);
  }
  while (const auto row = results[1].next()) {
    scouted.found.push_back({row->u32(0), row->u32(1)});
  }
  return scouted;
}

ScoutedRates scout_rated(db::Connection& db, std::span<const std::uint32_t> queues,
                         const HolderTime& time, Closed closed) {
  auto results = db.run({scout_rated_statement(queues, time, closed)});
  return read_scouted_rates(results);
}

std::optional<RatedLease> lease_rated(db::Connection& db, const LeaseStore& store,
                                      Partition partition, const FetchSpec& spec,
                                      std::uint32_t asked, Locked locked, Deferred deferred) {
  db::Statement lease = store.lease_statement(sql::k_lease_rated, partition, spec, locked);
  set_deferred(lease, deferred);
  const std::vector<db::Statement> statements{
      std::move(lease), charge_statement(partition, store.holder().id, spec, asked)};
  const db::Statement fetch = fetch_statement(partition, of_grant(spec, asked));
  auto results = db.try_transact(statements, {.after = &fetch});
  if (!results) return std::nullopt;
  RatedLease taken;
  taken.granted = read_granted(results->at(kLeaseResults + kChargeResults - 1), asked);
  taken.block = store.read_block(partition, results->at(1), results->back());
  return taken;
}

RatedFetch ack_and_fetch_rated(db::Connection& db, const Lease& lease,
                               std::span<const Finished> finished, const FetchSpec& spec,
                               std::uint32_t asked) {
  auto statements = ack_statements(lease.partition, finished);
  statements.push_back(charge_statement(lease.partition, lease.holder, spec, asked));
  const db::Statement fetch = fetch_statement(lease.partition, of_grant(spec, asked));
  auto results = db.transact(statements, {.after = &fetch});
  RatedFetch fetched;
  fetched.granted = read_granted(results[results.size() - 2], asked);
  fetched.tasks = read_tasks(results.back());
  return fetched;
}

db::Statement give_back_statement(const Unused& unused) {
  db::Statement give_back(sql::k_give_back);
  return give_back.set("queue_id", unused.queue_id)
      .set("bucket_no", unused.bucket_no)
      .set("charged_at", unused.charged_at)
      .set("unused", unused.starts);
}

}  // namespace allot::queue
