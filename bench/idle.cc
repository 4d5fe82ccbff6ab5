// SPDX-License-Identifier: Apache-2.0
#include "bench/idle.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/error.h"
#include "base/version.h"
#include "bench/limit.h"
#include "bench/processor.h"
#include "queue/model/catalog.h"

namespace allot::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint32_t kIdlePartitions = 16;
constexpr auto kReadyPatience = std::chrono::seconds(60);
// After its start a worker polls often, then less and less often.
constexpr auto kSettling = std::chrono::seconds(3);

struct IdleCost {
  double statements_per_s = 0;
  double daemon_percent = 0;  // of one processor
  double server_percent = 0;
};

class Idle {
 public:
  explicit Idle(const IdleOptions& options)
      : options_(options), stage_(options.place, load()), db_(stage_.connect_options()) {
    (void)queue::ensure_queue(db_, "bench", {kIdlePartitions});
  }

  IdleCost measure(std::uint32_t workers) {
    const auto allotd = stage_.start_daemon(DaemonVariant{workers});
    wait_until_ready(*allotd, workers);
    std::this_thread::sleep_for(kSettling);
    const pid_t server = server_at(stage_.settings().database.socket);
    const std::uint64_t asked = questions();
    const std::uint64_t daemon_before = daemon_ns(*allotd);
    const std::uint64_t server_before = processor_ns(server);
    const auto began = Clock::now();
    std::this_thread::sleep_for(std::chrono::seconds(options_.seconds));
    const std::chrono::duration<double> elapsed = Clock::now() - began;
    const auto percent = [&](std::uint64_t ran) {
      return 100 * static_cast<double>(ran) / 1e9 / elapsed.count();
    };
    IdleCost cost;
    cost.daemon_percent = percent(daemon_ns(*allotd) - daemon_before);
    cost.server_percent = percent(processor_ns(server) - server_before);
    constexpr std::uint64_t kOwn = 1;  // this query itself
    cost.statements_per_s = static_cast<double>(questions() - asked - kOwn) / elapsed.count();
    allotd->stop();
    return cost;
  }

  [[nodiscard]] std::string server() { return text("SELECT VERSION()", 0); }

 private:
  static Load load() {
    Load load;
    load.partitions = kIdlePartitions;
    return load;
  }

  std::string text(const std::string& statement, unsigned column) {
    auto rows = db_.execute(statement);
    const auto row = rows.at(0).next();
    if (!row) throw Error("the server returns no row for " + statement);
    return std::string(row->text(column));
  }
  std::uint64_t questions() { return std::stoull(text("SHOW GLOBAL STATUS LIKE 'Questions'", 1)); }
  static std::uint64_t daemon_ns(const Child& allotd) {
    return processor_ns(allotd.pid()) + children_processor_ns(allotd.pid());
  }

  // Each worker has a connection, and the steward has one.
  void wait_until_ready(Child& allotd, std::uint32_t workers) {
    constexpr std::uint64_t kOthers = 2;  // connections of the steward and of this benchmark
    const auto deadline = Clock::now() + kReadyPatience;
    const std::string count =
        "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE DB = DATABASE()";
    while (std::stoull(text(count, 0)) < workers + kOthers) {
      if (!allotd.running()) allotd.finish();
      if (Clock::now() > deadline) {
        throw Error(std::to_string(workers) + " workers did not start; see " + stage_.log_file());
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }

  IdleOptions options_;
  Stage stage_;
  db::Connection db_;
};

using IdleRound = std::vector<IdleCost>;  // for each number of workers

IdleCost medians(const std::vector<IdleRound>& rounds, std::size_t which) {
  const auto of = [&](double IdleCost::*field) {
    return median_of(rounds, [&](const IdleRound& round) { return round[which].*field; });
  };
  return {of(&IdleCost::statements_per_s), of(&IdleCost::daemon_percent),
          of(&IdleCost::server_percent)};
}

}  // namespace

int idle(const IdleOptions& options) {
  Idle bench(options);
  std::vector<IdleRound> rounds;
  for (std::uint32_t i = 0; i < options.rounds; ++i) {
    IdleRound round;
    for (const std::uint32_t workers : options.workers) round.push_back(bench.measure(workers));
    rounds.push_back(round);
    if (isatty(STDERR_FILENO) != 0) {
      std::fprintf(stderr, "round %u of %u\n", i + 1, options.rounds);
    }
  }
  nlohmann::json report{{"bench", "idle"},
                        {"version", kVersion},
                        {"server", bench.server()},
                        {"seconds", options.seconds},
                        {"rounds", options.rounds}};
  if (!options.json) std::printf("workers  statements/s  daemon, of a core  server, of a core\n");
  for (std::size_t i = 0; i < options.workers.size(); ++i) {
    const IdleCost cost = medians(rounds, i);
    if (!options.json) {
      std::printf("%7u  %12.2f  %16.2f%%  %16.2f%%\n", options.workers[i], cost.statements_per_s,
                  cost.daemon_percent, cost.server_percent);
    }
    report["idle"].push_back({{"workers", options.workers[i]},
                              {"statements_per_s", cost.statements_per_s},
                              {"daemon_percent", cost.daemon_percent},
                              {"server_percent", cost.server_percent}});
  }
  const double ratio = median_of(rounds, [](const IdleRound& round) {
    return round.back().statements_per_s / round.front().statements_per_s;
  });
  report["ratio"] = ratio;
  if (options.json) {
    std::printf("%s\n", report.dump(2).c_str());
  } else {
    std::printf("statements, %u workers / %u workers: %.2f (medians of %u rounds of %u s)\n",
                options.workers.back(), options.workers.front(), ratio, options.rounds,
                options.seconds);
  }
  return kExitOk;
}

}  // namespace allot::bench
