// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "fault/checker.h"
#include "fault/meter.h"
#include "fault/schedule.h"
#include "fault/submitter.h"

namespace allot::fault {

// As long as fewer tasks are acknowledged, a campaign proves nothing.
constexpr std::uint64_t least_acknowledged(Work work) {
  return work == Work::kMixed ? 500 : 20;
}

struct CampaignOptions {
  std::uint64_t seed = 1;
  // Of faults and submissions. They go on, with the schedules of the seeds that follow, until
  // least_acknowledged() is reached, but for no more than two minutes.
  std::chrono::milliseconds length{10'000};
  std::chrono::milliseconds mean_pause{450};       // between faults
  std::chrono::milliseconds drain_limit{120'000};  // then all must be done
  Weights weights = kAllKinds;
  unsigned hosts = 2;
  unsigned workers = 4;  // of each host, one of them in a pool of its own
  unsigned submitters = 2;
  std::uint64_t per_second = 400;  // tasks of each submitter; 0: as fast as it goes
  unsigned max_attempts = 10;
  Work work = Work::kMixed;
  bool spare = false;                          // something lives long enough to be measured
  std::vector<std::string> server_settings{};  // options of the server
  std::string evidence{};                      // a folder that stays; empty: none does
  std::chrono::milliseconds other_ttl{2'000};  // see ClusterOptions; at most 2 s
  Wire wire = Wire::kPlain;                    // see ClusterOptions
  bool wake = false;  // the hosts follow the binary log, of which each second only the end is left
};

struct CampaignResult {
  Verdict verdict;
  std::map<std::string, std::uint64_t> faults;  // by kind, those that were really done
  std::uint64_t kills = 0;                      // kill -9 of one process
  std::size_t followed = 0;                     // how often a host began to follow the binary log
  Meter::Counted counted;                       // by the server, no fault holding locks
  std::uint64_t undisturbed_runs = 0;           // that started meanwhile
  Meter::Counted provoked;                      // while one did
  Meter::Memory supervisor;
  Meter::Memory worker;
  std::vector<std::string> stories;  // of tasks that ran as they should not have
  std::string problem;               // why the evidence is incomplete; empty: it is complete
  double seconds = 0;
  std::string server;  // its version, and whether it wrote a binary log

  // True when every promise was kept, and the evidence is complete.
  [[nodiscard]] bool clean() const { return verdict.clean() && problem.empty(); }
  [[nodiscard]] std::uint64_t done(const std::string& kind) const;
};

// Real programs, a private database server, submitters, and the schedule of faults of the seed.
// Call it on the main thread: the servers end with the thread that started them.
CampaignResult run_campaign(const CampaignOptions& options);

}  // namespace allot::fault
