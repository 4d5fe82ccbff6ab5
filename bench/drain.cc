// SPDX-License-Identifier: Apache-2.0
#include "bench/drain.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/version.h"
#include "bench/limit.h"
#include "bench/meter.h"
#include "queue/model/catalog.h"
#include "queue/submit/submit.h"

namespace allot::bench {
namespace {

class Drain {
 public:
  explicit Drain(const DrainOptions& options)
      : load_(options.load),
        stage_(options.place, options.load),
        db_(stage_.connect_options()),
        meter_(stage_.connect_options()) {
    db_.execute("CREATE TABLE bench_floor LIKE task");
    queue_ = queue::ensure_queue(db_, "bench", {load_.partition_count()});
  }

  // The two alternate in starting first, so that the same one does not always meet the colder
  // server.
  Round round(std::uint32_t number) {
    fill();
    Round result;
    if (number % 2 == 0) result.floor_tasks_per_s = floor();
    result.tasks_per_s = daemon();
    if (number % 2 != 0) result.floor_tasks_per_s = floor();
    return result;
  }

  [[nodiscard]] std::string server() {
    auto rows = db_.execute("SELECT VERSION()");
    return std::string(rows.at(0).next()->text(0));
  }
  [[nodiscard]] std::uint64_t variable(const std::string& name) {
    auto rows = db_.execute("SELECT @@" + name);
    return rows.at(0).next()->u64(0);
  }

 private:
  void fill() {
    submit_noops(db_, queue_, load_);
    db_.execute("INSERT INTO bench_floor SELECT * FROM task");
  }

  double daemon() {
    meter_.reset();
    const auto allotd = stage_.start_daemon();
    const double rate = meter_.rate(load_.tasks, [&] { return allotd->running(); });
    allotd->stop();
    return rate;
  }

  double floor() {
    std::vector<std::unique_ptr<Child>> clients;
    meter_.reset();
    for (std::uint32_t i = 0; i < load_.workers; ++i) {
      clients.push_back(stage_.start_floor(queue_.queue_id, i));
    }
    const double rate = meter_.rate(load_.tasks, [&] {
      return std::any_of(clients.begin(), clients.end(), [](auto& one) { return one->running(); });
    });
    for (auto& client : clients) client->finish();
    return rate;
  }

  Load load_;
  Stage stage_;
  db::Connection db_;
  Meter meter_;
  queue::QueueInfo queue_;
};

nlohmann::json as_json(const Round& round) {
  return {{"tasks_per_s", round.tasks_per_s},
          {"floor_tasks_per_s", round.floor_tasks_per_s},
          {"ratio", round.ratio()}};
}

}  // namespace

void submit_noops(db::Connection& db, const queue::QueueInfo& queue, const Load& load) {
  const queue::Submission task{queue, "bench.noop", std::string(load.payload, 'x')};
  std::uint32_t left = load.tasks;
  while (left > 0) {
    const std::vector<queue::Submission> batch(std::min(left, kSubmitBatch), task);
    (void)queue::submit(db, batch);
    left -= static_cast<std::uint32_t>(batch.size());
  }
}

int drain(const DrainOptions& options) {
  Drain drain(options);
  std::vector<Round> rounds;
  for (std::uint32_t i = 0; i < options.rounds; ++i) {
    rounds.push_back(drain.round(i));
    if (isatty(STDERR_FILENO) != 0) {
      std::fprintf(stderr, "round %u of %u: %.0f tasks/s, floor %.0f\n", i + 1, options.rounds,
                   rounds.back().tasks_per_s, rounds.back().floor_tasks_per_s);
    }
  }
  const double ours = median_of(rounds, [](const Round& round) { return round.tasks_per_s; });
  const double floor =
      median_of(rounds, [](const Round& round) { return round.floor_tasks_per_s; });
  const double ratio = median_of(rounds, [](const Round& round) { return round.ratio(); });
  if (!options.json) {
    std::printf("drained %u tasks with %u workers, block %u: %.0f tasks/s\n", options.load.tasks,
                options.load.workers, options.load.block, ours);
    std::printf("floor, the same rows with bare clients:      %.0f tasks/s\n", floor);
    std::printf("ratio %.2f (median of %u rounds; only the ratio means something elsewhere)\n",
                ratio, options.rounds);
    return kExitOk;
  }
  nlohmann::json report{{"bench", "drain"},
                        {"version", kVersion},
                        {"server", drain.server()},
                        {"tasks", options.load.tasks},
                        {"workers", options.load.workers},
                        {"partitions", options.load.partition_count()},
                        {"block", options.load.block},
                        {"payload_bytes", options.load.payload},
                        {"tasks_per_s", ours},
                        {"floor_tasks_per_s", floor},
                        {"ratio", ratio}};
  for (const char* name : {"innodb_flush_log_at_trx_commit", "log_bin", "sync_binlog"}) {
    report[name] = drain.variable(name);
  }
  for (const Round& round : rounds) report["rounds"].push_back(as_json(round));
  std::printf("%s\n", report.dump(2).c_str());
  return kExitOk;
}

}  // namespace allot::bench
