// SPDX-License-Identifier: Apache-2.0
//
// A long run of the fault harness: allot-fault MINUTES SEED [MARIADBD-OPTION...]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "fault/campaign.h"

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("allot-fault MINUTES SEED [MARIADBD-OPTION...]\n", stderr);
    return 64;
  }
  try {
    allot::fault::CampaignOptions options;
    options.length = std::chrono::milliseconds(static_cast<long>(std::atof(argv[1]) * 60'000));
    options.seed = std::strtoull(argv[2], nullptr, 10);
    options.server_settings.assign(argv + 3, argv + argc);
    const auto result = allot::fault::run_campaign(options);
    std::fputs(table_of(options, result).c_str(), stdout);
    const bool clean = result.verdict.clean() && result.problem.empty();
    if (!clean) std::fputs(result.log_tail.c_str(), stderr);
    return clean ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "allot-fault: %s\n", error.what());
    return 1;
  }
}
