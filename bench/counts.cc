// SPDX-License-Identifier: Apache-2.0
#include "bench/counts.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/unique_fd.h"
#include "base/version.h"
#include "bench/drain.h"
#include "bench/median.h"
#include "bench/meter.h"
#include "bench/processor.h"
#include "queue/model/catalog.h"

namespace allot::bench {
namespace {

namespace fs = std::filesystem;

// Processor time of one drain, in microseconds per task.
struct Cost {
  double workers = 0;
  double server = 0;
};

struct Pair {
  Cost with;
  Cost without;
  [[nodiscard]] double counting() const { return with.workers - without.workers; }
  // Part of a whole drain. Differences in the server's time are random.
  [[nodiscard]] double part() const {
    return counting() / (without.workers + (with.server + without.server) / 2);
  }
};

class Counts {
 public:
  explicit Counts(const CountsOptions& options)
      : load_(options.load),
        stage_(options.place, options.load),
        db_(stage_.connect_options()),
        meter_(stage_.connect_options()),
        server_(server_at(stage_.settings().database.socket)) {
    queue_ = queue::ensure_queue(db_, "bench", {load_.partition_count()});
  }

  // The two alternate in starting first.
  Pair round(std::uint32_t number) {
    Pair pair;
    if (number % 2 == 0) pair.without = drain(false);
    pair.with = drain(true);
    if (number % 2 != 0) pair.without = drain(false);
    return pair;
  }

 private:
  // A file in place of the record folder prevents the workers from creating records.
  void let_count(bool may) const {
    const fs::path meters = stage_.runtime_dir() + "/meters";
    fs::remove_all(meters);
    fs::create_directories(meters.parent_path());
    if (!may) std::ofstream(meters) << "made by allot bench: nothing is counted\n";
  }

  Cost drain(bool counting) {
    let_count(counting);
    submit_noops(db_, queue_, load_);
    meter_.reset();
    const std::uint64_t before = processor_ns(server_);
    const auto allotd = stage_.start_daemon();
    static_cast<void>(meter_.rate(load_.tasks, [&] { return allotd->running(); }));
    const std::uint64_t workers = children_processor_ns(allotd->pid());
    const std::uint64_t server = processor_ns(server_) - before;
    allotd->stop();
    if (fs::is_directory(stage_.runtime_dir() + "/meters") != counting) {
      throw Error("the workers counted where they should not, or the other way round");
    }
    const auto each = [this](std::uint64_t ran) {
      return static_cast<double>(ran) / 1e3 / load_.tasks;
    };
    return {each(workers), each(server)};
  }

  Load load_;
  Stage stage_;
  db::Connection db_;
  Meter meter_;
  pid_t server_;  // pid of the server
  queue::QueueInfo queue_;
};

// The value that this part of the values does not reach.
double quantile(std::vector<double> values, double part) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(
      std::lround(part * static_cast<double>(values.size() - 1)))];
}

}  // namespace

int counts(const CountsOptions& options) {
  Counts counts(options);
  std::vector<Pair> rounds;
  for (std::uint32_t i = 0; i < options.rounds; ++i) {
    rounds.push_back(counts.round(i));
    const Pair& pair = rounds.back();
    if (isatty(STDERR_FILENO) != 0) {
      std::fprintf(stderr, "round %u of %u: %.2f us, without %.2f us\n", i + 1, options.rounds,
                   pair.with.workers, pair.without.workers);
    }
  }
  const auto all = [&rounds](double (*field)(const Pair&)) {
    std::vector<double> values;
    std::transform(rounds.begin(), rounds.end(), std::back_inserter(values), field);
    return values;
  };
  const auto with = all([](const Pair& pair) { return pair.with.workers; });
  const auto without = all([](const Pair& pair) { return pair.without.workers; });
  const auto server = all([](const Pair& pair) { return pair.without.server; });
  const auto counting = all([](const Pair& pair) { return pair.counting(); });
  const auto part = all([](const Pair& pair) { return pair.part(); });
  if (!options.json) {
    std::printf("drained %u tasks with %u workers, block %u; processor time for each task:\n",
                options.load.tasks, options.load.workers, options.load.block);
    std::printf("workers %.2f us, without counts %.2f us; server %.2f us\n", median(with),
                median(without), median(server));
    std::printf("counting %.3f us, %.2f %% of a drain (half of %u rounds: %.2f to %.2f %%)\n",
                median(counting), 100 * median(part), options.rounds, 100 * quantile(part, 0.25),
                100 * quantile(part, 0.75));
    return kExitOk;
  }
  const nlohmann::json report{{"bench", "counts"},
                              {"version", kVersion},
                              {"tasks", options.load.tasks},
                              {"workers", options.load.workers},
                              {"block", options.load.block},
                              {"with_us", with},
                              {"without_us", without},
                              {"server_us", server},
                              {"counting_us", median(counting)},
                              {"part_of_drain", median(part)}};
  std::printf("%s\n", report.dump(2).c_str());
  return kExitOk;
}

}  // namespace allot::bench
