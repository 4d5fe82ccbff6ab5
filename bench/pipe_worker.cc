// SPDX-License-Identifier: Apache-2.0
#include "bench/pipe_worker.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/clock.h"
#include "base/error.h"
#include "base/version.h"
#include "bench/limit.h"
#include "bench/ping_pong.h"
#include "bench/processor.h"
#include "bench/rounds.h"
#include "bench/worker_drain.h"
#include "plugin_host/handler_call.h"
#include "plugin_host/registry.h"

namespace allot::bench {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr char kPython[] = "/usr/bin/python3";
constexpr std::uint32_t kWarm = 1'000;     // lines, once
constexpr std::uint32_t kExecShare = 300;  // exec gets one part in 300 of the tasks
// Maximum block of a worker: suited to tasks as short as these.
constexpr std::uint32_t kPipeBlock = 1'000;

struct PipeRound {
  double one = 0;   // the plugin without a daemon, relative to one bare program
  double bare = 0;  // lines per second
  double pipe = 0;  // tasks per second
  double noop = 0;
  double exec = 0;
  // Processor time of one item, in microseconds.
  double line_us = 0;  // bare, with the program's
  DrainCost task_us{};
  DrainCost noop_us{};
};
using PipeLimit = Limit<PipeRound>;

// Lower bound of the time for both in sequence: a task's line and a task.
double in_turn(const PipeRound& round) {
  return 1 / (1 / round.bare + 1 / round.noop);
}

constexpr std::array kPipeLimits{
    PipeLimit{"pipe without a database", "bare ping-pong",
              [](const PipeRound& round) { return round.one; }, 0.7, true},
    PipeLimit{"pipe, no-op Python", "ping-pong + no-op drain",
              [](const PipeRound& round) { return round.pipe / in_turn(round); }, 0.7, true},
    PipeLimit{"pipe, no-op Python", "exec of no-op Python",
              [](const PipeRound& round) { return round.pipe / round.exec; }, 20, true},
    PipeLimit{"pipe, no-op Python", "bare ping-pongs",
              [](const PipeRound& round) { return round.pipe / round.bare; }, 0.7, true, true},
};

// Hooks of a worker that do nothing.
class PipeWorker {
 public:
  explicit PipeWorker(const PipeWorkerOptions& options)
      : options_(options), drain_(options.place, load(options)) {
    const std::string script = drain_.stage().folder() + "/noop.py";
    const std::string path = shared("allot/pipe");
    std::ofstream(script) << "import allot_pipe\nallot_pipe.run(lambda task: None)\n";
    for (std::uint32_t i = 0; i < options.workers; ++i) {
      bare_.push_back(std::make_unique<PingPong>(std::vector<std::string>{kPython, script},
                                                 std::vector<std::string>{"PYTHONPATH=" + path}));
    }
    const std::string sections = std::string("[plugins.pipe.types.\"bench.pipe\"]\ncommand = [\"") +
                                 kPython + "\", " + toml_text(script) +
                                 "]\nenvironment = { PYTHONPATH = " + toml_text(path) +
                                 " }\n[plugins.exec.types.\"bench.exec\"]\ncommand = [\"" +
                                 kPython + "\", \"-c\", \"pass\"]\n";
    const config::Settings settings = drain_.configure(sections);
    handlers_.emplace(
        plugin_host::Registry::load(settings.plugins.folder, settings.plugins.sections));
    {
      const OneProcessor here;  // its program stays there
      call(kWarm);
    }
    (void)bare(kWarm);
  }

  PipeRound round(std::uint32_t number) {
    PipeRound result;
    constexpr int kSteps = 5;
    for_each_step(number, kSteps, [&](int step) { measure(step, result); });
    return result;
  }

  [[nodiscard]] std::string server() { return drain_.server(); }

 private:
  static Load load(const PipeWorkerOptions& options) {
    Load load;
    load.workers = options.workers;
    load.block = kPipeBlock;
    return load;
  }

  void measure(int step, PipeRound& result) {
    switch (step) {
      case 0:
        result.bare = bare(options_.tasks);
        result.line_us = bare_us_;
        break;
      case 1:
        result.pipe = drain_.rate("bench.pipe", options_.tasks);
        result.task_us = drain_.cost();
        break;
      case 2:
        result.one = one();
        break;
      case 3:
        result.noop = drain_.rate("bench.noop", options_.tasks);
        result.noop_us = drain_.cost();
        break;
      default:
        result.exec = drain_.rate("bench.exec", options_.tasks / kExecShare);
    }
  }

  // Short parts in turns, because the load of a busy machine keeps changing. On one processor: the
  // kernel would place each pair on one or on two, which is up to six times as slow.
  double one() {
    const OneProcessor here;
    const OneProcessor there(bare_.front()->pid());
    constexpr std::uint32_t kPart = 500;
    std::vector<double> ratios;
    for (std::uint32_t done = 0; done < options_.tasks; done += kPart) {
      const auto began = Clock::now();
      bare_.front()->play(line(), kPart);
      const auto then = Clock::now();
      call(kPart);
      ratios.push_back(Seconds(then - began) / Seconds(Clock::now() - then));
    }
    return median(std::move(ratios));
  }

  void call(std::uint32_t times) {
    constexpr std::uint64_t kHour = 3'600'000'000'000;
    const plugin_host::LoadedHandler& handler = *handlers_->find("bench.pipe");
    const std::string payload(Load().payload, 'x');
    plugin_host::HostHooks hooks;
    for (std::uint32_t i = 0; i < times; ++i) {
      const auto said = plugin_host::call(
          handler, {"0840dqg2v5n80r00", "bench", "bench.pipe", payload, 1, 10, boot_ns() + kHour},
          hooks);
      if (said.kind != plugin_host::OutcomeKind::kSuccess) throw Error("pipe: " + said.reason);
    }
  }

  double bare(std::uint32_t lines) {
    const std::uint64_t before = bare_ns();
    const double rate = rate_of(bare_, line(), lines / options_.workers);
    bare_us_ = static_cast<double>(bare_ns() - before) / 1e3 / lines;
    return rate;
  }
  [[nodiscard]] std::uint64_t bare_ns() const {
    std::uint64_t all = own_processor_ns();
    for (const auto& one : bare_) all += processor_ns(one->pid());
    return all;
  }

  // Same line as for a task in the drain.
  static std::string line() {
    return R"({"kind":"task","id":"0840dqg2v5n80r00","queue":"bench","type":"bench.pipe",)"
           R"("attempt":1,"max_attempts":10,"time_left_ms":3590000,"traceparent":"",)"
           R"("tracestate":"","payload":")" +
           std::string(Load().payload, 'x') + "\"}\n";
  }

  PipeWorkerOptions options_;
  WorkerDrain drain_;
  std::vector<std::unique_ptr<PingPong>> bare_{};
  double bare_us_ = 0;
  std::optional<plugin_host::Registry> handlers_{};
};

}  // namespace

int pipe_worker(const PipeWorkerOptions& options) {
  PipeWorker bench(options);
  std::vector<PipeRound> rounds;
  nlohmann::json report{
      {"bench", "pipe-worker"}, {"version", kVersion}, {"server", bench.server()}};
  for (std::uint32_t i = 0; i < options.rounds; ++i) {
    const PipeRound& round = rounds.emplace_back(bench.round(i));
    report["rounds"].push_back({{"one", round.one},
                                {"bare", round.bare},
                                {"pipe", round.pipe},
                                {"noop", round.noop},
                                {"exec", round.exec}});
    if (isatty(STDERR_FILENO) != 0) {
      std::fprintf(stderr, "round %u of %u: %.0f bare, %.0f pipe, %.0f no-op, %.0f exec\n", i + 1,
                   options.rounds, round.bare, round.pipe, round.noop, round.exec);
    }
  }
  const auto each = [&](const auto& of) { return median_of(rounds, of); };
  const double bare = each([](const PipeRound& one) { return one.line_us; });
  const double worker = each([](const PipeRound& one) { return one.task_us.workers; });
  const double program = each([](const PipeRound& one) { return one.task_us.programs; });
  const double server = each([](const PipeRound& one) { return one.task_us.server; });
  const double noop =
      each([](const PipeRound& one) { return one.noop_us.workers + one.noop_us.server; });
  report["processor_us"] = {
      {"line", bare}, {"worker", worker}, {"program", program}, {"server", server}, {"noop", noop}};
  const bool good = judge(rounds, kPipeLimits, options.json, report);
  if (options.json) {
    std::printf("%s\n", report.dump(2).c_str());
  } else {
    std::printf(
        "processor time: a bare line %.1f us; a task %.1f us, of which worker %.1f, program %.1f, "
        "server %.1f; a no-op task %.1f us\n",
        bare, worker + program + server, worker, program, server, noop);
  }
  return options.check && !good ? kExitFailure : kExitOk;
}

}  // namespace allot::bench
