// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "fault/checker.h"
#include "fault/schedule.h"

namespace allot::fault {

struct CampaignOptions {
  std::uint64_t seed = 1;
  std::chrono::milliseconds length{10'000};        // faults and submissions
  std::chrono::milliseconds mean_pause{450};       // between faults
  std::chrono::milliseconds drain_limit{120'000};  // then all must be done
  Weights weights{};
  unsigned workers = 4;
  unsigned submitters = 2;
  std::uint64_t per_second = 0;                // tasks of each submitter; 0: as fast as it goes
  std::vector<std::string> server_settings{};  // options of mariadbd
};

struct CampaignResult {
  Verdict verdict;
  std::map<std::string, std::uint64_t> faults;  // by kind, those that were really done
  std::string problem;                          // why the evidence is not complete; empty: it is
  double seconds = 0;
  std::string log_tail;  // of the daemon, when something is wrong
};

// Real programs, a private MariaDB, submitters, and the schedule of faults of the seed. Call it on
// the main thread: the servers end with the thread that started them.
CampaignResult run_campaign(const CampaignOptions& options);

// The table for people.
std::string table_of(const CampaignOptions& options, const CampaignResult& result);

}  // namespace allot::fault
