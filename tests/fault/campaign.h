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

// Minimum number of acknowledged tasks; with fewer a campaign proves nothing.
constexpr std::uint64_t least_acknowledged(Work work) {
  return work == Work::kMixed ? 500 : 20;
}

struct CampaignOptions {
  std::uint64_t seed = 1;
  // Duration of faults and submissions. If least_acknowledged() is not reached, they continue with
  // the schedules of the following seeds, for at most two minutes.
  std::chrono::milliseconds length{10'000};
  std::chrono::milliseconds mean_pause{450};       // between faults
  std::chrono::milliseconds drain_limit{120'000};  // then all tasks must be done
  Weights weights = kAllKinds;
  unsigned hosts = 2;
  unsigned workers = 4;  // per host, one of them in a separate pool
  unsigned submitters = 2;
  std::uint64_t per_second = 400;  // tasks per submitter; 0: as fast as possible
  unsigned max_attempts = 10;
  Work work = Work::kMixed;
  bool spare = false;                          // one process runs long enough to be measured
  std::vector<std::string> server_settings{};  // options of the server
  std::string evidence{};                      // a folder that is kept; empty: none
  std::chrono::milliseconds other_ttl{2'000};  // see ClusterOptions; at most 2 s
  Wire wire = Wire::kPlain;                    // see ClusterOptions
  bool wake = false;  // the hosts follow the binary log, which is purged every second
};

struct CampaignResult {
  Verdict verdict;
  std::map<std::string, std::uint64_t> faults;  // number of executed faults by kind
  std::uint64_t kills = 0;                      // kill -9 of one process
  std::size_t followed = 0;                     // starts to follow the binary log, over all hosts
  Meter::Counted counted;                       // by the server, while no fault held locks
  std::uint64_t undisturbed_runs = 0;           // started in the same time
  Meter::Counted provoked;                      // while a fault held locks
  Meter::Memory supervisor;
  Meter::Memory worker;
  std::vector<std::string> stories;  // about tasks that ran unexpectedly
  std::string problem;               // reason why the evidence is incomplete; empty: it is complete
  double seconds = 0;
  std::string server;  // version, and whether it wrote a binary log

  // True if every promise was kept, and the evidence is complete.
  [[nodiscard]] bool clean() const { return verdict.clean() && problem.empty(); }
  [[nodiscard]] std::uint64_t done(const std::string& kind) const;
};

// Runs real programs, a private database server, submitters, and the fault schedule of the seed.
// Call it on the main thread: the servers end with the thread that started them.
CampaignResult run_campaign(const CampaignOptions& options);

}  // namespace allot::fault
