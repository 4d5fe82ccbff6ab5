// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <vector>

#include "bench/median.h"

namespace allot::bench {

// A figure of a round, and the limit for the median of the rounds.
template <typename Round>
struct Claim {
  const char* what = nullptr;
  const char* against = nullptr;
  double (*of)(const Round& round) = nullptr;
  double bound = 0;
  bool at_least = true;  // false: at most
  bool wanted = false;   // only reported: it depends on the database's part of the processors
};

template <typename Round, typename Of>
double median_of(const std::vector<Round>& rounds, const Of& of) {
  std::vector<double> values;
  std::transform(rounds.begin(), rounds.end(), std::back_inserter(values), of);
  return median(std::move(values));
}

// Adds each claim to the report, or prints it. True if all of them hold.
template <typename Round, std::size_t N>
bool judge(const std::vector<Round>& rounds, const std::array<Claim<Round>, N>& claims,
           bool as_json, nlohmann::json& report) {
  bool good = true;
  for (const Claim<Round>& claim : claims) {
    const double value = median_of(rounds, claim.of);
    const bool holds = claim.at_least ? value >= claim.bound : value <= claim.bound;
    const char* const bound = claim.wanted ? "wanted" : claim.at_least ? "at least" : "at most";
    good = good && (holds || claim.wanted);
    if (!as_json) {
      std::printf("%-30s / %-25s %6.2f  (%s %g) %s\n", claim.what, claim.against, value, bound,
                  claim.bound, holds ? "ok" : "MISSED");
    }
    report["ratios"].push_back({{"what", claim.what},
                                {"against", claim.against},
                                {"value", value},
                                {claim.at_least ? "at_least" : "at_most", claim.bound},
                                {"checked", !claim.wanted},
                                {"holds", holds}});
  }
  return good;
}

}  // namespace allot::bench
