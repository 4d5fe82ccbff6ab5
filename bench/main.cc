// SPDX-License-Identifier: Apache-2.0
// allot-bench, behind "allot bench": speed of Allot on this machine, compared with a bare client.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <functional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/version.h"
#include "bench/counts.h"
#include "bench/drain.h"
#include "bench/fence.h"
#include "bench/fireworq.h"
#include "bench/http.h"
#include "bench/http_worker.h"
#include "bench/idle.h"
#include "bench/latency.h"
#include "bench/pipe_worker.h"
#include "bench/wake.h"

namespace allot::bench {
namespace {

constexpr char kCheck[] = "Fail if a ratio misses its floor";

void add_count(CLI::App* command, const char* name, std::uint32_t& value, const char* text,
               std::uint32_t least, std::uint32_t most) {
  command->add_option(name, value, text)->check(CLI::Range(least, most))->capture_default_str();
}

template <typename Options>
CLI::App* add_bench(CLI::App& app, const char* name, const char* text, Options& options) {
  CLI::App* command = app.add_subcommand(name, text);
  CLI::Option* embedded =
      command->add_option("--embedded", options.place.embedded, "Folder for a private MariaDB")
          ->type_name("DIR");
  command
      ->add_option(
          "--socket", options.place.socket,
          "Socket of a running server whose root needs no password; a new database is used")
      ->type_name("FILE")
      ->excludes(embedded);
  command->parse_complete_callback([&place = options.place] {
    if (place.embedded.empty() && place.socket.empty())
      throw CLI::RequiredError("--embedded or --socket");
  });
  add_count(command, "--rounds", options.rounds, "Number of rounds; results are medians", 1, 1'000);
  command->add_flag("--json", options.json, "As JSON");
  return command;
}

void add_load(CLI::App* command, Load& load, const char* workers) {
  add_count(command, "--tasks", load.tasks, "Tasks in each round", 1'000, 100'000'000);
  add_count(command, "--workers", load.workers, workers, 1, 256);
  add_count(command, "--block", load.block, "Tasks fetched with one statement", 1, 1'000);
  add_count(command, "--payload", load.payload, "Bytes of each payload", 0, 65'536);
  add_count(command, "--partitions", load.partitions, "Partitions; 0: four for each worker", 0,
            4'096);
}

CLI::App* add_drain(CLI::App& app, DrainOptions& options) {
  CLI::App* command = add_bench(
      app, "drain",
      "Drain no-op tasks through the real daemon, and the same rows with bare clients", options);
  add_load(command, options.load, "Workers, and connections of the floor");
  return command;
}

CLI::App* add_counts(CLI::App& app, CountsOptions& options) {
  CLI::App* command = add_bench(
      app, "counts", "Drain no-op tasks through workers with and without counters", options);
  add_load(command, options.load, "Workers");
  return command;
}

CLI::App* add_fence(CLI::App& app, FenceOptions& options) {
  CLI::App* command =
      add_bench(app, "fence", "Time the fenced writes, with and without their fence", options);
  add_count(command, "--tasks", options.tasks,
            "Tasks for each verb and round, with and without the fence", 10, 100'000);
  return command;
}

CLI::App* add_http(CLI::App& app, HttpOptions& options) {
  CLI::App* command = add_bench(
      app, "http", "Submit through the gateway, the client library and the command line", options);
  add_count(command, "--milliseconds", options.milliseconds, "Milliseconds of each side and round",
            10, 60'000);
  add_count(command, "--lines", options.lines, "Tasks in each NDJSON file", 1'000, 1'000'000);
  add_count(command, "--idle", options.idle, "Connections that send no request", 0, 5'000);
  add_count(command, "--dripping", options.dripping, "Connections that send requests all the time",
            0, 900);
  command->add_flag("--check", options.check, kCheck);
  return command;
}

CLI::App* add_pipe_worker(CLI::App& app, PipeWorkerOptions& options) {
  CLI::App* command = add_bench(
      app, "pipe-worker",
      "Drain no-op tasks of a Python program with pipe and exec, and send it bare lines", options);
  add_count(command, "--tasks", options.tasks, "Tasks in each round", 1'000, 100'000'000);
  add_count(command, "--workers", options.workers, "Workers, and bare programs", 1, 256);
  command->add_flag("--check", options.check, kCheck);
  return command;
}

CLI::App* add_http_worker(CLI::App& app, HttpWorkerOptions& options) {
  CLI::App* command = add_bench(
      app, "http-worker",
      "Drain tasks to HTTP targets, and send the same requests over bare connections", options);
  add_count(command, "--tasks", options.tasks, "Tasks in each round", 1'000, 100'000'000);
  add_count(command, "--milliseconds", options.milliseconds,
            "Milliseconds of each bare side and round", 10, 60'000);
  command->add_flag("--check", options.check, kCheck);
  return command;
}

CLI::App* add_idle(CLI::App& app, IdleOptions& options) {
  CLI::App* command = add_bench(
      app, "idle", "Statements and processor time of daemons with nothing to do", options);
  command->add_option("--workers", options.workers, "Numbers of workers")
      ->delimiter(',')
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  add_count(command, "--seconds", options.seconds, "Seconds of each measurement", 1, 3'600);
  return command;
}

CLI::App* add_latency(CLI::App& app, LatencyOptions& options) {
  CLI::App* command = add_bench(
      app, "latency",
      "Time from a submission to the start of its handler, with the binary log and without",
      options);
  add_count(command, "--tasks", options.tasks, "Tasks of each figure and round", 1, 100'000);
  add_count(command, "--gap", options.gap_ms,
            "Maximum number of milliseconds between two submissions", 10, 600'000);
  add_count(command, "--workers", options.workers, "Workers", 1, 256);
  return command;
}

CLI::App* add_wake(CLI::App& app, WakeOptions& options) {
  CLI::App* command = add_bench(app, "wake",
                                "Cost of following the binary log: a drain with and without it, "
                                "and processor time while other tables are written",
                                options);
  add_load(command, options.load, "Workers");
  add_count(command, "--seconds", options.seconds,
            "Seconds of each measurement while other tables are written", 1, 3'600);
  add_count(command, "--mb", options.mb_per_second, "Megabytes written per second", 1, 1'000);
  command->add_flag("--check", options.check, kCheck);
  return command;
}

CLI::App* add_fireworq(CLI::App& app, FireworqOptions& options) {
  CLI::App* command = add_bench(
      app, "fireworq",
      "Push and dispatch jobs by Fireworq's API, and send Fireworq's own statements", options);
  add_count(command, "--tasks", options.tasks, "Jobs dispatched in each round", 1'000, 100'000'000);
  add_count(command, "--milliseconds", options.milliseconds,
            "Milliseconds of each pushing side and round", 10, 60'000);
  add_count(command, "--throttled", options.throttled,
            "Seconds in which starts at each rate are counted, once; 0: not counted", 0, 3'600);
  command->add_flag("--check", options.check, kCheck);
  return command;
}

int run(int argc, char** argv) {
  CLI::App app{"Benchmarks, each with its floor in the same run", "allot bench"};
  app.set_version_flag("--version", std::string(kVersionMark));
  app.require_subcommand(1);
  DrainOptions drain_options;
  CountsOptions counts_options;
  FenceOptions fence_options;
  FireworqOptions fireworq_options;
  HttpOptions http_options;
  PipeWorkerOptions pipe_options;
  HttpWorkerOptions http_worker_options;
  IdleOptions idle_options;
  LatencyOptions latency_options;
  WakeOptions wake_options;
  std::vector<std::pair<const CLI::App*, std::function<int()>>> all{
      {add_drain(app, drain_options), [&] { return drain(drain_options); }},
      {add_counts(app, counts_options), [&] { return counts(counts_options); }},
      {add_fence(app, fence_options), [&] { return fence(fence_options); }},
      {add_fireworq(app, fireworq_options), [&] { return fireworq(fireworq_options); }},
      {add_http(app, http_options), [&] { return http(http_options); }},
      {add_pipe_worker(app, pipe_options), [&] { return pipe_worker(pipe_options); }},
      {add_http_worker(app, http_worker_options), [&] { return http_worker(http_worker_options); }},
      {add_idle(app, idle_options), [&] { return idle(idle_options); }},
      {add_latency(app, latency_options), [&] { return latency(latency_options); }},
      {add_wake(app, wake_options), [&] { return wake(wake_options); }}};
  const auto chosen = [&all] {
    return std::find_if(all.begin(), all.end(), [](auto& one) { return one.first->parsed(); });
  };
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    const std::string about = chosen() == all.end() ? "" : chosen()->first->get_name() + " ";
    std::fprintf(stderr, "allot bench: %s (see allot bench %s--help)\n", error.what(),
                 about.c_str());
    return kExitUsage;
  }
  return chosen()->second();
}

}  // namespace
}  // namespace allot::bench

int main(int argc, char** argv) {
  try {
    return allot::bench::run(argc, argv);
  } catch (const allot::Error& error) {
    std::fprintf(stderr, "allot bench: %s\n", error.what());
    return error.exit_code();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "allot bench: %s\n", error.what());
    return allot::kExitFailure;
  }
}
