// SPDX-License-Identifier: Apache-2.0
#include "bench/http_worker.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "base/error.h"
#include "base/version.h"
#include "bench/claim.h"
#include "bench/target.h"
#include "bench/worker_drain.h"

namespace allot::bench {
namespace {

constexpr std::size_t kSessions = 64;
// Fifteen times what runs at a time: at the end of a block some of the threads have nothing to do.
constexpr std::uint32_t kBlock = 960;
constexpr std::uint32_t kQuickShare = 2;
constexpr std::chrono::milliseconds kSlow{20};

struct HttpWorkerRound {
  double slow = 0;  // tasks a second
  double slow_bare = 0;
  double quick = 0;
  double quick_bare = 0;
  double noop = 0;
};
using HttpWorkerClaim = Claim<HttpWorkerRound>;

constexpr std::array kHttpWorkerClaims{
    HttpWorkerClaim{"http, 64 at a time, 20 ms", "64 bare sessions",
                    [](const HttpWorkerRound& round) { return round.slow / round.slow_bare; }, 0.95,
                    true},
    // Nobody does both faster than one after the other: a request, and a task.
    HttpWorkerClaim{"http, 64 at a time, at once", "sessions + no-op drain",
                    [](const HttpWorkerRound& round) {
                      return round.quick * (1 / round.quick_bare + 1 / round.noop);
                    },
                    0.5, true},
    HttpWorkerClaim{"http, 64 at a time, at once", "64 bare sessions",
                    [](const HttpWorkerRound& round) { return round.quick / round.quick_bare; },
                    0.5, true},
};

std::string url_of(const Target& target) {
  return "\"http://127.0.0.1:" + std::to_string(target.port()) + "\"";
}

class HttpWorker {
 public:
  explicit HttpWorker(const HttpWorkerOptions& options)
      : options_(options), drain_(options.place, load()) {
    const auto type = [](const char* name, const Target& target) {
      return std::string("[plugins.http.types.\"") + name + "\"]\nurl = " + url_of(target) + "\n";
    };
    (void)drain_.configure("[plugins.http]\nallow = [" + url_of(slow_) + ", " + url_of(quick_) +
                           "]\n" + type("bench.slow", slow_) + type("bench.quick", quick_));
  }

  // Every other round goes the other way round, so that none always meets the colder server.
  HttpWorkerRound round(std::uint32_t number) {
    HttpWorkerRound result;
    constexpr int kSteps = 5;
    for (int i = 0; i < kSteps; ++i) measure(number % 2 == 0 ? i : kSteps - 1 - i, result);
    return result;
  }

  [[nodiscard]] std::string server() { return drain_.server(); }

 private:
  static Load load() {
    Load load;
    load.workers = 1;
    load.concurrency = kSessions;
    load.block = kBlock;
    load.block_seconds = 10;
    load.partitions = 2;
    return load;
  }

  void measure(int step, HttpWorkerRound& result) {
    const std::uint32_t many = options_.tasks * kQuickShare;
    switch (step) {
      case 0:
        result.slow_bare = bare(slow_);
        break;
      case 1:
        result.slow = drain_.rate("bench.slow", options_.tasks);
        break;
      case 2:
        result.quick_bare = bare(quick_);
        break;
      case 3:
        result.quick = drain_.rate("bench.quick", many);
        break;
      default:
        result.noop = drain_.rate("bench.noop", many);
    }
  }

  // The request is that of a task in the drain.
  double bare(const Target& target) const {
    const std::string payload(Load().payload, 'x');
    const std::string request =
        "POST / HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(target.port()) +
        "\r\nUser-Agent: Allot\r\nConnection: keep-alive\r\nContent-Type: application/json\r\n"
        "Content-Length: " +
        std::to_string(payload.size()) +
        "\r\nX-Allot-Task: 0840dqg2v5n80r00\r\nX-Allot-Type: bench.quick\r\nX-Allot-Queue: "
        "bench\r\n"
        "X-Allot-Attempt: 1\r\nX-Allot-Max-Attempts: 10\r\n\r\n" +
        payload;
    return bare_sessions(target.port(), kSessions, request,
                         std::chrono::milliseconds(options_.milliseconds));
  }

  HttpWorkerOptions options_;
  WorkerDrain drain_;
  Target slow_{kSlow};
  Target quick_{std::chrono::milliseconds(0)};
};

}  // namespace

int http_worker(const HttpWorkerOptions& options) {
  HttpWorker bench(options);
  std::vector<HttpWorkerRound> rounds;
  nlohmann::json report{
      {"bench", "http-worker"}, {"version", kVersion}, {"server", bench.server()}};
  for (std::uint32_t i = 0; i < options.rounds; ++i) {
    const HttpWorkerRound& round = rounds.emplace_back(bench.round(i));
    report["rounds"].push_back({{"slow", round.slow},
                                {"slow_bare", round.slow_bare},
                                {"quick", round.quick},
                                {"quick_bare", round.quick_bare},
                                {"noop", round.noop}});
    if (isatty(STDERR_FILENO) != 0) {
      std::fprintf(stderr, "round %u of %u\n", i + 1, options.rounds);
    }
  }
  const bool good = judge(rounds, kHttpWorkerClaims, options.json, report);
  if (options.json) std::printf("%s\n", report.dump(2).c_str());
  return options.check && !good ? kExitFailure : kExitOk;
}

}  // namespace allot::bench
