// SPDX-License-Identifier: Apache-2.0
//
// A long run of the fault harness; scripts/fault calls it.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>

#include "fault/campaign.h"
#include "fault/swarm.h"
#include "fault/table.h"

namespace allot::fault {
namespace {

struct Arguments {
  double minutes = 30;
  bool binlog = false;
  std::vector<unsigned> kinds{};
  CampaignOptions campaign{};
  bool swarm = false;
  std::uint64_t draws = 0;
  std::uint64_t draw = 0;  // runs only this draw
};

std::map<std::string, unsigned> kinds() {
  std::map<std::string, unsigned> all;
  for (unsigned i = 0; i < kCampaignKinds; ++i) all[name_of(static_cast<Kind>(i))] = i;
  return all;
}

// The tests' server never syncs and is small; this one syncs as in careful operation, and has the
// default sizes of memory and log.
std::vector<std::string> server_settings(bool binlog) {
  std::vector<std::string> settings{
      "--innodb-flush-method=fsync", "--innodb-flush-log-at-trx-commit=1", "--innodb-doublewrite=1",
      "--innodb-buffer-pool-size=128M", "--loose-innodb-redo-log-capacity=100M"};
  if (binlog) {
    settings.insert(settings.end(), {"--log-bin", "--sync-binlog=1", "--server-id=1"});
  } else {
    settings.emplace_back("--skip-log-bin");
  }
  return settings;
}

int run(const Arguments& arguments) {
  CampaignOptions options = arguments.campaign;
  options.length = std::chrono::milliseconds(static_cast<long>(arguments.minutes * 60'000));
  options.spare = true;
  if (!arguments.kinds.empty()) options.weights = {};
  for (const unsigned kind : arguments.kinds)
    options.weights.at(kind) = std::max(1U, kAllKinds.at(kind));
  options.server_settings = server_settings(arguments.binlog || options.wake);
  const CampaignResult result = run_campaign(options);
  std::fputs(table_of(options, result).c_str(), stdout);
  return result.clean() ? 0 : 1;
}

int run_many(const Arguments& arguments) {
  SwarmOptions options;
  options.seed = arguments.campaign.seed;
  options.draws = arguments.draws;
  options.length = std::chrono::milliseconds(static_cast<long>(arguments.minutes * 60'000));
  options.evidence = arguments.campaign.evidence;
  options.binlog = arguments.binlog;
  const SwarmResult result = run_swarm(options);
  std::printf("%llu draws, %zu found something\n", static_cast<unsigned long long>(result.draws),
              result.found.size());
  for (const std::uint64_t seed : result.found)
    std::printf("scripts/fault --draw %llu\n", static_cast<unsigned long long>(seed));
  return result.found.empty() ? 0 : 1;
}

int run_one(const Arguments& arguments) {
  const Draw draw = make_draw(arguments.draw);
  std::fputs(text_of(draw).c_str(), stdout);
  const DrawResult result = run_one_draw(draw, arguments.campaign.evidence, arguments.binlog);
  std::fputs(text_of(draw, result).c_str(), stdout);
  return result.clean() ? 0 : 1;
}

}  // namespace
}  // namespace allot::fault

int main(int argc, char** argv) {
  try {
    allot::fault::Arguments arguments;
    auto& campaign = arguments.campaign;
    long pause_ms = campaign.mean_pause.count();
    CLI::App app("Runs Allot under faults and prints what came of it.");
    app.add_option("--minutes", arguments.minutes, "how long")->check(CLI::PositiveNumber);
    app.add_option("--seed", campaign.seed, "which schedule of faults");
    app.add_option("--evidence", campaign.evidence, "where the evidence goes")->required();
    app.add_option("--per-second", campaign.per_second, "tasks of each submitter; 0: no limit");
    app.add_option("--workers", campaign.workers, "of each host");
    app.add_flag("--binlog", arguments.binlog, "with a binary log that is synced at every commit");
    app.add_flag("--wake", campaign.wake, "hosts follow the binary log, which is purged");
    app.add_flag_callback(
        "--tls", [&campaign] { campaign.wire = allot::fault::Wire::kTls; },
        "between the programs and the proxies; a swarm draws it");
    app.add_option("--pause-ms", pause_ms, "between faults, on average");
    app.add_option("--only", arguments.kinds, "no other kinds of faults")
        ->transform(CLI::CheckedTransformer(allot::fault::kinds()));
    app.add_flag("--swarm", arguments.swarm, "many short runs, each with features of its own");
    app.add_option("--draws", arguments.draws, "how many of these, instead of --minutes");
    const auto* draw = app.add_option("--draw", arguments.draw, "one of these again, by its seed");
    CLI11_PARSE(app, argc, argv);
    if (draw->count() != 0) return allot::fault::run_one(arguments);
    if (arguments.swarm || arguments.draws != 0) return allot::fault::run_many(arguments);
    campaign.mean_pause = std::chrono::milliseconds(pause_ms);
    return allot::fault::run(arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "allot-fault: %s\n", error.what());
    return 1;
  }
}
