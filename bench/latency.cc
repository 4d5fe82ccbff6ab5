// SPDX-License-Identifier: Apache-2.0
#include "bench/latency.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "allot/client.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/version.h"
#include "bench/bare_starter.h"
#include "bench/follow.h"
#include "bench/gateway.h"
#include "queue/model/catalog.h"

namespace allot::bench {
namespace {

using std::chrono::milliseconds;

constexpr std::uint32_t kLatencyPartitions = 16;
constexpr timeval kStartWait{30, 0};
constexpr char kStartType[] = "bench.start";

// Receives the start reports of handlers.
class Starts {
 public:
  explicit Starts(const std::string& file) : file_(file) {
    std::filesystem::remove(file);
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    if (file.size() >= sizeof at.sun_path) throw Error(file + " is too long for a socket");
    file.copy(at.sun_path, sizeof at.sun_path - 1);
    if (bind(fd_.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0 ||
        setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &kStartWait, sizeof kStartWait) != 0) {
      throw Error(file + " cannot be made");
    }
  }

  [[nodiscard]] const std::string& file() const { return file_; }

  // Start of the next handler, by the clock of mono_ns().
  [[nodiscard]] Nanos next() const {
    std::int64_t started_ns = 0;
    if (recv(fd_.get(), &started_ns, sizeof started_ns, 0) != sizeof started_ns) {
      throw Error("a task did not start within 30 s");
    }
    return static_cast<Nanos>(started_ns);
  }

 private:
  std::string file_;
  UniqueFd fd_{socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
};

// Latencies in milliseconds.
struct Waited {
  double from_call = 0;
  double from_answer = 0;  // 0: it started before the submitter had its answer
};

double ms_between(Nanos from, Nanos to) {
  return to > from ? static_cast<double>(to - from) / static_cast<double>(kMilli) : 0;
}

// A way to submit, with the moments of the call and of the answer.
struct Submission {
  Nanos called = 0;
  Nanos answered = 0;
};

template <typename Act>
Submission timed(const Act& act) {
  Submission times;
  times.called = mono_ns();
  act();
  times.answered = mono_ns();
  return times;
}

enum Way { kSql, kLibrary, kHttp, kCommandLine, kFloor, kWays };
constexpr std::array<const char*, kWays> kWayNames{"sql", "client", "http", "command", "floor"};

class Submitter {
 public:
  Submitter(const Stage& stage, std::string payload)
      : stage_(stage),
        payload_(std::move(payload)),
        db_(stage.connect_options()),
        client_(settings_of(stage)),
        gateway_(start_gateway(stage, false)),
        floor_(stage.connect_options(),
               queue::ensure_queue(db_, "bench_floor", {kLatencyPartitions}), payload_) {
    db_.execute("CREATE TABLE IF NOT EXISTS bench_order (id INT PRIMARY KEY AUTO_INCREMENT)");
  }

  Submission submit(Way way) {
    switch (way) {
      case kSql:
        return by_sql();
      case kLibrary:
        return timed([&] { (void)client_.submit({"bench", kStartType, payload_}); });
      case kHttp:
        return timed([&] { by_http(); });
      case kFloor:
        return by_floor();
      default:
        return timed([&] {
          stage_.start_allot({"submit", "bench", kStartType, payload_})->finish();
        });
    }
  }

 private:
  static ClientSettings settings_of(const Stage& stage) {
    const config::Database& database = stage.settings().database;
    ClientSettings settings;
    settings.socket = database.socket;
    settings.user = database.user;
    settings.name = database.name;
    settings.runtime_dir = stage.runtime_dir();
    return settings;
  }

  // Like an application: with its own row in the same transaction.
  Submission by_sql() {
    db_.execute("BEGIN; INSERT INTO bench_order VALUES (); CALL allot_submit('bench', '" +
                std::string(kStartType) + "', '" + payload_ + "', NULL, @id, @existed)");
    return timed([&] { db_.execute("COMMIT"); });
  }

  Submission by_floor() {
    const auto times = timed([&] { (void)client_.submit({"bench_floor", kStartType, payload_}); });
    floor_.wake();
    return times;
  }

  void by_http() {
    const nlohmann::json task{{"queue", "bench"}, {"type", kStartType}, {"payload", payload_}};
    const std::string answer = ask(gateway_.endpoint, "POST", "/api/v1/tasks", task.dump());
    if (!answer.starts_with("HTTP/1.1 201")) throw Error("the gateway: " + answer);
  }

  const Stage& stage_;
  std::string payload_;
  db::Connection db_;
  Client client_;
  Gateway gateway_;
  BareStarter floor_;
};

struct Situation {
  bool other_host = false;
  bool by_log = false;
};

struct Measured {
  Way way = kSql;
  Situation situation{};
  std::vector<Waited> samples{};
};

class Latency {
 public:
  explicit Latency(const LatencyOptions& options)
      : options_(options),
        stage_(options.place, load(options)),
        db_(stage_.connect_options()),
        starts_(stage_.folder() + "/starts") {
    (void)queue::ensure_queue(db_, "bench", {kLatencyPartitions});
    submitter_ = std::make_unique<Submitter>(stage_, starts_.file());
    for (const bool other_host : {false, true}) {
      for (const bool by_log : {false, true}) {
        if (!by_log || log_is_on()) add({other_host, by_log});
      }
    }
  }

  void round() {
    for (std::size_t i = 0; i < measured_.size(); i += kWays) measure(i);
  }

  [[nodiscard]] const std::vector<Measured>& measured() const { return measured_; }
  [[nodiscard]] bool log_is_on() {
    auto rows = db_.execute("SELECT @@log_bin");
    return rows.at(0).next()->u64(0) != 0;
  }
  [[nodiscard]] std::string server() {
    auto rows = db_.execute("SELECT VERSION()");
    return std::string(rows.at(0).next()->text(0));
  }

 private:
  static Load load(const LatencyOptions& options) {
    Load load;
    load.workers = options.workers;
    load.partitions = kLatencyPartitions;
    load.binary_log = true;
    return load;
  }

  void add(const Situation& situation) {
    for (int way = 0; way < kWays; ++way) {
      measured_.push_back({static_cast<Way>(way), situation});
    }
  }

  // All ways of one situation, in turns. The first turn pays for one-time costs.
  void measure(std::size_t first) {
    const Situation situation = measured_[first].situation;
    DaemonVariant variant{options_.workers, {}, situation.other_host};
    if (situation.by_log) variant.sections = wake_section(stage_);
    const auto allotd = stage_.start_daemon(variant);
    if (situation.by_log) wait_until_followed(db_, *allotd, stage_.log_file());
    for (std::uint32_t i = 0; i <= options_.tasks; ++i) {
      for (std::size_t way = 0; way < kWays; ++way) {
        std::this_thread::sleep_for(milliseconds(gap_(random_)));
        const Submission times = submitter_->submit(static_cast<Way>(way));
        const Nanos started = starts_.next();
        if (i == 0) continue;
        measured_[first + way].samples.push_back(
            {ms_between(times.called, started), ms_between(times.answered, started)});
      }
    }
    allotd->stop();
  }

  LatencyOptions options_;
  Stage stage_;
  db::Connection db_;
  Starts starts_;
  std::unique_ptr<Submitter> submitter_{};
  std::vector<Measured> measured_{};
  std::mt19937 random_{52};
  std::uniform_int_distribution<std::uint32_t> gap_{options_.gap_ms / 10, options_.gap_ms};
};

// The shortest time that this part of the samples does not exceed.
double within(const std::vector<Waited>& samples, double Waited::*field, double part) {
  std::vector<double> values;
  for (const Waited& sample : samples) values.push_back(sample.*field);
  std::sort(values.begin(), values.end());
  const auto count = std::ceil(part * static_cast<double>(values.size()));
  return values[static_cast<std::size_t>(count) - 1];
}

struct Quantiles {
  double p50 = 0;
  double p90 = 0;
  double p99 = 0;
  double max = 0;
};

Quantiles quantiles_of(const std::vector<Waited>& samples, double Waited::*field) {
  return {within(samples, field, 0.5), within(samples, field, 0.9), within(samples, field, 0.99),
          within(samples, field, 1)};
}

nlohmann::json as_json(const Quantiles& ms) {
  return {{"p50", ms.p50}, {"p90", ms.p90}, {"p99", ms.p99}, {"max", ms.max}};
}

const char* host_name(const Situation& situation) {
  return situation.other_host ? "other" : "same";
}

const char* waking_name(const Situation& situation) {
  return situation.by_log ? "log" : "polling";
}

void print(const Measured& one) {
  const Quantiles answer = quantiles_of(one.samples, &Waited::from_answer);
  const Quantiles call = quantiles_of(one.samples, &Waited::from_call);
  std::printf("%-7s  %-5s  %-7s  %7.1f %7.1f %7.1f %7.1f  %7.1f %7.1f %7.1f %7.1f\n",
              kWayNames.at(one.way), host_name(one.situation), waking_name(one.situation),
              answer.p50, answer.p90, answer.p99, answer.max, call.p50, call.p90, call.p99,
              call.max);
}

nlohmann::json as_json(const Measured& one) {
  return {{"way", kWayNames.at(one.way)},
          {"host", host_name(one.situation)},
          {"waking", waking_name(one.situation)},
          {"tasks", one.samples.size()},
          {"from_answer_ms", as_json(quantiles_of(one.samples, &Waited::from_answer))},
          {"from_call_ms", as_json(quantiles_of(one.samples, &Waited::from_call))}};
}

}  // namespace

int latency(const LatencyOptions& options) {
  Latency bench(options);
  for (std::uint32_t i = 0; i < options.rounds; ++i) {
    bench.round();
    if (isatty(STDERR_FILENO) != 0) {
      std::fprintf(stderr, "round %u of %u\n", i + 1, options.rounds);
    }
  }
  if (options.json) {
    nlohmann::json report{{"bench", "latency"},         {"version", kVersion},
                          {"server", bench.server()},   {"gap_ms", options.gap_ms},
                          {"workers", options.workers}, {"namespaces", geteuid() == 0}};
    for (const Measured& one : bench.measured()) report["latency"].push_back(as_json(one));
    std::printf("%s\n", report.dump(2).c_str());
    return kExitOk;
  }
  std::printf(
      "milliseconds            from the answer: p50, p90, p99, max"
      "  from the call: the same\n");
  for (const Measured& one : bench.measured()) print(one);
  if (!bench.log_is_on()) std::printf("the binary log of this server is off (log_bin)\n");
  return kExitOk;
}

}  // namespace allot::bench
