// SPDX-License-Identifier: Apache-2.0
#include "bench/fireworq.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/version.h"
#include "bench/fireworq_floor.h"
#include "bench/http_load.h"
#include "bench/limit.h"
#include "bench/rounds.h"
#include "bench/target.h"
#include "gateway/fireworq/body.h"
#include "queue/fireworq/definition.h"
#include "queue/fireworq/jobs.h"
#include "queue/submit/submit.h"

namespace allot::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kConnections = 64;
constexpr std::uint32_t kMaxWorkers = 50;  // as in the benchmark programs of Fireworq
constexpr auto kJobsPatience = std::chrono::minutes(10);
constexpr char kPayload[] = R"({"number":12345})";
constexpr char kSuccess[] = R"({"status":"success"})";

struct FireworqRound {
  double push = 0;  // jobs per second
  double insert = 0;
  double dispatch = 0;
  double bare = 0;
};
using FireworqLimit = Limit<FireworqRound>;

constexpr std::array kFireworqLimits{
    FireworqLimit{"POST /job, 64 connections", "its INSERT, 64 clients",
                  [](const FireworqRound& round) { return round.push / round.insert; }, 0.7, true},
    FireworqLimit{"dispatch, max_workers 50", "its statements and POSTs",
                  [](const FireworqRound& round) { return round.dispatch / round.bare; }, 1.2,
                  true},
};

struct Rate {
  std::uint32_t per_second = 0;
  std::uint32_t burst = 0;
};
// A tenth of a second's jobs may start at once.
constexpr std::array<Rate, 3> kRates{{{500, 50}, {50, 5}, {5, 1}}};
using Started = std::array<double, kRates.size()>;  // per second

double off_by(double per_second, const Rate& rate) {
  return std::abs(per_second / rate.per_second - 1) * 100;
}
constexpr std::array kRateLimits{
    Limit<Started>{"throttled to 500/s, off by %", "",
                   [](const Started& all) { return off_by(all[0], kRates[0]); }, 5, false},
    Limit<Started>{"throttled to 50/s, off by %", "",
                   [](const Started& all) { return off_by(all[1], kRates[1]); }, 5, false},
    Limit<Started>{"throttled to 5/s, off by %", "",
                   [](const Started& all) { return off_by(all[2], kRates[2]); }, 5, false},
};

class Fireworq {
 public:
  explicit Fireworq(const FireworqOptions& options)
      : options_(options),
        length_(options.milliseconds / 1000.0),
        stage_(options.place, load()),
        db_(stage_.connect_options()),
        floor_(stage_.connect_options()) {
    db_.execute("SET GLOBAL max_connections = 500");
    const std::string plugins =
        "[plugins.http]\nallow = [\"" + origin() + "\"]\n[plugins.http.fireworq]\nenabled = true\n";
    daemon_config_ = stage_.write_config_of_plugins(plugins);
    start_gateway();
    put("/queue/jobs", {{"max_workers", kMaxWorkers}, {"polling_interval", 100}});
    put("/routing/bench", {{"queue_name", "jobs"}});
  }

  FireworqRound round(std::uint32_t number) {
    FireworqRound result;
    constexpr int kSteps = 4;
    for_each_step(number, kSteps, [&](int step) { measure(step, result); });
    return result;
  }

  // Jobs per second that a queue with that rate starts after its burst.
  double started(const Rate& rate) {
    put("/queue/jobs", {{"max_workers", kMaxWorkers},
                        {"max_dispatches_per_second", rate.per_second},
                        {"max_burst_size", rate.burst}});
    empty();
    const std::uint32_t seconds = options_.throttled;
    submit(rate.per_second * (seconds + 5) + rate.burst);
    const std::uint64_t zero = target_.answered();
    const auto allotd = stage_.start_daemon(daemon_config_);
    const auto wait_until = [&](auto over) {
      while (!over()) {
        if (!allotd->running()) allotd->finish();
        std::this_thread::sleep_for(std::chrono::microseconds(500));
      }
    };
    wait_until([&] { return target_.answered() > zero + rate.burst; });
    // Wait for half the distance between two starts, so that the window does not begin at a start.
    std::this_thread::sleep_for(Seconds(0.5 / rate.per_second));
    const std::uint64_t before = target_.answered();
    const auto begin = Clock::now();
    wait_until([&] { return Clock::now() - begin >= std::chrono::seconds(seconds); });
    const std::uint64_t after = target_.answered();
    const Seconds elapsed = Clock::now() - begin;
    allotd->stop();
    return static_cast<double>(after - before) / elapsed.count();
  }

  [[nodiscard]] std::string server() {
    auto rows = db_.execute("SELECT VERSION()");
    return std::string(rows.at(0).next()->text(0));
  }

 private:
  static Load load() {
    Load load;
    load.workers = 1;
    load.concurrency = kConnections;
    load.fireworq = true;
    return load;
  }

  void start_gateway() {
    const std::string address = "127.0.0.1:" + std::to_string(endpoint_.port);
    const std::string sections =
        "[gateway]\nlisten = [\"127.0.0.1:" + std::to_string(free_port()) +
        "\"]\nsocket = " + toml_text(stage_.folder() + "/fireworq.sock") +
        "\n[gateway.database]\nuser = " + toml_text(stage_.settings().database.user) +
        "\n[gateway.fireworq]\nanonymous = true\nlisten = " + toml_text(address) +
        "\n[plugins.http]\nallow = [\"" + origin() + "\"]\n";
    gateway_ = stage_.start_gateway("fireworq", sections);
    wait_for_endpoint(endpoint_, *gateway_);
  }

  void put(const std::string& path, const nlohmann::json& body) const {
    const std::string answer = ask(endpoint_, "PUT", path, body.dump());
    if (!answer.starts_with("HTTP/1.1 200")) throw Error("PUT " + path + ": " + answer);
  }

  void measure(int step, FireworqRound& result) {
    switch (step) {
      case 0:
        result.insert = insert();
        break;
      case 1:
        result.push = push();
        break;
      case 2:
        result.bare = bare();
        break;
      default:
        result.dispatch = dispatch();
    }
  }

  void empty() { db_.execute("TRUNCATE task; TRUNCATE task_dead; TRUNCATE fireworq_job"); }

  double push() {
    empty();
    const Submit job{"/job/bench", post_body(), "HTTP/1.1 200"};
    return HttpLoad(endpoint_, kConnections, true, job).run(length_).per_s;
  }

  double insert() {
    floor_.fill(job(), 0);
    return floor_.push(job(), kConnections, length_).per_s;
  }

  double dispatch() {
    empty();
    submit(options_.tasks);
    const std::uint64_t zero = target_.answered();
    const auto allotd = stage_.start_daemon(daemon_config_);
    const double rate = done(zero, "task", [&] { return allotd->running(); });
    allotd->stop();
    return rate;
  }

  double bare() {
    floor_.fill(job(), options_.tasks);
    const std::uint64_t zero = target_.answered();
    const auto drain = floor_.start(target_.port(), request_head(), kMaxWorkers);
    const double rate = done(zero, "bench_fireworq", [&] { return drain->running(); });
    drain->finish();
    return rate;
  }

  // Jobs per second that were answered and deleted, from the last poll before the target's first
  // request. The server's counter of deleted rows would be wrong, because the steward also deletes
  // numbers of jobs.
  double done(std::uint64_t zero, const std::string& table, const std::function<bool()>& running) {
    constexpr auto kPollInterval = std::chrono::milliseconds(1);
    const auto wait_until = [&](auto over) {
      const auto deadline = Clock::now() + kJobsPatience;
      while (!over()) {
        const bool goes_on = running();
        if ((!goes_on && !over()) || Clock::now() > deadline) throw Error("jobs are left over");
        std::this_thread::sleep_for(kPollInterval);
      }
    };
    auto began = Clock::now();
    wait_until([&] {
      const auto looked = Clock::now();
      if (target_.answered() > zero) return true;
      began = looked;
      return false;
    });
    wait_until([&] { return target_.answered() - zero >= options_.tasks; });
    wait_until([&] {
      auto rows = db_.execute("SELECT 1 FROM " + table + " LIMIT 1");
      return rows.front().row_count() == 0;
    });
    return static_cast<double>(options_.tasks) / Seconds(Clock::now() - began).count();
  }

  // The same submission as the gateway's, in large batches.
  void submit(std::uint32_t jobs) {
    const auto queue = queue::find_fireworq(db_, "jobs");
    if (!queue) throw Error("the gateway has made no queue");
    queue::Submission task{
        queue->info, std::string(queue::kFireworqJob),
        gateway::fireworq::stored(gateway::fireworq::read_job(post_body(), "bench"))};
    task.options.max_attempts = 1;
    task.options.max_losses = 3;
    std::vector<std::uint64_t> numbers;
    for (std::uint32_t left = jobs; left > 0;) {
      const std::vector<queue::Submission> batch(std::min(left, kSubmitBatch), task);
      (void)queue::submit(db_, batch, queue::number_jobs(numbers));
      left -= static_cast<std::uint32_t>(batch.size());
    }
  }

  [[nodiscard]] std::string origin() const {
    return "http://127.0.0.1:" + std::to_string(target_.port());
  }
  [[nodiscard]] BareJob job() const { return {"bench", origin() + "/", kPayload}; }
  [[nodiscard]] std::string post_body() const {
    return R"({"url":")" + job().url + R"(","payload":)" + kPayload + "}";
  }
  // Request head of a job in the drain.
  [[nodiscard]] std::string request_head() const {
    return "POST / HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(target_.port()) +
           "\r\nUser-Agent: Fireworq/1.5.1\r\nConnection: close\r\n"
           "Content-Type: application/json\r\nContent-Length: " +
           std::to_string(sizeof kPayload - 1) +
           "\r\nX-Allot-Task: 0840dqg2v5n80r00\r\nX-Allot-Attempt: 1\r\n\r\n";
  }

  FireworqOptions options_;
  Seconds length_;
  Target target_{std::chrono::milliseconds(0), kSuccess, true};
  Stage stage_;
  db::Connection db_;
  FireworqFloor floor_;
  std::string daemon_config_{};
  Endpoint endpoint_{free_port(), false};
  std::unique_ptr<Child> gateway_{};
};

}  // namespace

int fireworq(const FireworqOptions& options) {
  Fireworq bench(options);
  std::vector<FireworqRound> rounds;
  nlohmann::json report{{"bench", "fireworq"}, {"version", kVersion}, {"server", bench.server()}};
  for (std::uint32_t i = 0; i < options.rounds; ++i) {
    const FireworqRound& round = rounds.emplace_back(bench.round(i));
    report["rounds"].push_back({{"push", round.push},
                                {"insert", round.insert},
                                {"dispatch", round.dispatch},
                                {"bare", round.bare}});
    if (isatty(STDERR_FILENO) != 0) {
      std::fprintf(stderr,
                   "round %u of %u: %.0f pushed, %.0f inserted, %.0f dispatched, %.0f bare\n",
                   i + 1, options.rounds, round.push, round.insert, round.dispatch, round.bare);
    }
  }
  bool good = judge(rounds, kFireworqLimits, options.json, report);
  if (options.throttled > 0) {
    Started started{};
    for (std::size_t i = 0; i < kRates.size(); ++i) {
      started.at(i) = bench.started(kRates.at(i));
      report["rates"].push_back(
          {{"per_second", kRates.at(i).per_second}, {"started", started.at(i)}});
    }
    good = judge(std::vector<Started>{started}, kRateLimits, options.json, report) && good;
  }
  if (options.json) std::printf("%s\n", report.dump(2).c_str());
  return options.check && !good ? kExitFailure : kExitOk;
}

}  // namespace allot::bench
