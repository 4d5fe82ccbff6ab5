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
struct Limit {
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

// Adds each limit to the report, or prints it. True if all of them hold.
template <typename Round, std::size_t N>
bool judge(const std::vector<Round>& rounds, const std::array<Limit<Round>, N>& limits,
           bool as_json, nlohmann::json& report) {
  bool good = true;
  for (const Limit<Round>& limit : limits) {
    const double value = median_of(rounds, limit.of);
    const bool holds = limit.at_least ? value >= limit.bound : value <= limit.bound;
    const char* const bound = limit.wanted ? "wanted" : limit.at_least ? "at least" : "at most";
    good = good && (holds || limit.wanted);
    if (!as_json) {
      std::printf("%-30s / %-25s %6.2f  (%s %g) %s\n", limit.what, limit.against, value, bound,
                  limit.bound, holds ? "ok" : "MISSED");
    }
    report["ratios"].push_back({{"what", limit.what},
                                {"against", limit.against},
                                {"value", value},
                                {limit.at_least ? "at_least" : "at_most", limit.bound},
                                {"checked", !limit.wanted},
                                {"holds", holds}});
  }
  return good;
}

}  // namespace allot::bench
