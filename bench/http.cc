// SPDX-License-Identifier: Apache-2.0
#include "bench/http.h"

#include <arpa/inet.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "allot/client.h"
#include "base/error.h"
#include "base/version.h"
#include "bench/gateway.h"
#include "bench/http_load.h"
#include "bench/limit.h"
#include "bench/rounds.h"
#include "queue/model/catalog.h"

namespace allot::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMany = 64;
constexpr std::uint32_t kPartitions = 8;

enum Side { kClient, kOne, kClients, kKept, kTls, kFresh, kCommand, kUpload, kSides };
using Sides = std::array<Figures, kSides>;

struct Crowded {
  double alone_p99_ms = 0;
  double p99_ms = 0;
  double rss_mib = 0;
};

struct HttpRound {
  Sides sides{};
  Crowded crowded{};
};

using HttpLimit = Limit<HttpRound>;

double rate(const HttpRound& round, Side side, Side floor) {
  return round.sides[side].per_s / round.sides[floor].per_s;
}

constexpr std::array kLimits{
    HttpLimit{"submit, 1 connection", "Client::submit, 1 thread",
              [](const HttpRound& round) { return rate(round, kOne, kClient); }, 0.7, true},
    HttpLimit{"submit, 64 connections", "64 client threads",
              [](const HttpRound& round) { return rate(round, kKept, kClients); }, 1.5, true},
    HttpLimit{"  its p99", "their p99",
              [](const HttpRound& round) {
                return round.sides[kKept].p99_ms / round.sides[kClients].p99_ms;
              },
              1, false},
    HttpLimit{"submit, 64 TLS connections", "64 plain ones",
              [](const HttpRound& round) { return rate(round, kTls, kKept); }, 0.8, true},
    HttpLimit{"submit, each with a connection", "64 kept ones",
              [](const HttpRound& round) { return rate(round, kFresh, kKept); }, 0.5, true},
    HttpLimit{"NDJSON", "allot submit --ndjson",
              [](const HttpRound& round) { return rate(round, kUpload, kCommand); }, 0.8, true},
    HttpLimit{
        "p99 in a crowd", "p99 without",
        [](const HttpRound& round) { return round.crowded.p99_ms / round.crowded.alone_p99_ms; }, 2,
        false},
    HttpLimit{"memory in a crowd, MiB", "",
              [](const HttpRound& round) { return round.crowded.rss_mib; }, 100, false},
};

void allow_many_descriptors() {
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
}

double resident_mib(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string word; status >> word;) {
    double kib = 0;
    if (word == "VmRSS:" && status >> kib) return kib / 1024;
  }
  throw Error("the gateway's memory cannot be read");
}

// Submits with its own client until `end`, at least once.
void submit_until(Clock::time_point end, Client& client, std::vector<std::uint32_t>& took_us) {
  const NewTask task{"bench", "bench.noop", "0123456789"};
  auto now = Clock::now();
  do {
    (void)client.submit(task);
    const auto then = Clock::now();
    took_us.push_back(static_cast<std::uint32_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(then - now).count()));
    now = then;
  } while (now < end);
}

// One client per thread: each keeps its connection to the database.
class ClientLoad {
 public:
  ClientLoad(const ClientSettings& settings, std::size_t threads) {
    for (std::size_t i = 0; i < threads; ++i) clients_.emplace_back(settings);
  }

  Figures run(Seconds length) {
    const auto begin = Clock::now();
    const auto end = begin + std::chrono::duration_cast<Clock::duration>(length);
    std::vector<std::vector<std::uint32_t>> took(clients_.size());
    std::vector<std::exception_ptr> failures(clients_.size());
    {
      std::vector<std::jthread> threads;
      for (std::size_t i = 0; i < clients_.size(); ++i) {
        threads.emplace_back([&, i] {
          try {
            submit_until(end, clients_[i], took[i]);
          } catch (...) {
            failures[i] = std::current_exception();
          }
        });
      }
    }
    const Seconds elapsed = Clock::now() - begin;
    for (const auto& failure : failures) {
      if (failure) std::rethrow_exception(failure);
    }
    std::vector<std::uint32_t> all;
    for (const auto& each : took) all.insert(all.end(), each.begin(), each.end());
    return figures_of(all, elapsed);
  }

 private:
  std::vector<Client> clients_;
};

class Http {
 public:
  explicit Http(const HttpOptions& options)
      : options_(options),
        length_(options.milliseconds / 1000.0),
        stage_(options.place, load()),
        db_(stage_.connect_options()) {
    allow_many_descriptors();
    db_.execute("SET GLOBAL max_connections = 500");
    (void)queue::ensure_queue(db_, "bench", {kPartitions});
    std::string line = R"({"queue":"bench","type":"bench.noop","payload":"0123456789"})";
    line += '\n';
    for (std::uint32_t i = 0; i < options.lines; ++i) lines_ += line;
    std::ofstream(lines_file()) << lines_;
    plain_ = start_gateway(stage_, false);
    tls_ = start_gateway(stage_, true);
  }

  HttpRound round(std::uint32_t number) {
    HttpRound result;
    for_each_step(number, kSides, [&](int step) {
      db_.execute("TRUNCATE task");
      result.sides[static_cast<std::size_t>(step)] = measured(static_cast<Side>(step));
    });
    db_.execute("TRUNCATE task");
    result.crowded = crowded();
    return result;
  }

  [[nodiscard]] std::string server() {
    auto rows = db_.execute("SELECT VERSION()");
    return std::string(rows.at(0).next()->text(0));
  }

 private:
  static Load load() {
    Load load;
    load.partitions = kPartitions;
    return load;
  }

  [[nodiscard]] std::string lines_file() const { return stage_.folder() + "/tasks.ndjson"; }

  [[nodiscard]] ClientSettings client_settings() const {
    const config::Database& database = stage_.settings().database;
    ClientSettings settings;
    settings.socket = database.socket;
    settings.user = database.user;
    settings.name = database.name;
    settings.runtime_dir = stage_.runtime_dir();
    return settings;
  }

  Figures measured(Side side) {
    switch (side) {
      case kClient:
        return ClientLoad(client_settings(), 1).run(length_);
      case kOne:
        return HttpLoad(plain_.endpoint, 1, true).run(length_);
      case kClients:
        return ClientLoad(client_settings(), kMany).run(length_);
      case kKept:
        return HttpLoad(plain_.endpoint, kMany, true).run(length_);
      case kTls:
        return HttpLoad(tls_.endpoint, kMany, true).run(length_);
      case kFresh:
        return HttpLoad(plain_.endpoint, kMany, false).run(length_);
      case kCommand:
        return {options_.lines / command().count(), 0};
      default:
        return {options_.lines / upload(plain_.endpoint, lines_).count(), 0};
    }
  }

  [[nodiscard]] Seconds command() const {
    const auto begin = Clock::now();
    stage_.start_allot({"submit", "--ndjson", lines_file()})->finish();
    return Clock::now() - begin;
  }

  Crowded crowded() {
    Crowded figures;
    figures.alone_p99_ms = HttpLoad(plain_.endpoint, kMany, true).run(length_).p99_ms;
    const Crowd crowd(plain_.endpoint, options_.idle, options_.dripping);
    figures.p99_ms = HttpLoad(plain_.endpoint, kMany, true).run(length_).p99_ms;
    figures.rss_mib = resident_mib(plain_.process->pid());
    if (crowd.open() < options_.idle) throw Error("the gateway has closed idle connections");
    return figures;
  }

  HttpOptions options_;
  Seconds length_;
  Stage stage_;
  db::Connection db_;
  std::string lines_{};
  Gateway plain_{};
  Gateway tls_{};
};

constexpr std::array<const char*, kSides> kSideNames{"client_1",     "http_1",     "clients_64",
                                                     "http_64",      "tls_64",     "fresh_64",
                                                     "allot_ndjson", "http_ndjson"};

nlohmann::json side_json(const std::vector<HttpRound>& rounds, std::size_t side) {
  return {{"name", kSideNames[side]},
          {"per_s", median_of(rounds, [&](const HttpRound& r) { return r.sides[side].per_s; })},
          {"p99_ms", median_of(rounds, [&](const HttpRound& r) { return r.sides[side].p99_ms; })}};
}

}  // namespace

int http(const HttpOptions& options) {
  Http bench(options);
  std::vector<HttpRound> rounds;
  for (std::uint32_t i = 0; i < options.rounds; ++i) {
    rounds.push_back(bench.round(i));
    if (isatty(STDERR_FILENO) != 0) {
      std::fprintf(stderr, "round %u of %u\n", i + 1, options.rounds);
    }
  }
  nlohmann::json report{{"bench", "http"}, {"version", kVersion}, {"server", bench.server()}};
  for (std::size_t i = 0; i < kSides; ++i) report["sides"].push_back(side_json(rounds, i));
  const bool good = judge(rounds, kLimits, options.json, report);
  if (options.json) std::printf("%s\n", report.dump(2).c_str());
  return options.check && !good ? kExitFailure : kExitOk;
}

}  // namespace allot::bench
