// SPDX-License-Identifier: Apache-2.0
#include "bench/fence.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <regex>

#include "base/error.h"
#include "base/version.h"
#include "bench/median.h"
#include "bench/stage.h"
#include "queue/model/catalog.h"
#include "queue/submit/submit.h"
#include "queue/verbs/block.h"
#include "queue/verbs/lease_store.h"
#include "sql/queries.h"

namespace allot::bench {
namespace {

// One transaction: an attempt's record, and the new state of the task. The next verb leaves the
// task in place.
constexpr std::array kVerbs{&sql::k_retry, &sql::k_bury, &sql::k_charge};

struct Times {
  double fenced_us = 0;  // means over a round
  double bare_us = 0;
};

struct Sample {
  std::string_view verb;
  Times median;
  double ratio = 0;  // median of the rounds' ratios
};

// A query with or without its fence; the text must outlive its statements.
class Query {
 public:
  Query(const sql::SqlText& query, bool fenced)
      : fenced_(fenced),
        text_(fenced ? std::string(query.text) : without_fence(query.text)),
        query_{query.name, text_} {}
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;
  ~Query() = default;

  [[nodiscard]] db::Statement statement(const queue::Lease& lease, queue::TaskKey key) const {
    db::Statement statement(query_);
    statement.set("queue_id", lease.partition.queue_id)
        .set("partition_no", lease.partition.partition_no)
        .set("prio", key.prio)
        .set("run_key", key.run_key);
    if (fenced_) statement.set("epoch", lease.epoch).set("holder", lease.holder);
    return statement;
  }

 private:
  bool fenced_;
  std::string text_;
  sql::SqlText query_;
};

class Verb {
 public:
  Verb(const sql::SqlText& query, bool fenced)
      : record_(sql::k_record_attempt, fenced), query_(query, fenced), verb_(&query) {}

  // Duration of the whole trip in microseconds.
  double run(db::Connection& db, const queue::Lease& lease, queue::TaskKey key) const {
    db::Statement record = record_.statement(lease, key);
    record.set("attempt", 1).set("cause", "bench").set("error", "");
    record.set("host", "bench").set("pid", 1);
    for (const char* usage : {"runtime_us", "cpu_us", "max_rss_kib"}) record.set_raw(usage, "NULL");
    db::Statement verb = query_.statement(lease, key);
    if (verb_ == &sql::k_retry) {
      verb.set("delay_us", 3'600'000'000).set("known_us", 0).set("salt", key.run_key & 4095);
    }
    if (verb_ == &sql::k_bury) {
      verb.set("first_key", key.run_key).set("attempt", 1).set("cause", "bench").set("error", "");
    } else {
      verb.set("at_least", 1).set("at_most", UINT32_MAX).set("keep_flags", 255);
    }
    if (verb_ == &sql::k_charge) verb.set("begun", 0);
    const std::vector<db::Statement> writes{record, verb};
    const auto begin = std::chrono::steady_clock::now();
    db.transact(writes);
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin)
        .count();
  }

 private:
  Query record_;
  Query query_;
  const sql::SqlText* verb_;
};

class Fence {
 public:
  explicit Fence(const FenceOptions& options)
      : tasks_(options.tasks), stage_(options.place, Load{}), db_(stage_.connect_options()) {}

  Times round(const sql::SqlText& query) {
    const queue::Lease lease = fill();
    const Verb fenced(query, true);
    const Verb bare(query, false);
    Times sum;
    bool first = true;
    for (const auto& [one, other] : keys(lease.partition)) {
      // The two alternate in starting first, so that the same one does not always meet the warmer
      // row.
      if (first) sum.fenced_us += fenced.run(db_, lease, one);
      sum.bare_us += bare.run(db_, lease, other);
      if (!first) sum.fenced_us += fenced.run(db_, lease, one);
      first = !first;
    }
    return {sum.fenced_us / tasks_, sum.bare_us / tasks_};
  }

 private:
  // Leases a partition with two tasks for each pair.
  queue::Lease fill() {
    db_.execute(
        "TRUNCATE task; TRUNCATE task_moved; TRUNCATE task_attempt; TRUNCATE task_dead;"
        "TRUNCATE q_lock_table; TRUNCATE queue");
    const queue::QueueInfo info = queue::ensure_queue(db_, "bench", {1});
    std::uint32_t left = 2 * tasks_;
    while (left > 0) {
      const std::vector<queue::Submission> batch(std::min(left, kSubmitBatch),
                                                 {info, "bench.noop", "x"});
      (void)queue::submit(db_, batch);
      left -= static_cast<std::uint32_t>(batch.size());
    }
    const queue::LeaseStore leases({1, 1, "bench", "bench", 1}, std::chrono::hours(1));
    auto block = leases.lease(db_, {info.queue_id, 0}, {});
    if (!block) throw Error("the benchmark's own partition could not be leased", kExitSoftware);
    return block->lease;
  }

  std::vector<std::pair<queue::TaskKey, queue::TaskKey>> keys(queue::Partition partition) {
    queue::FetchSpec all;
    all.block_size = 2 * tasks_;
    const auto waiting = queue::fetch(db_, partition, all);
    std::vector<std::pair<queue::TaskKey, queue::TaskKey>> pairs;
    for (std::size_t i = 0; i + 1 < waiting.size(); i += 2) {
      pairs.emplace_back(waiting[i].key, waiting[i + 1].key);
    }
    return pairs;
  }

  std::uint32_t tasks_;
  Stage stage_;
  db::Connection db_;
};

Sample sample(Fence& bench, const sql::SqlText& query, std::uint32_t rounds) {
  std::vector<double> fenced;
  std::vector<double> bare;
  std::vector<double> ratios;
  for (std::uint32_t i = 0; i < rounds; ++i) {
    const Times times = bench.round(query);
    fenced.push_back(times.fenced_us);
    bare.push_back(times.bare_us);
    ratios.push_back(times.fenced_us / times.bare_us);
  }
  return {query.name, {median(fenced), median(bare)}, median(ratios)};
}

}  // namespace

std::string without_fence(std::string_view query) {
  static const std::regex kFence(R"(\s+AND \(SELECT 1 FROM q_lock_table[^)]*FOR UPDATE\) = 1)");
  return std::regex_replace(std::string(query), kFence, "");
}

int fence(const FenceOptions& options) {
  Fence bench(options);
  nlohmann::json report{{"bench", "fence"}, {"version", kVersion}, {"tasks", options.tasks}};
  if (!options.json) std::printf("%-8s %12s %12s %6s\n", "verb", "fenced", "without", "ratio");
  for (const sql::SqlText* query : kVerbs) {
    const Sample one = sample(bench, *query, options.rounds);
    if (!options.json) {
      std::printf("%-8s %9.1f us %9.1f us %6.2f\n", std::string(one.verb).c_str(),
                  one.median.fenced_us, one.median.bare_us, one.ratio);
    }
    report["verbs"].push_back({{"verb", one.verb},
                               {"fenced_us", one.median.fenced_us},
                               {"without_us", one.median.bare_us},
                               {"ratio", one.ratio}});
  }
  if (options.json) std::printf("%s\n", report.dump(2).c_str());
  return kExitOk;
}

}  // namespace allot::bench
