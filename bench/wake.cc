// SPDX-License-Identifier: Apache-2.0
#include "bench/wake.h"

#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/error.h"
#include "base/version.h"
#include "bench/drain.h"
#include "bench/follow.h"
#include "bench/limit.h"
#include "bench/meter.h"
#include "bench/processor.h"
#include "queue/model/catalog.h"

namespace allot::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint32_t kRowBytes = 1'000;
constexpr std::uint32_t kRowsOfATransaction = 100;

struct WriterCost {
  double daemon = 0;  // in percent of a processor
  double server = 0;
  double mb_per_second = 0;  // written by the writer
};

struct WakeRound {
  double with_tasks_per_s = 0;
  double without_tasks_per_s = 0;
  WriterCost with;
  WriterCost without;
};

class Wake {
 public:
  explicit Wake(const WakeOptions& options)
      : options_(options),
        stage_(options.place, load(options)),
        db_(stage_.connect_options()),
        meter_(stage_.connect_options()) {
    auto rows = db_.execute("SELECT @@log_bin");
    if (rows.at(0).next()->u64(0) == 0) {
      throw Error("the binary log of this server is off (log_bin)", kExitConfig);
    }
    queue_ = queue::ensure_queue(db_, "bench", {options.load.partition_count()});
    db_.execute("CREATE TABLE bench_other (id INT PRIMARY KEY AUTO_INCREMENT, text BLOB)");
    insert_ = "INSERT INTO bench_other (text) VALUES ";
    const std::string row = "(REPEAT('x', " + std::to_string(kRowBytes) + "))";
    for (std::uint32_t i = 0; i < kRowsOfATransaction; ++i) insert_ += (i == 0 ? "" : ", ") + row;
  }

  // The two alternate in starting first.
  WakeRound round(std::uint32_t number) {
    WakeRound result;
    for (const bool follows : {number % 2 == 0, number % 2 != 0}) {
      (follows ? result.with_tasks_per_s : result.without_tasks_per_s) = drain(follows);
      (follows ? result.with : result.without) = cost_with_writer(follows);
    }
    return result;
  }

  [[nodiscard]] std::string server() {
    auto rows = db_.execute("SELECT VERSION()");
    return std::string(rows.at(0).next()->text(0));
  }

 private:
  static Load load(const WakeOptions& options) {
    Load load = options.load;
    load.binary_log = true;
    return load;
  }

  [[nodiscard]] std::unique_ptr<Child> start(bool follows) const {
    return stage_.start_daemon(DaemonVariant{
        options_.load.workers, follows ? wake_section(stage_) : std::string(), false});
  }

  double drain(bool follows) {
    submit_noops(db_, queue_, options_.load);
    meter_.reset();
    const auto allotd = start(follows);
    const double rate = meter_.rate(options_.load.tasks, [&] { return allotd->running(); });
    allotd->stop();
    return rate;
  }

  WriterCost cost_with_writer(bool follows) {
    const auto allotd = start(follows);
    if (follows) wait_until_followed(db_, *allotd, stage_.log_file());
    std::this_thread::sleep_for(std::chrono::seconds(1));  // wait for the end of its start
    const pid_t server = server_at(stage_.settings().database.socket);
    const std::uint64_t daemon_before = children_processor_ns(allotd->pid());
    const std::uint64_t server_before = processor_ns(server);
    const auto began = Clock::now();
    const std::uint64_t rows = write_rows(began + std::chrono::seconds(options_.seconds));
    const std::chrono::duration<double> elapsed = Clock::now() - began;
    const auto percent = [&](std::uint64_t ran) {
      return 100 * static_cast<double>(ran) / 1e9 / elapsed.count();
    };
    const WriterCost cost{percent(children_processor_ns(allotd->pid()) - daemon_before),
                          percent(processor_ns(server) - server_before),
                          static_cast<double>(rows) * kRowBytes / 1e6 / elapsed.count()};
    allotd->stop();
    db_.execute("TRUNCATE bench_other");
    return cost;
  }

  // Writes at that rate, or as fast as possible. Returns the number of rows.
  std::uint64_t write_rows(Clock::time_point end) {
    const double per_second = options_.mb_per_second * 1e6 / kRowBytes / kRowsOfATransaction;
    const auto pause =
        std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(1 / per_second));
    std::uint64_t rows = 0;
    for (auto next = Clock::now(); Clock::now() < end; next += pause) {
      std::this_thread::sleep_until(next);
      db_.execute(insert_);
      rows += kRowsOfATransaction;
    }
    return rows;
  }

  WakeOptions options_;
  Stage stage_;
  db::Connection db_;
  Meter meter_;
  queue::QueueInfo queue_;
  std::string insert_{};
};

constexpr std::array kLimitsOfWake{
    Limit<WakeRound>{
        "drain, log followed", "not followed",
        [](const WakeRound& round) { return round.with_tasks_per_s / round.without_tasks_per_s; },
        0.97, true},
    Limit<WakeRound>{
        "with a writer, % of a core", "",
        [](const WakeRound& round) { return round.with.daemon - round.without.daemon; }, 10, false},
    Limit<WakeRound>{
        "  of the server", "",
        [](const WakeRound& round) { return round.with.server - round.without.server; }, 10, false,
        true},
};

}  // namespace

int wake(const WakeOptions& options) {
  Wake bench(options);
  std::vector<WakeRound> rounds;
  for (std::uint32_t i = 0; i < options.rounds; ++i) {
    rounds.push_back(bench.round(i));
    if (isatty(STDERR_FILENO) != 0) {
      std::fprintf(stderr, "round %u of %u\n", i + 1, options.rounds);
    }
  }
  nlohmann::json report{{"bench", "wake"},
                        {"version", kVersion},
                        {"server", bench.server()},
                        {"tasks", options.load.tasks},
                        {"mb_per_second", options.mb_per_second},
                        {"rounds", options.rounds}};
  const double written =
      median_of(rounds, [](const WakeRound& round) { return round.with.mb_per_second; });
  report["written_mb_per_second"] = written;
  const bool good = judge(rounds, kLimitsOfWake, options.json, report);
  if (options.json) {
    std::printf("%s\n", report.dump(2).c_str());
  } else {
    std::printf("the writer has written %.1f MB a second\n", written);
  }
  return options.check && !good ? kExitFailure : kExitOk;
}

}  // namespace allot::bench
