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
  std::vector<std::string> broken;  // promises beside those of the verdict
  std::vector<std::string> stories;
  std::string problem;  // why not all was carried out; empty: it was
  std::map<std::string, std::uint64_t> faults;
  std::map<std::string, std::uint64_t> actions;
  std::vector<std::string> left_out;  // faults of the draw that are not possible here
  double seconds = 0;

  [[nodiscard]] bool clean() const { return verdict.clean() && broken.empty() && problem.empty(); }
};

// Carries one draw out on a server that runs, in a schema of its own. On the main thread. `clock`
// is the server's; none: a draw's steps of it are left out.
DrawResult run_draw(const Draw& draw, support::Database& server, const std::string& evidence,
                    support::SteppedClock* clock = nullptr);
// The same on a server of its own, as the draw wants it.
DrawResult run_one_draw(const Draw& draw, const std::string& evidence, bool binlog = false);
// A line for a draw that was clean; else all that is known, with the command that repeats it.
std::string text_of(const Draw& draw, const DrawResult& result);

// The seed of the draw with this number, from 0.
std::uint64_t seed_of_draw(std::uint64_t swarm, std::uint64_t number);

struct SwarmOptions {
  std::uint64_t seed = 1;
  std::uint64_t draws = 0;  // 0: by `length`
  std::chrono::milliseconds length{0};
  std::string evidence;  // a folder; those of draws that found something stay
  bool binlog = false;   // in all draws
};
struct SwarmResult {
  std::uint64_t draws = 0;
  std::vector<std::uint64_t> found;  // seeds of draws that were not clean
};
SwarmResult run_swarm(const SwarmOptions& options);

}  // namespace allot::fault
