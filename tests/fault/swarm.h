// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "fault/checker.h"
#include "fault/draw.h"
#include "support/database.h"
#include "support/stepped_clock.h"

namespace allot::fault {

struct DrawResult {
  Verdict verdict;
  std::vector<std::string> broken;  // broken promises in addition to the verdict
  std::vector<std::string> stories;
  std::string problem;  // reason why the draw is incomplete; empty: it is complete
  std::map<std::string, std::uint64_t> faults;
  std::map<std::string, std::uint64_t> actions;
  std::vector<std::string> omitted;  // faults of the draw that are impossible here
  double seconds = 0;

  [[nodiscard]] bool clean() const { return verdict.clean() && broken.empty() && problem.empty(); }
};

// Runs one draw on a running server, in a separate schema. Use it on the main thread. `clock` is
// the server's clock; nullptr: the draw's clock steps are omitted.
DrawResult run_draw(const Draw& draw, support::Database& server, const std::string& evidence,
                    support::SteppedClock* clock = nullptr);
// The same on a private server as required by the draw.
DrawResult run_one_draw(const Draw& draw, const std::string& evidence, bool binlog = false);
// One line for a clean draw; otherwise all information, with the command that repeats it.
std::string text_of(const Draw& draw, const DrawResult& result);

// Seed of draw `number`, counted from 0.
std::uint64_t seed_of_draw(std::uint64_t swarm, std::uint64_t number);

struct SwarmOptions {
  std::uint64_t seed = 1;
  std::uint64_t draws = 0;  // 0: by `length`
  std::chrono::milliseconds length{0};
  std::string evidence;  // a folder; the folders of draws with findings are kept
  bool binlog = false;   // in all draws
};
struct SwarmResult {
  std::uint64_t draws = 0;
  std::vector<std::uint64_t> found;  // seeds of draws with findings
};
SwarmResult run_swarm(const SwarmOptions& options);

}  // namespace allot::fault
