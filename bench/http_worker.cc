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
#include "bench/limit.h"
#include "bench/processor.h"
#include "bench/rounds.h"
#include "bench/sessions.h"
#include "bench/target.h"
#include "bench/worker_drain.h"

namespace allot::bench {
namespace {

constexpr std::size_t kSessions = 64;
// Fifteen times the number of concurrent requests: at the end of a block some of the threads are
// idle.
constexpr std::uint32_t kBlock = 960;
constexpr std::uint32_t kQuickShare = 2;
constexpr std::chrono::milliseconds kSlow{20};

struct HttpWorkerRound {
  double slow = 0;  // tasks per second
  double slow_bare = 0;
  double quick = 0;
  double quick_bare = 0;   // with sessions
  double quick_ready = 0;  // with prepared requests
  double noop = 0;
  // Processor time of one item, in microseconds.
  double session_us = 0;  // a request of a session, with the target's
  double ready_us = 0;    // a prepared request, likewise
  DrainCost task_us{};
  DrainCost noop_us{};
};
using HttpWorkerLimit = Limit<HttpWorkerRound>;

constexpr std::array kHttpWorkerLimits{
    HttpWorkerLimit{"http, 64 at a time, 20 ms", "64 bare sessions",
                    [](const HttpWorkerRound& round) { return round.slow / round.slow_bare; }, 0.95,
                    true},
    HttpWorkerLimit{"http, 64 at a time, at once", "64 bare sessions",
                    [](const HttpWorkerRound& round) { return round.quick / round.quick_bare; },
                    0.5, true},
    // Lower bound of the time for both in sequence: a request and a task.
    HttpWorkerLimit{"http, 64 at a time, at once", "ready ones + no-op drain",
                    [](const HttpWorkerRound& round) {
                      return round.quick * (1 / round.quick_ready + 1 / round.noop);
                    },
                    0.5, true},
    HttpWorkerLimit{"http, 64 at a time, at once", "64 ready requests",
                    [](const HttpWorkerRound& round) { return round.quick / round.quick_ready; },
                    0.5, true, true},
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

  HttpWorkerRound round(std::uint32_t number) {
    HttpWorkerRound result;
    constexpr int kSteps = 6;
    for_each_step(number, kSteps, [&](int step) { measure(step, result); });
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
        result.quick_bare = bare(quick_, &result.session_us);
        break;
      case 3:
        result.quick_ready = ready(result.ready_us);
        break;
      case 4:
        result.quick = drain_.rate("bench.quick", many);
        result.task_us = drain_.cost();
        break;
      default:
        result.noop = drain_.rate("bench.noop", many);
        result.noop_us = drain_.cost();
    }
  }

  // Same request as for a task in the drain.
  static Post post_to(const Target& target) {
    Post post{.port = target.port(), .payload = std::string(Load().payload, 'x')};
    post.fields = {{"User-Agent", "Allot"},
                   {"Content-Type", "application/json"},
                   {"X-Allot-Task", "0840dqg2v5n80r00"},
                   {"X-Allot-Type", "bench.quick"},
                   {"X-Allot-Queue", "bench"},
                   {"X-Allot-Attempt", "1"},
                   {"X-Allot-Max-Attempts", "10"}};
    return post;
  }

  double bare(const Target& target, double* each_us = nullptr) const {
    const Post post = post_to(target);
    return timed(each_us, [&](auto length) { return bare_sessions(post, kSessions, length); });
  }

  double ready(double& each_us) const {
    const Post post = post_to(quick_);
    std::string request =
        "POST / HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(post.port) +
        "\r\nConnection: keep-alive\r\nContent-Length: " + std::to_string(post.payload.size()) +
        "\r\n";
    for (const auto& [name, value] : post.fields) request += name + ": " + value + "\r\n";
    request += "\r\n" + post.payload;
    return timed(&each_us, [&](auto length) {
      return ready_requests(post.port, kSessions, request, length);
    });
  }

  template <typename Rate>
  double timed(double* each_us, const Rate& rate_of) const {
    const std::chrono::duration<double> length = std::chrono::milliseconds(options_.milliseconds);
    const std::uint64_t before = own_processor_ns();
    const double rate = rate_of(length);
    if (each_us != nullptr) {
      *each_us = static_cast<double>(own_processor_ns() - before) / 1e3 / (rate * length.count());
    }
    return rate;
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
                                {"quick_ready", round.quick_ready},
                                {"noop", round.noop}});
    if (isatty(STDERR_FILENO) != 0) {
      std::fprintf(stderr, "round %u of %u\n", i + 1, options.rounds);
    }
  }
  const auto each = [&](const auto& of) { return median_of(rounds, of); };
  const double session = each([](const HttpWorkerRound& one) { return one.session_us; });
  const double ready = each([](const HttpWorkerRound& one) { return one.ready_us; });
  const double worker = each([](const HttpWorkerRound& one) { return one.task_us.workers; });
  const double server = each([](const HttpWorkerRound& one) { return one.task_us.server; });
  const double target = each([](const HttpWorkerRound& one) { return one.task_us.own; });
  const double noop =
      each([](const HttpWorkerRound& one) { return one.noop_us.workers + one.noop_us.server; });
  report["processor_us"] = {{"session", session}, {"ready", ready},   {"worker", worker},
                            {"server", server},   {"target", target}, {"noop", noop}};
  const bool good = judge(rounds, kHttpWorkerLimits, options.json, report);
  if (options.json) {
    std::printf("%s\n", report.dump(2).c_str());
  } else {
    std::printf(
        "processor time: a request of a session %.1f us, a ready one %.1f us; a task %.1f us, of "
        "which worker %.1f, target %.1f, server %.1f; a no-op task %.1f us\n",
        session, ready, worker + target + server, worker, target, server, noop);
  }
  return options.check && !good ? kExitFailure : kExitOk;
}

}  // namespace allot::bench
