// SPDX-License-Identifier: Apache-2.0
// allot-bench, behind "allot bench": how fast is it here, compared with what a bare client can do?
#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/error.h"
#include "base/version.h"
#include "bench/drain.h"

namespace allot::bench {
namespace {

int run(int argc, char** argv) {
  CLI::App app{"Benchmarks, each beside its floor in the same run", "allot bench"};
  app.set_version_flag("--version", std::string(kVersionMark));
  app.require_subcommand(1);
  DrainOptions options;
  CLI::App* drain_command = app.add_subcommand(
      "drain", "Drain no-op tasks through the real daemon, and the same rows with bare clients");
  drain_command->add_option("--embedded", options.embedded, "Folder for a private database")
      ->required()
      ->type_name("DIR");
  const auto count = [&](const char* name, std::uint32_t& value, const char* text,
                         std::uint32_t least, std::uint32_t most) {
    drain_command->add_option(name, value, text)
        ->check(CLI::Range(least, most))
        ->capture_default_str();
  };
  count("--tasks", options.load.tasks, "Tasks in each round", 1'000, 100'000'000);
  count("--workers", options.load.workers, "Workers, and connections of the floor", 1, 256);
  count("--block", options.load.block, "Tasks fetched with one statement", 1, 1'000);
  count("--payload", options.load.payload, "Bytes of each payload", 0, 65'536);
  count("--partitions", options.load.partitions, "Partitions; 0: four for each worker", 0, 4'096);
  count("--rounds", options.rounds, "Rounds; the medians count", 1, 1'000);
  drain_command->add_flag("--json", options.json, "As JSON");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    std::fprintf(stderr, "allot bench: %s (see allot bench drain --help)\n", error.what());
    return kExitUsage;
  }
  return drain(options);
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
